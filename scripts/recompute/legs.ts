/** Pool swaps of a raw transaction, from the transfers into and out of the vaults of each swap instruction. */
import bs58 from "bs58"
import type { RawTransaction } from "./chain.ts"
import { discriminator, programs, PUMP, type SwapAccounts } from "./programs.ts"
import {
  growthOf,
  type Holder,
  holdersOf,
  type Invocation,
  invocationsOf,
  keysOf,
  type Transfer,
  transferOf,
  u64
} from "./transfers.ts"

/** Wrapped SOL, which stands for lamports too. */
export const SOL = "So11111111111111111111111111111111111111112"

/** The amounts that one pool received and paid, in atomic units. */
export interface RawLeg {
  readonly program: string
  readonly pool: string
  /** Its two vaults; empty for a curve that holds SOL itself. */
  readonly vaults: ReadonlyArray<string>
  readonly outer: number
  readonly input: { readonly mint: string; readonly amount: bigint }
  readonly output: { readonly mint: string; readonly amount: bigint }
  /** Units that left and reached the trader's accounts: the amounts with their transfer fees. */
  readonly sent: bigint
  readonly received: bigint
  /** The signer that swapped: the owner of the account that paid, or the one that the program's event names. */
  readonly wallet: string
  /** Lamports of the wallet that no transfer shows, fees included; negative for those paid. */
  readonly nativeFlow: bigint
}

/** A transaction, read once for all that is made of it. */
export interface ReadTransaction {
  readonly raw: RawTransaction
  readonly keys: ReadonlyArray<string>
  readonly signers: ReadonlyArray<string>
  readonly invocations: ReadonlyArray<Invocation>
  readonly holders: ReadonlyMap<string, Holder>
  /** Every transfer, with its top-level instruction. */
  readonly transfers: ReadonlyArray<Transfer & { readonly outer: number }>
  /** Units that reached the destination, less the transfer fee that was withheld. */
  readonly arrived: (transfer: Transfer) => bigint
}

const BPS = 10_000n

const feeAt = (amount: bigint, bps: bigint): bigint => (amount * bps + BPS - 1n) / BPS

const sumOf = (transfers: ReadonlyArray<Transfer>, of: (transfer: Transfer) => bigint): bigint =>
  transfers.reduce((sum, transfer) => sum + of(transfer), 0n)

/**
 * Fees that were withheld of transfers into one account, by what its balance lacks: of one transfer all of it, of several the
 * fees of the one rate, rounded up, that gives the total. Stated fees where no rate does.
 */
const withheldIn = (into: ReadonlyArray<Transfer>, lacking: bigint): ((transfer: Transfer) => bigint) => {
  const total = sumOf(into, ({ amount }) => amount)
  if (lacking <= 0n || lacking > total) {
    return ({ fee }) => fee
  }
  if (into.length === 1) {
    return () => lacking
  }
  const near = (lacking * BPS) / total
  const rate = [near - 1n, near, near + 1n].find((bps) => sumOf(into, ({ amount }) => feeAt(amount, bps)) === lacking)
  return rate === undefined ? ({ fee }) => fee : ({ amount }) => feeAt(amount, rate)
}

/** Reads a transaction. */
export const readTransaction = (raw: RawTransaction): ReadTransaction => {
  const keys = keysOf(raw)
  const invocations = invocationsOf(raw)
  const holders = holdersOf(raw, keys, invocations)
  const transfers = invocations.flatMap(({ instruction, outer }) => {
    const transfer = transferOf(instruction, keys)
    return transfer === null ? [] : [{ ...transfer, outer }]
  })
  const remains = new Set(raw.meta.postTokenBalances.map(({ accountIndex }) => keys[accountIndex] ?? ""))
  const withheld = new Map<string, (transfer: Transfer) => bigint>()
  for (const account of new Set(transfers.map(({ destination }) => destination))) {
    // Lamports are wrapped and unwrapped beside transfers.
    if (remains.has(account) && holders.get(account)?.mint !== SOL) {
      const into = transfers.filter(({ destination }) => destination === account)
      const out = transfers.filter(({ source }) => source === account)
      const moved = sumOf(into, ({ amount }) => amount) - sumOf(out, ({ amount }) => amount)
      withheld.set(account, withheldIn(into, moved - growthOf(raw, keys.indexOf(account))))
    }
  }
  return {
    raw,
    keys,
    signers: keys.slice(0, raw.transaction.message.header.numRequiredSignatures),
    invocations,
    holders,
    transfers,
    arrived: (transfer) => transfer.amount - (withheld.get(transfer.destination)?.(transfer) ?? transfer.fee)
  }
}

/** The leg of a hop; null when its vaults did not exchange one mint for another. */
const legOf = (
  read: ReadTransaction,
  { inner, instruction, outer }: Invocation,
  { pool, referral, vaults }: SwapAccounts,
  before: RawLeg | undefined
): RawLeg | null => {
  const { holders, keys } = read
  const transfers = inner.flatMap((each) => transferOf(each, keys) ?? [])
  const sides = vaults.map((position) => {
    const vault = keys[instruction.accounts[position] ?? -1] ?? ""
    const takes = transfers.filter(({ destination }) => destination === vault)
    const payments = transfers.filter(({ source }) => source === vault)
    const pays = payments.slice(0, referral ? 1 : undefined)
    const paid = sumOf(pays, ({ amount }) => amount)
    const taken = sumOf(takes, read.arrived)
    return { mint: holders.get(vault)?.mint ?? "", vault, taken, paid, takes, pays }
  })
  const input = sides.find(({ paid, taken }) => taken > paid)
  const output = sides.find(({ paid, taken }) => paid > taken)
  const [take] = input?.takes ?? []
  if (input === undefined || output === undefined || take === undefined) {
    return null
  }
  const payer = holders.get(take.source)?.owner ?? take.authority
  const isFromPool = before?.vaults.includes(take.source) === true
  const wallet = isFromPool ? before.wallet : read.signers.includes(payer) ? payer : (keys[0] ?? "")
  return {
    program: keys[instruction.programIdIndex] ?? "",
    pool: keys[instruction.accounts[pool] ?? -1] ?? "",
    vaults: sides.map(({ vault }) => vault),
    outer,
    input: { mint: input.mint, amount: input.taken },
    output: { mint: output.mint, amount: output.paid },
    sent: sumOf(input.takes, ({ amount }) => amount),
    received: sumOf(output.pays, read.arrived),
    wallet,
    nativeFlow: 0n
  }
}

