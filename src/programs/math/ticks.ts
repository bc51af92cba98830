/** Ticks and tick ladders that Raydium CLMM and Orca Whirlpool share. */

/** The highest tick of both programs: a price of about 2^64. */
export const MAX_TICK = 443_636

/** The lowest tick of both programs. */
export const MIN_TICK = -MAX_TICK

/** An initialized tick. Crossing it upwards adds `liquidityNet`; crossing it downwards removes it. */
export interface Tick {
  readonly index: number
  readonly liquidityNet: bigint
  /** Limit orders waiting at the tick, in units. */
  readonly orders: bigint
}

/** Integer division rounded towards minus infinity. The divisor is positive. */
export const floorDiv = (dividend: number, divisor: number): number => Math.floor(dividend / divisor)

/** Multiplies the factors whose bits are set in the tick. Each product is cut to `precision` fraction bits. */
export const climb = (factors: ReadonlyArray<bigint>, tick: number, precision: bigint): bigint => {
  let ratio = 1n << precision
  for (let bit = 0, rest = Math.abs(tick); rest !== 0; bit++, rest >>>= 1) {
    const factor = factors[bit]
    if ((rest & 1) === 1 && factor !== undefined) {
      ratio = (ratio * factor) >> precision
    }
  }
  return ratio
}

/**
 * The highest tick whose price is at most `sqrtPrice`. Prices rise strictly with ticks, so twenty halvings find it.
 */
export const tickBelow = (sqrtPriceAt: (tick: number) => bigint, sqrtPrice: bigint): number => {
  let low = MIN_TICK
  let high = MAX_TICK
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (sqrtPriceAt(middle) <= sqrtPrice) {
      low = middle
    } else {
      high = middle - 1
    }
  }
  return low
}

/**
 * True when the price is in the tick. The tick's upper end counts, because a downward crossing leaves the price
 * there.
 */
export const isInTick = (sqrtPriceAt: (tick: number) => bigint, tick: number, sqrtPrice: bigint): boolean =>
  tick >= MIN_TICK - 1 && tick <= MAX_TICK && sqrtPriceAt(tick) <= sqrtPrice && sqrtPrice <= sqrtPriceAt(tick + 1)

/** True when an initialized tick may be at this index. */
export const isOnGrid = (tick: number): boolean => tick >= MIN_TICK && tick <= MAX_TICK
