/** Net trades: each wallet's input and output over all pools of its route. */
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import { jupiterPrograms } from "../programs/jupiter/route.ts"
import type { Leg, NetTrade, Occurrence, Quantity } from "../domain/market/Trade.ts"
import { type Swap, swapsOf, type TradingGroup } from "./swaps.ts"
import type { Fill } from "./orders.ts"
import type { PoolSwap } from "./poolSwaps.ts"
import { sidesOf } from "./sides.ts"
import { decimalsOf, type Transaction } from "./transaction.ts"

const outerOf = ({ instructions }: Transaction, at: number): number => instructions[at]?.outer ?? 0

const fillGroups = (
  transaction: Transaction,
  swaps: ReadonlyArray<PoolSwap>,
  fills: ReadonlyArray<Fill>
): ReadonlyArray<TradingGroup> =>
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
  filled: ReadonlyArray<TradingGroup>
): ReadonlyArray<TradingGroup> => {
  const groups = new Map<string, TradingGroup & { readonly legs: Array<number> }>()
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
    if (jupiterPrograms.has(program) && !inFill(outer) && !legs.some((leg) => leg.outer === outer)) {
      transaction.keys.slice(0, transaction.signers).forEach((signer) => groupOf(signer, outer))
    }
  }
  return Array.from(groups.values())
}

/** The one leg that is the whole swap; undefined where there are more, or pools that are not decoded. */
const onlyLeg = (
  indexes: ReadonlyArray<number>,
  legs: ReadonlyArray<Leg>,
  { token, quote }: Pick<Leg, "token" | "quote">
): Leg | undefined => {
  const leg = indexes.length === 1 ? legs[indexes[0] ?? 0] : undefined
  return leg?.token.mint === token.mint && leg.quote.mint === quote.mint ? leg : undefined
}

const quantityIn =
  (transaction: Transaction) =>
  ([mint, amount]: readonly [Mint, bigint]): Quantity => ({
    mint,
    amount,
    decimals: mint === SOL ? 9 : decimalsOf(transaction, mint)
  })

/** Net trades of every wallet, those of filled orders first. */
export const netTradesOf = (
  transaction: Transaction,
  swaps: ReadonlyArray<PoolSwap>,
  legs: ReadonlyArray<Leg>,
  fills: ReadonlyArray<Fill>,
  occurrence: (at: { readonly outer: number; readonly inner: number | null }) => Occurrence
): ReadonlyArray<NetTrade> => {
  const quantity = quantityIn(transaction)
  const nets: Array<NetTrade> = []
  const add = (group: TradingGroup, swap: Swap) => {
    const sides = sidesOf(quantity(swap.gave), quantity(swap.got))
    const only = onlyLeg(swap.legs, legs, sides)
    nets.push({
      ...occurrence({ outer: group.toOuter, inner: null }),
      ...sides,
      index: nets.length,
      wallet: group.wallet,
      legs: swap.legs,
      pool: only?.pool ?? null,
      dex: only?.dex ?? null
    })
  }
  const filled = fillGroups(transaction, swaps, fills)
  for (const group of [...filled, ...instructionGroups(transaction, legs, filled)]) {
    swapsOf(transaction, group, swaps).forEach((swap) => add(group, swap))
  }
  return nets
}