const PUMP_TRADE = discriminator("event", "TradeEvent")
const EVENT_CPI = "e445a52e51cb9a1d"
const [MINT, LAMPORTS, UNITS, IS_BUY, USER, FEE, CREATOR_FEE] = [8, 40, 48, 56, 57, 169, 217]
/** The part of a completing purchase that is paid from the tokens of the future pool. */
const PUMP_REST = discriminator("event", "PostCompleteBuyEvent")
const REST = { user: 8, mint: 40, curve: 72, quote: 104, units: 144, paid: 152, fee: 168, creatorFee: 184 } as const

/** The body of an event that a program sent to itself, or the data as it is. */
export const eventOf = (data: Uint8Array): Uint8Array =>
  Buffer.from(data.subarray(0, 8)).toString("hex") === EVENT_CPI ? data.subarray(8) : data

/** True when data begins with a discriminator. */
export const begins = (data: Uint8Array, tag: string): boolean =>
  Buffer.from(data.subarray(0, 8)).toString("hex") === tag

/** The swap of the Pump.fun curve from its event, whose SOL amount is without fees. */
const pumpLeg = (data: Uint8Array, pool: string, outer: number): RawLeg | null => {
  const event = eventOf(data)
  if (!begins(event, PUMP_TRADE)) {
    return null
  }
  const lamports = { mint: SOL, amount: u64(event, LAMPORTS) }
  const tokens = { mint: bs58.encode(event.subarray(MINT, MINT + 32)), amount: u64(event, UNITS) }
  const wallet = bs58.encode(event.subarray(USER, USER + 32))
  const fees = u64(event, FEE) + u64(event, CREATOR_FEE)
  const at = { program: PUMP, pool, vaults: [], outer, wallet }
  return event[IS_BUY] === 1
    ? {
        ...at,
        input: lamports,
        output: tokens,
        sent: lamports.amount,
        received: tokens.amount,
        nativeFlow: -lamports.amount - fees
      }
    : {
        ...at,
        input: tokens,
        output: lamports,
        sent: tokens.amount,
        received: lamports.amount,
        nativeFlow: lamports.amount - fees
      }
}

/** The purchase that goes on after a curve has sold its last token, from its event. */
const pumpRestLeg = (data: Uint8Array, outer: number): RawLeg | null => {
  const event = eventOf(data)
  if (!begins(event, PUMP_REST)) {
    return null
  }
  const addressAt = (at: number) => bs58.encode(event.subarray(at, at + 32))
  const paid = u64(event, REST.paid)
  const units = u64(event, REST.units)
  const quote = addressAt(REST.quote)
  return {
    program: PUMP,
    pool: addressAt(REST.curve),
    vaults: [],
    outer,
    wallet: addressAt(REST.user),
    input: { mint: quote, amount: paid },
    output: { mint: addressAt(REST.mint), amount: units },
    sent: paid,
    received: units,
    nativeFlow: quote === SOL ? -paid - u64(event, REST.fee) - u64(event, REST.creatorFee) : 0n
  }
}

/** Position of the curve among the accounts of the newer instructions, and of all others. */
const CURVES: ReadonlyMap<string, number> = new Map([
  ...["buy_v2", "sell_v2", "buy_exact_quote_in_v2"].map((name) => [discriminator("global", name), 10] as const),
  ...["buy_v3", "sell_v3", "buy_exact_quote_in_v3"].map((name) => [discriminator("global", name), 5] as const)
])
const CURVE = 3

const curveOf = (data: Uint8Array): number => CURVES.get(Buffer.from(data.subarray(0, 8)).toString("hex")) ?? CURVE

/** Every pool swap of a successful transaction, in the order in which they ran. */
export const legsOf = (read: ReadTransaction): ReadonlyArray<RawLeg> => {
  const { invocations, keys, raw } = read
  if (raw.meta.err !== null) {
    return []
  }
  const legs: Array<RawLeg> = []
  const add = (leg: RawLeg | null) => (leg === null ? 0 : legs.push(leg))
  for (const invocation of invocations) {
    const { accounts, data, programIdIndex } = invocation.instruction
    const program = keys[programIdIndex] ?? ""
    if (program === PUMP) {
      const curve = keys[accounts[curveOf(bs58.decode(data))] ?? -1] ?? ""
      for (const inner of invocation.inner.filter((each) => keys[each.programIdIndex] === PUMP)) {
        const event = bs58.decode(inner.data)
        add(pumpLeg(event, curve, invocation.outer) ?? pumpRestLeg(event, invocation.outer))
      }
    }
    for (const hop of programs.get(program)?.(bs58.decode(data), accounts.length) ?? []) {
      add(legOf(read, invocation, hop, legs.at(-1)))
    }
  }
  return legs
}
