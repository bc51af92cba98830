/** What each wallet gave and got, however many pools it took. */
import { Address, type Mint, SOL } from "../domain/Address.ts"
import type { Leg, NetTrade, Occurrence, Quantity } from "../domain/Trade.ts"
import { flowOf, isExchange } from "./flows.ts"
import type { Fill } from "./orders.ts"
import type { PoolSwap } from "./poolSwaps.ts"
import { sided } from "./sides.ts"
import { decimalsOf, type Transaction } from "./transaction.ts"

/** Aggregators: what goes through one is a trade even when none of its pools is of a program that is decoded. */
const aggregators: ReadonlySet<Address> = new Set(
  [
    "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4",
    "JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB",
    "JUP3c2Uh3WA4Ng34tw6kPd2G4C5BB21Xo36Je1s32Ph",
    "JUP2jxvXaqu7NQY1GmNF4m1vodw12LVXYxbFL2uJvfo"
  ].map((address) => Address.make(address))
)

/** A wallet, the top-level instructions in which it traded, and the legs that were its. */
interface Group {
  readonly wallet: Address
  readonly custody: Address | null
  readonly fromOuter: number
  readonly toOuter: number
  readonly legs: ReadonlyArray<number>
}

const outerOf = ({ instructions }: Transaction, at: number): number => instructions[at]?.outer ?? 0

const fillGroups = (
  transaction: Transaction,
  swaps: ReadonlyArray<PoolSwap>,
  fills: ReadonlyArray<Fill>
): ReadonlyArray<Group> =>
  fills.map(({ from, to, custody, owner }) => ({
    wallet: owner,
    custody,
    fromOuter: outerOf(transaction, from),
    toOuter: outerOf(transaction, to),
    legs: swaps.flatMap(({ at }, i) => (from <= at && at <= to ? [i] : []))
  }))

/** One group for each wallet that traded in a top-level instruction, and for each signer of one that went to an aggregator. */
const instructionGroups = (
  transaction: Transaction,
  legs: ReadonlyArray<Leg>,
  filled: ReadonlyArray<Group>
): ReadonlyArray<Group> => {
  const groups = new Map<string, Group & { readonly legs: Array<number> }>()
  const groupOf = (wallet: Address, outer: number) => {
    const key = `${outer} ${wallet}`
    const known = groups.get(key) ?? { wallet, custody: null, fromOuter: outer, toOuter: outer, legs: [] }
    groups.set(key, known)
    return known
  }
  const inFill = (outer: number) => filled.some(({ fromOuter, toOuter }) => fromOuter <= outer && outer <= toOuter)
  for (const leg of legs) {
    if (!inFill(leg.outer)) {
      groupOf(leg.wallet, leg.outer).legs.push(leg.index)
    }
  }
  for (const { program, outer } of transaction.instructions) {
    if (aggregators.has(program) && !inFill(outer) && !legs.some((leg) => leg.outer === outer)) {
      transaction.keys.slice(0, transaction.signers).forEach((signer) => groupOf(signer, outer))
    }
  }
  return Array.from(groups.values())
}

/** Of the mints that went one way, the one that the legs begin or end with; otherwise the only one there is. */
const chosen = (mints: ReadonlyArray<Mint>, preferred: Mint | undefined): Mint | null => {
  if (preferred !== undefined && mints.includes(preferred)) {
    return preferred
  }
  return mints.length === 1 ? (mints[0] ?? null) : null
}

/** What the pools took of the mint that the first leg began with, or paid of the one that the last ended with. */
const throughPools = (swaps: ReadonlyArray<PoolSwap>, mint: Mint, way: "in" | "out"): bigint =>
  swaps.reduce((sum, swap) => {
    const [swapped, amount] = way === "in" ? [swap.inputMint, swap.amountIn] : [swap.outputMint, swap.amountOut]
    return swapped === mint ? sum + amount : sum
  }, 0n)

interface Exchange {
  readonly gave: readonly [Mint, bigint]
  readonly got: readonly [Mint, bigint]
}

/** What one group exchanged; null when nothing was, as in an arbitrage that ends with what it began with. */
const exchangeOf = (transaction: Transaction, group: Group, swaps: ReadonlyArray<PoolSwap>): Exchange | null => {
  const own = group.legs.flatMap((leg) => swaps[leg] ?? [])
  if (own.some(({ native }) => native !== null && native.lamports === null)) {
    return null
  }
  const flow = flowOf(transaction, { ...group, lamports: group.custody !== null })
  for (const { native, inputMint } of own) {
    const lamports = native?.lamports ?? 0n
    flow.set(SOL, (flow.get(SOL) ?? 0n) + (inputMint === SOL ? -lamports : lamports))
  }
  const first = own[0]?.inputMint
  const last = own.at(-1)?.outputMint
  const mints = Array.from(flow.keys())
  const gave = chosen(
    mints.filter((mint) => (flow.get(mint) ?? 0n) < 0n),
    first
  )
  const got = chosen(
    mints.filter((mint) => (flow.get(mint) ?? 0n) > 0n),
    last
  )
  if (gave !== null && got !== null) {
    return { gave: [gave, -(flow.get(gave) ?? 0n)], got: [got, flow.get(got) ?? 0n] }
  }
  // A router that wraps SOL into an account of its own hides one side; the pools know it.
  if (first === undefined || last === undefined || first === last || isExchange(flow)) {
    return null
  }
  if (got === last && gave === null) {
    return { gave: [first, throughPools(own, first, "in")], got: [got, flow.get(got) ?? 0n] }
  }
  return gave === first && got === null
    ? { gave: [gave, -(flow.get(gave) ?? 0n)], got: [last, throughPools(own, last, "out")] }
    : null
}

/** The one leg that is the whole exchange; undefined where there are more, or pools that are not decoded. */
const onlyLeg = (
  { legs: indexes }: Group,
  legs: ReadonlyArray<Leg>,
  { token, quote }: Pick<Leg, "token" | "quote">
): Leg | undefined => {
  const leg = indexes.length === 1 ? legs[indexes[0] ?? 0] : undefined
  return leg?.token.mint === token.mint && leg.quote.mint === quote.mint ? leg : undefined
}

/** Every wallet's exchanges, those of filled orders first. */
export const netTradesOf = (
  transaction: Transaction,
  swaps: ReadonlyArray<PoolSwap>,
  legs: ReadonlyArray<Leg>,
  fills: ReadonlyArray<Fill>,
  occurrence: (at: { readonly outer: number; readonly inner: number | null }) => Occurrence
): ReadonlyArray<NetTrade> => {
  const filled = fillGroups(transaction, swaps, fills)
  const nets: Array<NetTrade> = []
  for (const group of [...filled, ...instructionGroups(transaction, legs, filled)]) {
    const exchange = exchangeOf(transaction, group, swaps)
    if (exchange === null) {
      continue
    }
    const quantity = ([mint, amount]: readonly [Mint, bigint]): Quantity => ({
      mint,
      amount,
      decimals: mint === SOL ? 9 : decimalsOf(transaction, mint)
    })
    const sides = sided(quantity(exchange.gave), quantity(exchange.got))
    const only = onlyLeg(group, legs, sides)
    nets.push({
      ...occurrence({ outer: group.toOuter, inner: null }),
      ...sides,
      index: nets.length,
      wallet: group.wallet,
      legs: group.legs,
      pool: only?.pool ?? null,
      dex: only?.dex ?? null
    })
  }
  return nets
}
