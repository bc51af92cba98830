/**
 * Prices one direction of a concentrated-liquidity pool. A quote takes one binary search and one partial step.
 *
 * Crossing a whole range costs the same, whatever the amount. The programs cross it when floor(rest·(1 - f)) >=
 * whole, and then take whole + ceil(whole·f / (1 - f)). Both conditions mean rest >= ceil(whole / (1 - f)). So the
 * cost is also the threshold, and cumulative sums of cost and output price every amount exactly. The table grows on
 * demand, up to the largest amount quoted so far.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import {
  amountOfA,
  amountOfB,
  FEE_DENOMINATOR,
  feeOnTop,
  feeWithin,
  isWide,
  lessFee,
  overflows,
  priceAfterAIn,
  priceAfterBIn
} from "./concentrated.ts"
import { type SwapPath, type LiquidityRange, liquidityRanges } from "./swapPath.ts"
import { maxBigInt, minBigInt } from "./integers.ts"
import { ordersIn, ordersOut, ordersPrice } from "./limitOrders.ts"
import { type Rate, type Swap, refused } from "../interface/Program.ts"

/** Quotes an exact input in one direction. The amount is positive and at most u64. */
type Quote = (amountIn: bigint) => Swap

/** One liquidity range, or the limit orders at its end, with cost and output. */
interface Segment {
  /** The largest total input that ends inside this segment. */
  readonly until: bigint
  readonly startIn: bigint
  readonly startOut: bigint
  /** Totals of a swap that crosses the segment. */
  readonly endIn: bigint
  readonly endOut: bigint
  /** Output for the input that is left at the start of the segment. `REFUSED` when the program overflows. */
  readonly outOf: (rest: bigint) => bigint
}

const REFUSED = MAX_U64 + 1n
const Q64 = 64n

/** Output of a range, less a fee on the output. The programs hold the output before the fee in 64 bits. */
const paidOf = (swapPath: SwapPath, gross: bigint, feeRate: bigint): bigint => {
  if (gross > MAX_U64) {
    return REFUSED
  }
  return swapPath.feeOnInput ? gross : gross - feeWithin(gross, feeRate)
}

const outDown = (swapPath: SwapPath, sqrtPrice: bigint, range: LiquidityRange, wide: boolean) => {
  const { liquidity, feeRate } = range
  const liquidityX64 = liquidity << Q64
  const refuses = wide && overflows(liquidity * sqrtPrice)
  return (rest: bigint): bigint => {
    const usable = swapPath.feeOnInput ? lessFee(rest, feeRate) : rest
    if (refuses && usable > 0n) {
      return REFUSED
    }
    const gross = amountOfB(liquidity, priceAfterAIn(liquidityX64, sqrtPrice, usable), sqrtPrice, false)
    return paidOf(swapPath, gross, feeRate)
  }
}

const outUp = (swapPath: SwapPath, sqrtPrice: bigint, range: LiquidityRange, wide: boolean) => {
  const { liquidity, feeRate } = range
  return (rest: bigint): bigint => {
    const usable = swapPath.feeOnInput ? lessFee(rest, feeRate) : rest
    const price = priceAfterBIn(liquidity, sqrtPrice, usable)
    if (wide && overflows(liquidity * (price - sqrtPrice))) {
      return REFUSED
    }
    return paidOf(swapPath, amountOfA(liquidity, sqrtPrice, price, false), feeRate)
  }
}

const rangeSegment = (
  swapPath: SwapPath,
  sqrtPrice: bigint,
  range: LiquidityRange,
  startIn: bigint,
  startOut: bigint
): Segment => {
  const { liquidity, feeRate, target } = range
  const wide = isWide(swapPath.grid, liquidity)
  const [low, high] = swapPath.down ? [target, sqrtPrice] : [sqrtPrice, target]
  const blocked = wide && overflows(liquidity * (high - low))
  if (blocked && swapPath.down) {
    return { until: MAX_U64, startIn, startOut, endIn: MAX_U64, endOut: REFUSED, outOf: () => REFUSED }
  }
  const whole = swapPath.down ? amountOfA(liquidity, low, high, true) : amountOfB(liquidity, low, high, true)
  const gross = swapPath.down ? amountOfB(liquidity, low, high, false) : amountOfA(liquidity, low, high, false)
  const endIn = startIn + whole + (swapPath.feeOnInput ? feeOnTop(whole, feeRate) : 0n)
  const endOut = blocked ? REFUSED : startOut + paidOf(swapPath, gross, feeRate)
  const outOf = (swapPath.down ? outDown : outUp)(swapPath, sqrtPrice, range, wide)
  return { until: endIn, startIn, startOut, endIn, endOut, outOf }
}

/**
 * Makes a segment of limit orders. A swap passes them only when its input would buy more than all of them, and then
 * pays the price of all of them. An input between these two amounts is taken whole, although it buys nothing more.
 */
