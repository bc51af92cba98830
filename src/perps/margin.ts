/** Margin of a position: tiers by its value, and the price at which it is liquidated. */
import type { Side } from "./bookWalk.ts"
import { fixedOfNumber, ONE, parseFixed, type Ratio } from "./exact.ts"

/** Margin of positions from a value on. All in units of 10^-30. */
export interface MarginTier {
  /** Least value of the position, in dollars. */
  readonly from: bigint
  /** Share of the value that opens a position. */
  readonly initial: bigint
  /** Share of the value below which it is liquidated. */
  readonly maintenance: bigint
}

/** A tier of so much leverage, where a position is kept with a share of what opens it. */
export const tierOf = (from: bigint, maxLeverage: number, share: Ratio): MarginTier => {
  const initial = ONE / BigInt(maxLeverage)
  return { from, initial, maintenance: (initial * share.numerator) / share.denominator }
}

/** A venue's amount in units of 10^-30, as text or number; null when it is neither, or negative. */
export const amountOf = (value: unknown): bigint | null => {
  const amount = typeof value === "string" ? parseFixed(value) : typeof value === "number" ? fixedOfNumber(value) : null
  return amount === null || amount < 0n ? null : amount
}

/** The tier of a position of this value. Tiers are in the order of their values, the first from zero on. */
export const tierAt = (tiers: ReadonlyArray<MarginTier>, value: bigint): MarginTier | null =>
  tiers.findLast(({ from }) => value >= from) ?? null

/** A position with margin of its own. Size, entry price and leverage are in units of 10^-30. */
export interface Position {
  readonly side: Side
  readonly size: bigint
  readonly entry: bigint
  readonly leverage: bigint
}

/**
 * The price at which the margin of a position falls to what its tier requires, without fees and funding, in units of
 * 10^-30. Each tier requires its share of the value above its beginning, and what the tiers below require of the rest. Null
 * when no price does, or when the venue does not open the position.
 */
export const liquidationPrice = (
  tiers: ReadonlyArray<MarginTier>,
  { entry, leverage, side, size }: Position
): bigint | null => {
  const value = (size * entry) / ONE
  const opening = tierAt(tiers, value)
  if (opening === null || size <= 0n || leverage <= 0n || (value * opening.initial) / ONE > (value * ONE) / leverage) {
    return null
  }
  const margin = (value * ONE) / leverage
  let deduction = 0n
  for (const [place, { from, maintenance }] of tiers.entries()) {
    deduction += (from * (maintenance - (tiers[place - 1]?.maintenance ?? 0n))) / ONE
    // margin + size * (price - entry) = share * size * price - deduction, with the other sign for a seller.
    const price =
      side === "buy"
        ? ((value - margin - deduction) * ONE * ONE) / (size * (ONE - maintenance))
        : ((value + margin + deduction) * ONE * ONE) / (size * (ONE + maintenance))
    const at = (size * price) / ONE
    const end = tiers[place + 1]?.from ?? null
    if (price > 0n && at >= from && (end === null || at < end)) {
      return price
    }
  }
  return null
}
