import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { toBase58 } from "../../src/domain/base58.ts"
import { Address, SOL, USDC } from "../../src/domain/Address.ts"
import { PLACES, tapeTradesOf } from "../../src/market/model/tapeTrades.ts"
import type { Bank, Block } from "../../src/simulator/chain/Bank.ts"
import { balanceOf, mintOf } from "../../src/simulator/chain/tokens.ts"
import { isTokenAccount } from "../../src/simulator/chain/World.ts"
import { getBlock } from "../../src/simulator/node/blockMethods.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import { TrackerState } from "../../src/wallets/tracker/TrackerState.ts"
import { AccountsRead } from "../../src/wallets/wholeEvents.ts"
import { newMarket } from "../simulator/chain/chains.ts"
import { named, marksOf } from "../wallets/tracker/liveScene.ts"

const UNSEEN = 60
const SEEN = 160
/** 150 dollars for a SOL. */
const microPerLamport = { numerator: 3n, denominator: 20n }

/** A position computed only from the recorded swaps and the balances of raw blocks. */
interface Plain {
  known: bigint
  cost: bigint
  unknown: bigint
  realized: bigint | null
  knownRealized: bigint
  trades: number
}

const newPlain = (unknown: bigint): Plain => ({
  known: 0n,
  cost: 0n,
  unknown,
  realized: 0n,
  knownRealized: 0n,
  trades: 0
})

/** Units of every owner and mint over all of its token accounts. */
const balancesOf = (bank: Bank): ReadonlyMap<string, bigint> => {
  const balances = new Map<string, bigint>()
  for (const account of bank.accounts()) {
    if (isTokenAccount(account) && account.data.length >= 165) {
      const key = `${toBase58(account.data.subarray(32, 64))} ${mintOf(account)}`
      balances.set(key, (balances.get(key) ?? 0n) + balanceOf(account))
    }
  }
  return balances
}

/** Takes this many units in proportion; returns the known units and their cost. */
const take = (plain: Plain, amount: bigint) => {
  const all = plain.known + plain.unknown
  const known = all === 0n ? 0n : (plain.known * amount) / all
  const cost = known === 0n ? 0n : (plain.cost * known) / plain.known
  plain.known -= known
  plain.cost -= cost
  plain.unknown -= amount - known
  return { known, cost }
}

const valueOf = (mint: string, amount: bigint): bigint | null =>
  mint === SOL ? amount * 150n : mint === USDC ? amount * 1000n : null

interface RawBalance {
  readonly mint: string
  readonly owner: string
  readonly uiTokenAmount: { readonly amount: string }
}
interface RawTransaction {
  readonly meta: {
    readonly err: unknown
    readonly preTokenBalances: ReadonlyArray<RawBalance>
    readonly postTokenBalances: ReadonlyArray<RawBalance>
  }
}

/** Units of every wallet and mint of a list of balances. */
const sumsOf = (balances: ReadonlyArray<RawBalance>): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>()
  for (const { mint, owner, uiTokenAmount } of balances) {
    const key = `${owner} ${mint}`
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(uiTokenAmount.amount))
  }
  return sums
}

interface Deal {
  readonly mint: string
  readonly isBuy: boolean
  readonly amount: bigint
  /** Value of the units, without the fee of a front end. */
  readonly value: bigint | null
  readonly fee: bigint
}

const isMoney = (mint: string): boolean => mint === SOL || mint === USDC

/** The purchases and sales of a transaction, each with its value in nano-dollars. A route from one token to another has one value. */
const dealsOf = ({ frontEndFee, swaps }: Block["transactions"][number]): ReadonlyArray<Deal> => {
  const [first, last] = [swaps[0], swaps.at(-1)]
  if (first === undefined || last === undefined) {
    return []
  }
  const routes = isMoney(first.inputMint) ? swaps.map((swap) => [swap, swap] as const) : [[first, last] as const]
  return routes.flatMap(([from, to]): ReadonlyArray<Deal> => {
    const value =
      valueOf(from.inputMint, from.amountIn) ??
      valueOf(to.outputMint, to.amountOut) ??
      valueOf(from.outputMint, from.amountOut)
    const fee = frontEndFee * 150n
    const sold = { mint: from.inputMint, isBuy: false, amount: from.amountIn, value, fee }
    const bought = { mint: to.outputMint, isBuy: true, amount: to.amountOut, value, fee }
    return [bought, sold].filter(({ mint }) => !isMoney(mint))
  })
}

