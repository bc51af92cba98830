/** One direction of a concentrated-liquidity pool: ticks, fee and final price. */
import type { PriceGrid } from "./concentrated.ts"
import type { Tick } from "./ticks.ts"

/** A fee that may change as the price moves. It has state: use one instance per swap. */
export interface FeeSchedule {
  /** The rate in millionths from here on, and how far towards `target` it applies. */
  readonly rateToward: (target: bigint, liquidity: bigint) => { readonly feeRate: bigint; readonly until: bigint }
  /** Reports the price after a step. `tick` is the tick that the step aimed at, `tickPrice` its price. */
  readonly priceMoved: (sqrtPrice: bigint, tick: number, tickPrice: bigint) => void
}

/** A share of every fee that does not go to liquidity providers. Rounded down at each step. */
interface FeeCut {
  readonly rate: bigint
  readonly scale: bigint
}

/** One direction of a pool at one moment. */
export interface SwapPath {
  readonly grid: PriceGrid
  /** True for A to B, where the price falls. */
  readonly down: boolean
  readonly feeOnInput: boolean
  readonly sqrtPrice: bigint
  /** The tick in the pool account. After a downward crossing it is one below the tick of the price. */
  readonly tick: number
  readonly liquidity: bigint
  /** Initialized ticks in the order that the price meets them, as far as they are known. */
  readonly ticks: ReadonlyArray<Tick>
  /** An uninitialized tick beyond all others, where the program still ends a step. */
  readonly edge: number | null
  /** True when there is no liquidity beyond the ticks. */
  readonly isWhole?: boolean
  readonly fee: () => FeeSchedule
  readonly cuts: ReadonlyArray<FeeCut>
}

/** Constant liquidity up to `target`, followed by the limit orders there. */
export interface LiquidityRange {
  readonly target: bigint
  readonly liquidity: bigint
  /** Millionths. */
  readonly feeRate: bigint
  /** Limit orders at `target`, in units of the output token. */
  readonly orders: bigint
}

/** A fee that never changes, in millionths. */
export const staticFee =
  (feeRate: bigint): (() => FeeSchedule) =>
  () => ({ rateToward: (target) => ({ feeRate, until: target }), priceMoved: () => {} })

/** The ticks of a swap path, followed by its edge. */
export const ticksWithEdge = (swapPath: SwapPath): ReadonlyArray<Tick> =>
  swapPath.edge === null ? swapPath.ticks : [...swapPath.ticks, { index: swapPath.edge, liquidityNet: 0n, orders: 0n }]

/** Limits a tick's price to the program's final price in this direction. */
export const clampToLastPrice = ({ down, grid }: SwapPath, tickPrice: bigint): bigint => {
  if (down) {
    return tickPrice < grid.lowestSqrtPrice ? grid.lowestSqrtPrice : tickPrice
  }
  return tickPrice > grid.highestSqrtPrice ? grid.highestSqrtPrice : tickPrice
}

/** The active liquidity after crossing a tick. */
export const liquidityBeyond = ({ down }: SwapPath, liquidity: bigint, tick: Tick): bigint =>
  down ? liquidity - tick.liquidityNet : liquidity + tick.liquidityNet

/**
 * The ranges of a swap path in order, computed on demand. They end with the ticks, or at the program's final price.
 */
export function* liquidityRanges(swapPath: SwapPath): Generator<LiquidityRange, void> {
  const fee = swapPath.fee()
  let { liquidity, sqrtPrice } = swapPath
  for (const tick of ticksWithEdge(swapPath)) {
    const tickPrice = swapPath.grid.sqrtPriceAt(tick.index)
    const target = clampToLastPrice(swapPath, tickPrice)
    do {
      const { feeRate, until } = fee.rateToward(target, liquidity)
      sqrtPrice = until
      yield { target: until, liquidity, feeRate, orders: until === tickPrice ? tick.orders : 0n }
      fee.priceMoved(until, tick.index, tickPrice)
    } while (sqrtPrice !== target)
    liquidity = liquidityBeyond(swapPath, liquidity, tick)
    // The path ends at a tick beyond the final price, or at a tick that removes more liquidity than there is.
    if (target !== tickPrice || liquidity < 0n) {
      return
    }
  }
}
