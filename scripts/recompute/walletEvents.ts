/** The trades and transfers of wallets in one raw transaction. */
import bs58 from "bs58"
import type { RawTransaction } from "./chain.ts"
import { type RawLeg, type ReadTransaction, SOL } from "./legs.ts"
import { DOLLARS } from "./record.ts"
import type { Fraction } from "./solPrice.ts"
import { u64 } from "./transfers.ts"

/**
 * A trade of one mint. `nanos` is its value in nano-dollars, null when unknown; `fee` is the value of the front-end fee
 * beside it.
 */
export interface RawTrade {
  readonly isBuy: boolean
  readonly amount: bigint
  readonly nanos: bigint | null
  readonly fee: bigint
}

/** Units of one token account before and after a transaction. */
export interface AccountChange {
  readonly address: string
  readonly before: bigint
  readonly after: bigint
}

/** The token accounts of one mint of a wallet that one transaction names, with their sums, and its trades there. */
export interface WalletEvent {
  /** Place of the transaction among those that were read. */
  readonly transaction: number
  readonly wallet: string
  readonly mint: string
  readonly before: bigint
  readonly after: bigint
  readonly accounts: ReadonlyArray<AccountChange>
  readonly trades: ReadonlyArray<RawTrade>
}

interface Amount {
  readonly mint: string
  readonly amount: bigint
}

interface MintTrade extends RawTrade {
  readonly mint: string
}

const isMoney = (mint: string): boolean => mint === SOL || DOLLARS.includes(mint)

/** Sums over the token accounts of the transaction, by owner and mint. */
const sumsOf = ({ meta }: RawTransaction, keys: ReadonlyArray<string>) => {
  const sums = new Map<string, { owner: string; mint: string; accounts: Map<string, AccountChange> }>()
  const add = (side: "before" | "after") => (balance: (typeof meta.preTokenBalances)[number]) => {
    const owner = balance.owner ?? ""
    const key = `${owner} ${balance.mint}`
    const sum = sums.get(key) ?? { owner, mint: balance.mint, accounts: new Map<string, AccountChange>() }
    const address = keys[balance.accountIndex] ?? ""
    const account = sum.accounts.get(address) ?? { address, before: 0n, after: 0n }
    sum.accounts.set(address, { ...account, [side]: BigInt(balance.uiTokenAmount.amount) })
    sums.set(key, sum)
  }
  meta.preTokenBalances.forEach(add("before"))
  meta.postTokenBalances.forEach(add("after"))
  return Array.from(sums.values(), ({ accounts, ...of }) => {
    const all = Array.from(accounts.values())
    const sum = (side: "before" | "after") => all.reduce((total, each) => total + each[side], 0n)
    return { ...of, accounts: all, before: sum("before"), after: sum("after") }
  })
}

/** Lamports that the fee payer got, less those it paid, without the network fee and the rent of accounts that it opened. */
const lamportsOf = ({ meta }: RawTransaction): bigint => {
  const before = new Set(meta.preTokenBalances.map(({ accountIndex }) => accountIndex))
  const opened = meta.postTokenBalances.filter(({ accountIndex }) => !before.has(accountIndex))
  const rent = opened.reduce((sum, { accountIndex }) => sum + (meta.postBalances[accountIndex] ?? 0), 0)
  return BigInt((meta.postBalances[0] ?? 0) - (meta.preBalances[0] ?? 0) + meta.fee + rent)
}

const SYSTEM = "11111111111111111111111111111111"
const SYSTEM_TRANSFER = 2
/** The greatest part of a trade's SOL that a payment beside it may be to count as a fee. */
const GREATEST_PART = 20n

/** Lamports that the fee payer sent beside its swaps to accounts of no token, each at most a twentieth of `lamports`. */
const frontEndFeeOf = ({ holders, keys, raw }: ReadTransaction, swapped: ReadonlySet<number>, lamports: bigint) =>
  raw.transaction.message.instructions.reduce((sum, { accounts, data, programIdIndex }, outer) => {
    const [from = "", to = ""] = accounts.map((index) => keys[index] ?? "")
    const bytes = keys[programIdIndex] === SYSTEM ? bs58.decode(data) : new Uint8Array()
    const isPayment = bytes[0] === SYSTEM_TRANSFER && from === keys[0] && to !== from && !holders.has(to)
    const amount = isPayment && !swapped.has(outer) ? u64(bytes, 4) : 0n
    return amount * GREATEST_PART <= lamports ? sum + amount : sum
  }, 0n)

/** The value of money in nano-dollars; null for other mints, or without a rate. */
const nanosOf = ({ amount, mint }: Amount, rate: Fraction | null): bigint | null => {
  if (DOLLARS.includes(mint)) {
    return amount * 1000n
  }
  return mint === SOL && rate !== null ? (amount * rate.numerator * 1000n) / rate.denominator : null
}

