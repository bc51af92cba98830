/** The way a price goes in one direction of a concentrated-liquidity pool: its ticks, its fee, and where it ends. */
import type { StepRules } from "./concentrated.ts"
import type { Tick } from "./ticks.ts"

/** A fee that may change as the price moves. It has a memory: one per walk. */
export interface FeeSchedule {
  /** Rate in millionths from here on, and how far towards `target` it holds. */
  readonly holds: (target: bigint, liquidity: bigint) => { readonly feeRate: bigint; readonly until: bigint }
  /** Tells the fee that the price moved there; `tick` is the tick it was heading for, at `tickPrice`. */
  readonly moved: (sqrtPrice: bigint, tick: number, tickPrice: bigint) => void
}

/** A share of every fee that does not go to liquidity providers, rounded down per step. */
interface FeeCut {
  readonly rate: bigint
  readonly scale: bigint
}

/** One direction of a pool at one moment. */
export interface SwapPath {
  readonly rules: StepRules
  /** Down is A to B: the price falls. */
  readonly down: boolean
  readonly feeOnInput: boolean
  readonly sqrtPrice: bigint
  /** The tick the pool says it is at; after a downward crossing it is one below its price. */
  readonly tick: number
  readonly liquidity: bigint
  /** Initialized ticks in the order the price meets them, as far as they are known. */
  readonly ticks: ReadonlyArray<Tick>
  /** An uninitialized tick at which the program still ends a step, behind all others. */
  readonly edge: number | null
  readonly fee: () => FeeSchedule
  readonly cuts: ReadonlyArray<FeeCut>
}

/** What a swap meets next once it has passed everything before: liquidity up to `target`, then orders resting there. */
export interface Leg {
  readonly target: bigint
  readonly liquidity: bigint
  /** Millionths. */
  readonly feeRate: bigint
  /** Units of the output token in limit orders at `target`. */
  readonly orders: bigint
}

/** A fee that never changes, in millionths. */
export const staticFee =
  (feeRate: bigint): (() => FeeSchedule) =>
  () => ({ holds: (target) => ({ feeRate, until: target }), moved: () => {} })

/** The ticks of a swap path, its edge last. */
export const boundaries = (swapPath: SwapPath): ReadonlyArray<Tick> =>
  swapPath.edge === null ? swapPath.ticks : [...swapPath.ticks, { index: swapPath.edge, liquidityNet: 0n, orders: 0n }]

/** Where the price may go on the way to a tick: the program's last price at most. */
export const clampToLimit = ({ down, rules }: SwapPath, tickPrice: bigint): bigint => {
  if (down) {
    return tickPrice < rules.lowestSqrtPrice ? rules.lowestSqrtPrice : tickPrice
  }
  return tickPrice > rules.highestSqrtPrice ? rules.highestSqrtPrice : tickPrice
}

/** Active liquidity behind a tick. */
export const across = ({ down }: SwapPath, liquidity: bigint, tick: Tick): bigint =>
  down ? liquidity - tick.liquidityNet : liquidity + tick.liquidityNet

/** Every leg of the swap path in order, worked out as it is asked for. Ends where the ticks do, or the program's prices. */
export function* legsOf(swapPath: SwapPath): Generator<Leg, void> {
  const fee = swapPath.fee()
  let { liquidity, sqrtPrice } = swapPath
  for (const tick of boundaries(swapPath)) {
    const tickPrice = swapPath.rules.sqrtPriceAt(tick.index)
    const target = clampToLimit(swapPath, tickPrice)
    do {
      const { feeRate, until } = fee.holds(target, liquidity)
      sqrtPrice = until
      yield { target: until, liquidity, feeRate, orders: until === tickPrice ? tick.orders : 0n }
      fee.moved(until, tick.index, tickPrice)
    } while (sqrtPrice !== target)
    liquidity = across(swapPath, liquidity, tick)
    // A tick past the last price, or a tick that takes away more than there is, ends the way.
    if (target !== tickPrice || liquidity < 0n) {
      return
    }
  }
}