const ordersSegment = (swapPath: SwapPath, range: LiquidityRange, startIn: bigint, startOut: bigint): Segment => {
  const { feeRate, orders, target } = range
  const price = ordersPrice(swapPath.down, target)
  const net = (gross: bigint) => (swapPath.feeOnInput ? gross : gross - feeWithin(gross, feeRate))
  const whole = ordersIn(swapPath.down, price, orders)
  const beyond = ordersIn(swapPath.down, price, orders + 1n)
  const cost = whole + (swapPath.feeOnInput ? feeOnTop(whole, feeRate) : 0n)
  const threshold = beyond + (swapPath.feeOnInput ? feeOnTop(beyond, feeRate) : 0n)
  return {
    until: startIn + maxBigInt(threshold - 1n, cost),
    startIn,
    startOut,
    endIn: startIn + cost,
    endOut: startOut + net(orders),
    outOf: (rest) =>
      net(minBigInt(ordersOut(swapPath.down, price, swapPath.feeOnInput ? lessFee(rest, feeRate) : rest), orders))
  }
}

/** Index of the first segment that an input of this size does not cross; the length when it crosses all. */
const find = (segments: ReadonlyArray<Segment>, amountIn: bigint): number => {
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const segment = segments[middle]
    if (segment !== undefined && segment.until < amountIn) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}

const swapIn = (segment: Segment, amountIn: bigint): Swap => {
  const amountOut =
    amountIn === segment.until ? segment.endOut : segment.startOut + segment.outOf(amountIn - segment.startIn)
  return amountOut > MAX_U64 ? refused : { ending: "filled", amountIn, amountOut }
}

/** Quotes for one direction. */
export interface PriceTable {
  readonly quote: Quote
  /** Slope at zero: the price at the first liquidity, less the fee there. */
  readonly marginalRate: () => Rate
}

const slopeAt = ({ down }: SwapPath, sqrtPrice: bigint, feeRate: bigint): Rate => {
  const square = sqrtPrice * sqrtPrice
  const kept = FEE_DENOMINATOR - feeRate
  return down
    ? { numerator: square * kept, denominator: FEE_DENOMINATOR << 128n }
    : { numerator: kept << 128n, denominator: square * FEE_DENOMINATOR }
}

const slopeOf = (swapPath: SwapPath): Rate => {
  let { sqrtPrice } = swapPath
  for (const range of liquidityRanges(swapPath)) {
    if (range.liquidity > 0n && range.target !== sqrtPrice) {
      return slopeAt(swapPath, sqrtPrice, range.feeRate)
    }
    sqrtPrice = range.target
  }
  return slopeAt(
    swapPath,
    swapPath.sqrtPrice,
    swapPath.fee().rateToward(swapPath.sqrtPrice, swapPath.liquidity).feeRate
  )
}

/** The segments computed so far, and the remaining ranges. */
interface TableState {
  readonly segments: Array<Segment>
  readonly ranges: Iterator<LiquidityRange, void>
  sqrtPrice: bigint
  last: Segment | null
  /** True when there are no more segments: the swap path ended, or sums exceeded u64. */
  ended: boolean
}

const append = (table: TableState, segment: Segment): void => {
  table.segments.push(segment)
  table.last = segment
  table.ended = segment.endIn > MAX_U64 || segment.endOut > MAX_U64
}

const grow = (swapPath: SwapPath, table: TableState): void => {
  const { done, value: range } = table.ranges.next()
  if (done === true) {
    table.ended = true
    return
  }
  append(table, rangeSegment(swapPath, table.sqrtPrice, range, table.last?.endIn ?? 0n, table.last?.endOut ?? 0n))
  table.sqrtPrice = range.target
  if (range.orders > 0n && !table.ended) {
    append(table, ordersSegment(swapPath, range, table.last?.endIn ?? 0n, table.last?.endOut ?? 0n))
  }
}

const makeQuote = (swapPath: SwapPath): Quote => {
  const { sqrtPrice } = swapPath
  const table: TableState = { segments: [], ranges: liquidityRanges(swapPath), sqrtPrice, last: null, ended: false }
  return (amountIn) => {
    while (!table.ended && (table.last === null || table.last.until < amountIn)) {
      grow(swapPath, table)
    }
    const { last, segments } = table
    const segment = segments[find(segments, amountIn)]
    if (segment !== undefined) {
      return swapIn(segment, amountIn)
    }
    if (last === null) {
      return { ending: "exhausted", amountIn: 0n, amountOut: 0n }
    }
    return last.endOut > MAX_U64 ? refused : { ending: "exhausted", amountIn: last.endIn, amountOut: last.endOut }
  }
}

/** Makes the price table of a swap path. It caches segments, so it is valid only while the pool does not change. */
export const makePriceTable = (swapPath: SwapPath): PriceTable => {
  const quote = makeQuote(swapPath)
  let rate: Rate | undefined
  return { quote, marginalRate: () => (rate ??= slopeOf(swapPath)) }
}