const applyPlain = (
  books: Map<string, Plain>,
  begin: ReadonlyMap<string, bigint>,
  raw: RawTransaction,
  made: Block["transactions"][number]
) => {
  const [before, after] = [sumsOf(raw.meta.preTokenBalances), sumsOf(raw.meta.postTokenBalances)]
  const deals = dealsOf(made)
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [owner, mint = SOL] = key.split(" ")
    const [from, to] = [before.get(key) ?? 0n, after.get(key) ?? 0n]
    const own = deals.filter((deal) => owner === made.wallet && deal.mint === mint)
    if (isMoney(mint) || (from === to && own.length === 0)) {
      continue
    }
    const plain = books.get(key) ?? newPlain(begin.get(key) ?? 0n)
    books.set(key, plain)
    const other = own.reduce((rest, { amount, isBuy }) => rest - (isBuy ? amount : -amount), to - from)
    plain.unknown += other > 0n ? other : 0n
    plain.trades += own.length
    for (const { amount, fee, value } of own.filter(({ isBuy }) => isBuy)) {
      plain.known += value === null ? 0n : amount
      plain.unknown += value === null ? amount : 0n
      plain.cost += value === null ? 0n : value + fee
    }
    for (const { amount, fee, value } of own.filter(({ isBuy }) => !isBuy)) {
      const { cost, known } = take(plain, amount)
      const isKnown = known === amount && value !== null && plain.realized !== null
      plain.realized = isKnown ? (plain.realized ?? 0n) + (value ?? 0n) - fee - cost : null
      plain.knownRealized += value === null ? 0n : ((value - fee) * known) / amount - cost
    }
    if (other < 0n) {
      take(plain, -other)
    }
  }
}

const usd = (text: unknown): bigint | null => {
  if (typeof text !== "string") {
    return null
  }
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".")
  const nanos = BigInt(whole + fraction.padEnd(9, "0"))
  return text.startsWith("-") ? -nanos : nanos
}

describe("positions of a simulated market", () => {
  it(
    "match the chain and a recomputation from raw blocks: holdings, lots, strict and known profit",
    { timeout: 120_000 },
    () => {
      const { bank, market } = newMarket("lots", 60)
      const wallets = market.wallets.flatMap(({ address, label }) => (label === "validator" ? [] : [address]))
      const tracked = new Set(wallets)
      const state = new TrackerState({
        sincesOf: (wallet) => new Set(tracked.has(wallet) ? [0] : []),
        tokenOf: () => named,
        marksAt: (nowMs) => marksOf({ usd: 1n }, nowMs),
        commitment: "confirmed"
      })
      const books = new Map<string, Plain>()
      for (let n = 0; n < UNSEEN; n++) {
        market.advance()
      }
      // The token accounts of each wallet, as a node lists them.
      const begin = balancesOf(bank)
      const { slot, unixTimestamp } = bank.newest()
      const times = { atMs: unixTimestamp * 1000, chainMs: unixTimestamp * 1000 }
      for (const wallet of wallets) {
        const own = Array.from(begin).filter(([key]) => key.startsWith(`${wallet} `))
        const units = new Map(own.map(([key, of]) => [Address.make(key.split(" ")[1] ?? ""), of] as const))
        state.restore(
          wallet,
          { trades: [], isClipped: false },
          { read: new AccountsRead([{ slot, units }], times), fromMs: 0 }
        )
      }
      for (let n = 0; n < SEEN; n++) {
        const block = market.advance()
        const text = Result.getOrThrow(
          getBlock(bank, [block.slot, { maxSupportedTransactionVersion: 0, rewards: false }])
        )
        const raw: { readonly transactions: ReadonlyArray<RawTransaction> } = JSON.parse(text)
        for (const [index, transaction] of block.transactions.entries()) {
          const given = raw.transactions[index]
          if (given !== undefined && given.meta.err === null) {
            applyPlain(books, begin, given, transaction)
          }
        }
        const decoded = decodeBlock(block.slot, JSON.parse(text))
        const timeMs = block.unixTimestamp * 1000
        const transactions = Array.from(decoded?.transactions ?? [])
        const trades = transactions.flatMap((each) => tapeTradesOf(each, { timeMs, microPerLamport }))
        for (const { held, index, mint, role, wallet } of trades) {
          const meta = raw.transactions[Math.floor(index / PLACES)]?.meta
          if (role !== "pool" && !isMoney(mint)) {
            const key = `${wallet} ${mint}`
            const [before, after] = [meta?.preTokenBalances, meta?.postTokenBalances].map((list) =>
              sumsOf(list ?? []).get(key)
            )
            assert.deepStrictEqual(held, { before: before ?? 0n, after: after ?? 0n }, "as trades carry them")
          }
        }
        const batch = { slot: block.slot, timeMs, transactions, launches: null, afterGap: false, trades }
        state.apply(batch, timeMs, () => false)
      }

      const balances = balancesOf(bank)
      const sinces = wallets.map((wallet) => ({ wallet, sinceMs: 0 }))
      const { pnl } = state.pnlSnapshotOf(sinces, 100_000, bank.clock().unixTimestamp * 1000)
      assert.isAbove(pnl.length, 100)
      const strict = { known: 0, unknown: 0, transferred: 0 }
      for (const { buys, holding, known, mint, quantities, realized, sells, wallet } of pnl) {
        const key = `${wallet} ${mint}`
        assert.strictEqual(holding, balances.get(key) ?? 0n, key)
        const plain = books.get(key)
        assert.deepStrictEqual(
          [quantities.known, quantities.inherited + quantities.received + quantities.unpriced, buys + sells],
          [plain?.known, plain?.unknown, plain?.trades],
          key
        )
        assert.deepStrictEqual([usd(realized), usd(known.realized)], [plain?.realized, plain?.knownRealized], key)
        strict[realized === null ? "unknown" : "known"]++
        strict.transferred += quantities.received > 0n ? 1 : 0
      }
      assert.isTrue(
        Object.values(strict).every((count) => count > 0),
        JSON.stringify(strict)
      )
    }
  )
})
