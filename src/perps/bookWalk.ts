/** A hypothetical order against a book. */
import type { Ratio } from "./exact.ts"

/** Size at a price, both in units of 10^-30. */
export interface Level {
  readonly price: bigint
  readonly size: bigint
}

/** Both sides of a book, each from its best price on. */
export interface Book {
  readonly bids: ReadonlyArray<Level>
  readonly asks: ReadonlyArray<Level>
}

/** The side of an order. */
export type Side = "buy" | "sell"

/** The part of an order that a book fills. */
export interface Fill {
  /** At most the size asked for. */
  readonly filled: bigint
  /** Sum of price times size over the levels that were taken, in units of 10^-60. */
  readonly paid: bigint
}

/** Takes from the best price on until the size is filled or the book ends. */
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
 * The distance of the volume-weighted fill from the middle of the best bid and ask, in basis points: positive is a cost
 * on either side. Includes half the spread. Null while nothing is filled.
 */
export const impactBps = (side: Side, fill: Fill, bid: bigint, ask: bigint): Ratio | null => {
  const atMid = fill.filled * (bid + ask)
  if (atMid <= 0n) {
    return null
  }
  const worse = side === "buy" ? 2n * fill.paid - atMid : atMid - 2n * fill.paid
  return { numerator: worse * 10_000n, denominator: atMid }
}

/** True when the best bid is above the best ask, which no valid book has. */
export const isCrossed = ({ asks: [ask], bids: [bid] }: Book): boolean =>
  bid !== undefined && ask !== undefined && bid.price > ask.price
