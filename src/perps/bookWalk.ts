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