/** The value of the money that a route's own pools paid for a mint, or took for it; null when they took something else. */
const legsValue = (legs: ReadonlyArray<RawLeg>, mint: string, isSold: boolean, rate: Fraction | null) => {
  const own = legs.filter(({ input, output }) => (isSold ? input : output).mint === mint)
  const money = own.map(({ input, output }) => (isSold ? output : input))
  const [first] = money
  return first === undefined || money.some((each) => each.mint !== first.mint)
    ? null
    : nanosOf({ mint: first.mint, amount: money.reduce((sum, { amount }) => sum + amount, 0n) }, rate)
}

/** The trades of one exchange: of a token against money one, of two tokens a sale and a purchase of one value. */
const tradesOf = (
  { gave, got, lamportsFee }: { readonly gave: Amount; readonly got: Amount; readonly lamportsFee: bigint },
  legs: ReadonlyArray<RawLeg>,
  rate: Fraction | null
): Array<MintTrade> => {
  const [sold, bought] = [
    { mint: gave.mint, isBuy: false, amount: gave.amount, fee: 0n },
    { mint: got.mint, isBuy: true, amount: got.amount, fee: 0n }
  ]
  // The SOL that the wallet gave or got includes the fee.
  const fee = nanosOf({ mint: SOL, amount: lamportsFee }, rate) ?? 0n
  if (isMoney(gave.mint)) {
    return [{ ...bought, fee, nanos: nanosOf({ ...gave, amount: gave.amount - lamportsFee }, rate) }]
  }
  if (isMoney(got.mint)) {
    return [{ ...sold, fee, nanos: nanosOf({ ...got, amount: got.amount + lamportsFee }, rate) }]
  }
  const nanos = legsValue(legs, gave.mint, true, rate) ?? legsValue(legs, got.mint, false, rate)
  return [
    { ...bought, nanos },
    { ...sold, nanos }
  ]
}

/**
 * The exchanges of the fee payer, one for each top-level instruction with swaps. What was sent is the sum of its own transfers
 * there; what was received is the change over the whole transaction and everything sent.
 */
const exchangesOf = (
  read: ReadTransaction,
  legs: ReadonlyArray<RawLeg>,
  changeOf: (mint: string) => bigint,
  rate: Fraction | null
): Array<MintTrade> => {
  const { keys, transfers } = read
  const [wallet = ""] = keys
  const swapped = new Set(legs.map(({ outer }) => outer))
  const groups = Array.from(Map.groupBy(legs, ({ outer }) => outer))
  const sentIn = (outer: number, leg: RawLeg) => {
    const own = transfers.filter((each) => each.outer === outer && each.authority === wallet)
    const sum = own.reduce((total, { amount }) => total + amount, 0n)
    return sum === 0n ? leg.input.amount : sum
  }
  return groups.flatMap(([outer, group]) => {
    const [first, last] = [group[0], group.at(-1)]
    if (first === undefined || last === undefined) {
      return []
    }
    const isOnly = groups.length === 1
    const others = groups.filter(([other, [leg]]) => other !== outer && leg?.input.mint === last.output.mint)
    const sentElsewhere = others.reduce(
      (sum, [other, [leg]]) => sum + (leg === undefined ? 0n : sentIn(other, leg)),
      0n
    )
    const gave = { mint: first.input.mint, amount: isOnly ? -changeOf(first.input.mint) : sentIn(outer, first) }
    const got = { mint: last.output.mint, amount: changeOf(last.output.mint) + sentElsewhere }
    const lamports = gave.mint === SOL ? gave.amount : got.mint === SOL ? got.amount : 0n
    const lamportsFee = isOnly ? frontEndFeeOf(read, swapped, lamports) : 0n
    return gave.amount > 0n && got.amount > 0n ? tradesOf({ gave, got, lamportsFee }, group, rate) : []
  })
}

/** The events of a successful transaction: every holding of a token that changed or was traded, beside SOL and dollars. */
export const eventsOf = (
  read: ReadTransaction,
  swaps: ReadonlyArray<RawLeg>,
  { rate, transaction }: { readonly rate: Fraction | null; readonly transaction: number }
): ReadonlyArray<WalletEvent> => {
  const [payer = ""] = read.keys
  const sums = sumsOf(read.raw, read.keys)
  const lamports = lamportsOf(read.raw)
  const changeOf = (mint: string) => {
    const sum = sums.find((each) => each.owner === payer && each.mint === mint)
    return (sum === undefined ? 0n : sum.after - sum.before) + (mint === SOL ? lamports : 0n)
  }
  const legs = swaps.filter(({ wallet }) => wallet === payer)
  const trades = exchangesOf(read, legs, changeOf, rate)
  return sums
    .filter(({ mint }) => !isMoney(mint))
    .map(({ accounts, after, before, mint, owner }) => ({
      transaction,
      wallet: owner,
      mint,
      accounts,
      before,
      after,
      trades: owner === payer ? trades.filter((trade) => trade.mint === mint) : []
    }))
    .filter(({ accounts, trades: own }) => accounts.some(({ after, before }) => after !== before) || own.length > 0)
}
