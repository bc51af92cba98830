/** Fills a hypothetical order from a book. */
import type { Ratio } from "./exact.ts"

/** Size at a price, both in units of 10^-30. */
export interface Level {
  readonly price: bigint
  readonly size: bigint
}

/** Both sides of a book, best price first. */
export interface Book {
  readonly bids: ReadonlyArray<Level>
  readonly asks: ReadonlyArray<Level>
}

/** The side of an order. */
export type Side = "buy" | "sell"

/** The part of an order that a book fills. */
export interface Fill {
  /** At most the requested size. */
  readonly filled: bigint
  /** Sum of price times size over the levels taken, in units of 10^-60. */
  readonly paid: bigint
}

/** Takes levels, best price first, until the size is filled or the book ends. */
export const walk = (levels: ReadonlyArray<Level>, size: bigint): Fill => {
  let filled = 0n
  let paid = 0n
  for (const level of levels) {
    const wanted = size - filled
    if (wanted <= 0n) {
      break
    }
    const taken = level.size < wanted ? level.size : wanted
    filled += taken
    paid += taken * level.price
  }
  return { filled, paid }
}

/**
 * How far the volume-weighted fill is from the middle of best bid and ask, in basis points. Positive is a cost on
 * either side, and half the spread is included. Null when nothing is filled.
 */
export const impactBps = (side: Side, fill: Fill, bid: bigint, ask: bigint): Ratio | null => {
  const atMid = fill.filled * (bid + ask)
  if (atMid <= 0n) {
    return null
  }
  const worse = side === "buy" ? 2n * fill.paid - atMid : atMid - 2n * fill.paid
  return { numerator: worse * 10_000n, denominator: atMid }
}

/** True when the best bid is above the best ask. No valid book has that. */
export const isCrossed = ({ asks: [ask], bids: [bid] }: Book): boolean =>
  bid !== undefined && ask !== undefined && bid.price > ask.price

/** Size of a side within reach: the sum of its levels. */
export const depthOf = (levels: ReadonlyArray<Level>): bigint => levels.reduce((sum, { size }) => sum + size, 0n)

/** The levels of `fine`, then what `coarse` has beyond them. Coarse prices are rounded away from the middle. */
const joinSides = (
  fine: ReadonlyArray<Level>,
  coarse: ReadonlyArray<Level>,
  isBeyond: (price: bigint, last: bigint) => boolean
): ReadonlyArray<Level> => {
  const last = fine.at(-1)
  let counted = depthOf(fine)
  let total = 0n
  const further = coarse.flatMap(({ price, size }): ReadonlyArray<Level> => {
    total += size
    const more = total - counted
    if (more <= 0n || (last !== undefined && !isBeyond(price, last.price))) {
      return []
    }
    counted = total
    return [{ price, size: more }]
  })
  return [...fine, ...further]
}

/**
 * A book that reaches as far as `coarse`. Each level of `coarse` counts at its rounded price, which is the worst price of
 * its orders, with the size that `fine` does not have already.
 */
export const joinBooks = <B extends Book>(fine: B, coarse: Book): B => ({
  ...fine,
  bids: joinSides(fine.bids, coarse.bids, (price, last) => price < last),
  asks: joinSides(fine.asks, coarse.asks, (price, last) => price > last)
})
