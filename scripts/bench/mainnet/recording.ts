/** Slots of the simulated market, recorded as messages of the Geyser interface that need few changes to be sent again. */
import { type Address, type Mint, USDC } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { CLOCK_SYSVAR } from "../../../src/simulator/chain/addresses.ts"
import { type Bank, type Block, makeBank } from "../../../src/simulator/chain/Bank.ts"
import { coins } from "../../../src/simulator/pools/catalog.ts"
import type { Transaction } from "../../../src/simulator/chain/Ledger.ts"
import { geyserTransaction } from "../../../src/simulator/node/geyserTransaction.ts"
import { type Market, makeMarket } from "../../../src/simulator/traders/Market.ts"
import { subscribeMethod } from "../../../src/chain/geyser/geyserService.ts"
import type { GeyserUpdate } from "../../../src/chain/geyser/geyserUpdates.ts"
import { logsOf } from "../../../src/simulator/chain/transactionJson.ts"
import { accountUpdate } from "../../../src/simulator/node/geyserSlots.ts"
import { broadMarket } from "./coins.ts"
import { frameOf, TRANSACTION_FILTER } from "./frames.ts"
import { type Changes, Renaming } from "./renaming.ts"

/** The first slot. A number from here on has five bytes as a varint, until 34 thousand millions. */
export const FIRST_SLOT = 300_000_000

/** Size of a recording. */
export interface RecordingOptions {
  readonly slots: number
  readonly swapsPerSecond: number
  /** Coins beside the catalog's, and pools of each. */
  readonly coins: number
  readonly poolsPerCoin: number
}

/** The write of an account, without the names of filters; its slot is the last five bytes. */
export interface RecordedWrite {
  readonly account: OnChainAccount
  readonly body: Buffer
}

/** A slot without its place in the chain. */
export interface RecordedSlot {
  /** The messages of its transactions, one after the other, ready to be sent. */
  readonly frames: Buffer
  /** Beginning and end of each message in `frames`, and its changes. */
  readonly messages: ReadonlyArray<{ readonly start: number; readonly end: number; readonly changes: Changes }>
  readonly writes: ReadonlyArray<RecordedWrite>
  readonly swaps: number
}

/** Consecutive slots, and the market they belong to. */
export interface Recording {
  readonly bank: Bank
  readonly market: Market
  readonly slots: ReadonlyArray<RecordedSlot>
  /** The accounts that the slots write, as they were before the first one. */
  readonly before: ReadonlyArray<RecordedWrite>
  readonly renaming: Renaming
  /** Groups of addresses: coins have the numbers below the first wallet's. */
  readonly coinGroups: number
  /** Tokens that keep their address, in every slot; the others have it in their variant 0. */
  readonly steady: ReadonlyArray<Mint>
  /** The tokens of variant 0 whose accounts are written. */
  readonly mints: ReadonlyArray<Mint>
}

/** Encodes an update of a stream. */
export const encodeUpdate = (update: GeyserUpdate): Buffer => subscribeMethod.responseSerialize(update)

/** Encodes the write of an account in a slot of five bytes. Its data is kept once, in the message. */
export const recordWrite = (account: OnChainAccount, version: number): RecordedWrite => {
  const body = encodeUpdate(accountUpdate([], FIRST_SLOT, account, version))
  const at = account.data.length === 0 ? 0 : body.indexOf(account.data)
  return { account: { ...account, data: body.subarray(at, at + account.data.length) }, body }
}

const messageOf = (slot: number, transaction: Transaction): Buffer =>
  encodeUpdate({
    filters: [TRANSACTION_FILTER],
    transaction: { slot: String(slot), transaction: geyserTransaction(transaction) }
  })

const recordSlot = ({ accounts, slot, transactions }: Block, renaming: Renaming): RecordedSlot => {
  const frames: Array<Buffer> = []
  const messages: Array<RecordedSlot["messages"][number]> = []
  let length = 0
  for (const transaction of transactions) {
    const { receipt } = transaction
    const frame = frameOf(messageOf(slot, transaction))
    const isVaried = receipt.tokens.after.some(({ mint }) => renaming.has(mint))
    const changes = renaming.changesOf(frame, {
      addresses: isVaried ? receipt.message.keys.concat(receipt.tokens.after.map(({ mint }) => mint)) : [],
      logs: logsOf(receipt),
      signatures: geyserTransaction(transaction).transaction?.signatures ?? []
    })
    messages.push({ start: length, end: length + frame.length, changes })
    frames.push(frame)
    length += frame.length
  }
  return {
    frames: Buffer.concat(frames),
    messages,
    writes: accounts
      .filter(({ address }) => address !== CLOCK_SYSVAR)
      .map((account, index) => recordWrite(account, index + 1)),
    swaps: transactions.reduce((sum, { swaps }) => sum + swaps.length, 0)
  }
}

/** Gives variants to the coins that are not of the catalog, with their pools, and to the wallets of retail traders. */
const renamingOf = (market: Market) => {
  const renaming = new Renaming()
  const steady = new Set<Mint>(
    market
      .mints()
      .slice(0, 2 + coins.length - 1)
      .map(({ address }) => address)
  )
  const groups = new Map<Mint, number>()
  for (const { address, symbol } of market.mints()) {
    if (symbol.startsWith("COIN")) {
      groups.set(address, groups.size)
      renaming.add(address, groups.size - 1)
    } else {
      steady.add(address)
    }
  }
  for (const { address, mintA, mintB } of market.pools()) {
    const group = groups.get(mintA) ?? groups.get(mintB)
    if (group !== undefined) {
      renaming.add(address, group)
    }
  }
  market.wallets
    .filter(({ label }) => label.startsWith("retail"))
    .forEach(({ address }, index) => renaming.add(address, groups.size + index))
  return { renaming, groups, steady: Array.from(steady) }
}

/** Records the slots. Takes about half a second of processor time for a slot of 1,200 swaps. */
export const record = (options: RecordingOptions): Recording => {
  const { coins: further, poolsPerCoin, slots, swapsPerSecond } = options
  const bank = makeBank({ seed: "mainnet", startSlot: FIRST_SLOT, startUnixMs: 1_790_000_000_000 })
  const listed = broadMarket(further, poolsPerCoin)
  const market = makeMarket({ seed: "mainnet", bank, swapsPerSecond, listed })
  const { groups, renaming, steady } = renamingOf(market)
  const first = new Map<Address, OnChainAccount>()
  for (const account of bank.accounts()) {
    first.set(account.address, account)
  }
  const recorded = Array.from({ length: slots }, () => recordSlot(market.advance(), renaming))
  const written = new Set(recorded.flatMap(({ writes }) => writes.map(({ account }) => account.address)))
  const before = Array.from(written).flatMap((address) => {
    const account = first.get(address)
    return account === undefined ? [] : [recordWrite(account, 1)]
  })
  bank.forgetBefore(bank.newest().slot)
  return {
    bank,
    market,
    slots: recorded,
    before,
    renaming,
    coinGroups: groups.size,
    steady,
    mints: [USDC, ...steady.filter((mint) => mint !== USDC), ...groups.keys()]
  }
}
