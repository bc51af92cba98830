/** Raydium CLMM's tick grid: a ladder of Q64 factors. Prices above one are the inverse of prices below one. */
import type { PriceGrid } from "../math/concentrated.ts"
import { climb, tickBelow } from "../math/ticks.ts"

// 2^64 / 1.0001^(2^(i-1)) as in the program, truncated to fewer bits than Orca's.
const FACTORS = [
  0xfffcb933bd6fb800n,
  0xfff97272373d4000n,
  0xfff2e50f5f657000n,
  0xffe5caca7e10f000n,
  0xffcb9843d60f7000n,
  0xff973b41fa98e800n,
  0xff2ea16466c9b000n,
  0xfe5dee046a9a3800n,
  0xfcbe86c7900bb000n,
  0xf987a7253ac65800n,
  0xf3392b0822bb6000n,
  0xe7159475a2caf000n,
  0xd097f3bdfd2f2000n,
  0xa9f746462d9f8000n,
  0x70d869a156f31c00n,
  0x31be135f97ed3200n,
  0x9aa508b5b85a500n,
  0x5d6af8dedc582cn,
  0x2216e584f5fan
]

const MAX_U128 = 2n ** 128n - 1n

/** Square root of a tick's price, Q64.64. */
export const raydiumSqrtPriceAt = (tick: number): bigint => {
  const ratio = climb(FACTORS, tick, 64n)
  return tick > 0 ? MAX_U128 / ratio : ratio
}

/** The highest tick whose price is not above this one. */
export const raydiumTickAt = (sqrtPrice: bigint): number => tickBelow(raydiumSqrtPriceAt, sqrtPrice)

/** Without a price limit the program stops one unit before its final price, and then refuses a partial fill. */
export const raydiumGrid: PriceGrid = {
  sqrtPriceAt: raydiumSqrtPriceAt,
  lowestSqrtPrice: 4295048016n + 1n,
  highestSqrtPrice: 79226673521066979257578248091n - 1n,
  overflowsAt192Bits: false
}
