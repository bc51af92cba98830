/**
 * Runs a swap step by step, as the programs do. It computes a pool's state after a swap, and tests compare price
 * tables with it.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import { feeOnTop, feeWithin, grossOf, lessFee, swapStep } from "./concentrated.ts"
import { liquidityBeyond, ticksWithEdge, clampToLastPrice, type SwapPath, type FeeSchedule } from "./swapPath.ts"
import { minBigInt } from "./integers.ts"
import { ordersIn, ordersOut, ordersPrice } from "./limitOrders.ts"
import type { Swap } from "../interface/Program.ts"
import { type Tick, tickBelow } from "./ticks.ts"

/** A swap and the pool's state after it. Amounts are what the pool sees, without transfer fees. */
export interface SwapResult extends Swap {
  readonly sqrtPrice: bigint
  readonly tick: number
  readonly liquidity: bigint
  /** Fees that stay with liquidity providers. */
  readonly lpFee: bigint
  /** One sum per cut of the swap path, in the same order. */
  readonly cuts: ReadonlyArray<bigint>
  /** How much the pool's global fee growth rises, in the fee's token, Q64.64 per unit of liquidity. */
  readonly feeGrowth: bigint
  /** Limit orders filled at each tick, in units of the output token before fees. */
  readonly ordersTaken: ReadonlyMap<number, bigint>
}

interface SwapState {
  remaining: bigint
  calculated: bigint
  sqrtPrice: bigint
  tick: number
  liquidity: bigint
  lpFee: bigint
  feeGrowth: bigint
  readonly cuts: Array<bigint>
  readonly ordersTaken: Map<number, bigint>
}

interface SwapRequest {
  readonly swapPath: SwapPath
  readonly exactIn: boolean
  readonly fee: FeeSchedule
}

const distributeFee = ({ swapPath }: SwapRequest, state: SwapState, fee: bigint): void => {
  let rest = fee
  swapPath.cuts.forEach(({ rate, scale }, i) => {
    const cut = (fee * rate) / scale
    state.cuts[i] = (state.cuts[i] ?? 0n) + cut
    rest -= cut
  })
  if (state.liquidity > 0n) {
    state.lpFee += rest
    state.feeGrowth += (rest << 64n) / state.liquidity
  } else {
    state.cuts[0] = (state.cuts[0] ?? 0n) + rest
  }
}

const apply = (request: SwapRequest, state: SwapState, amountIn: bigint, amountOut: bigint, fee: bigint): void => {
  const taken = request.swapPath.feeOnInput ? amountIn + fee : amountIn
  state.remaining -= request.exactIn ? taken : amountOut
  state.calculated += request.exactIn ? amountOut : taken
  distributeFee(request, state, fee)
}

/** Limit orders filled at one price. `amountIn` excludes a fee on the input, `gross` includes a fee on the output. */
interface OrderFill {
  readonly amountIn: bigint
  readonly gross: bigint
  readonly fee: bigint
}

/** The limit orders at the price that was just reached. */
interface RestingOrders {
  readonly orders: bigint
  /** Q64.64 of B per A, rounded for the direction. */
  readonly price: bigint
  readonly feeRate: bigint
}

const fillExactIn = (
  { down, feeOnInput }: SwapPath,
  remaining: bigint,
  { feeRate, orders, price }: RestingOrders
): OrderFill => {
  const usable = feeOnInput ? lessFee(remaining, feeRate) : remaining
  const bought = ordersOut(down, price, usable)
  const gross = minBigInt(bought, orders)
  const amountIn = bought > orders ? ordersIn(down, price, orders) : usable
  if (!feeOnInput) {
    return { amountIn, gross, fee: feeWithin(gross, feeRate) }
  }
  return { amountIn, gross, fee: bought > orders ? feeOnTop(amountIn, feeRate) : remaining - usable }
}

const fillExactOut = (
  { down, feeOnInput }: SwapPath,
  remaining: bigint,
  { feeRate, orders, price }: RestingOrders
): OrderFill => {
  const net = minBigInt(remaining, orders)
  const gross = feeOnInput ? net : minBigInt(grossOf(net, feeRate), orders)
  const amountIn = ordersIn(down, price, gross)
  return { amountIn, gross, fee: feeOnInput ? feeOnTop(amountIn, feeRate) : feeWithin(gross, feeRate) }
}

/** Fills limit orders at the tick that the price has just reached. */
const takeOrders = (request: SwapRequest, state: SwapState, { index, orders }: Tick, feeRate: bigint): void => {
  const { swapPath, exactIn } = request
  if (state.remaining === 0n || orders === 0n) {
    return
  }
  const resting = { orders, price: ordersPrice(swapPath.down, state.sqrtPrice), feeRate }
  const { amountIn, fee, gross } = (exactIn ? fillExactIn : fillExactOut)(swapPath, state.remaining, resting)
  state.ordersTaken.set(index, gross)
  apply(request, state, amountIn, swapPath.feeOnInput ? gross : gross - fee, fee)
}

const crossTick = (request: SwapRequest, state: SwapState, tick: Tick, feeRate: bigint): void => {
  const { swapPath } = request
  takeOrders(request, state, tick, feeRate)
  const resting = tick.orders > (state.ordersTaken.get(tick.index) ?? 0n)
  if (!resting) {
    state.liquidity = liquidityBeyond(swapPath, state.liquidity, tick)
  }
  state.tick = swapPath.down === resting ? tick.index : tick.index - 1
}

/** Swaps up to a tick, with one step for each change of the fee. Returns false when the program refuses. */
const swapToTick = (request: SwapRequest, state: SwapState, tick: Tick): boolean => {
  const { swapPath, exactIn, fee } = request
  const { down, feeOnInput, grid } = swapPath
  const tickPrice = grid.sqrtPriceAt(tick.index)
  const target = clampToLastPrice(swapPath, tickPrice)
  // The liquidity of a crossed tick counts from the next tick on. Within this range the fee schedule uses the old
  // liquidity.
  const { liquidity } = state
  do {
    const { feeRate, until } = fee.rateToward(target, liquidity)
    const { sqrtPrice } = state
    const range = { down, feeOnInput, feeRate, liquidity, sqrtPrice, target: until }
    const moved = swapStep(grid, range, state.remaining, exactIn)
    if (moved === null) {
      return false
    }
    apply(request, state, moved.amountIn, moved.amountOut, moved.fee)
    state.sqrtPrice = moved.sqrtPrice
    if (moved.sqrtPrice === tickPrice) {
      crossTick(request, state, tick, feeRate)
    } else if (moved.sqrtPrice !== sqrtPrice) {
      state.tick = tickBelow(grid.sqrtPriceAt, moved.sqrtPrice)
    }
    fee.priceMoved(moved.sqrtPrice, tick.index, tickPrice)
  } while (state.remaining > 0n && state.sqrtPrice !== target)
  return state.calculated <= MAX_U64 && state.liquidity >= 0n
}

const result = (
  { swapPath, exactIn }: SwapRequest,
  amount: bigint,
  state: SwapState,
  ending: Swap["ending"]
): SwapResult => {
  const { calculated, remaining, ...rest } = state
  const specified = amount - remaining
  if (ending !== "refused") {
    return { ...rest, ending, amountIn: exactIn ? specified : calculated, amountOut: exactIn ? calculated : specified }
  }
  const { liquidity, sqrtPrice, tick } = swapPath
  const nothing = { amountIn: 0n, amountOut: 0n, lpFee: 0n, cuts: [], feeGrowth: 0n, ordersTaken: new Map() }
  return { ending, sqrtPrice, tick, liquidity, ...nothing }
}

/**
 * Swaps `amount` units in (or out, when `exactIn` is false) along the swap path. Exhausted when the ticks end first,
 * or when the price reaches the program's final price. Refused, with zero amounts, when the program overflows.
 */
export const swapSteps = (swapPath: SwapPath, amount: bigint, exactIn = true): SwapResult => {
  const request: SwapRequest = { swapPath, exactIn, fee: swapPath.fee() }
  const { liquidity, grid, sqrtPrice, tick } = swapPath
  const limit = swapPath.down ? grid.lowestSqrtPrice : grid.highestSqrtPrice
  const start = { sqrtPrice, tick, liquidity, lpFee: 0n, feeGrowth: 0n, ordersTaken: new Map() }
  const state: SwapState = { ...start, remaining: amount, calculated: 0n, cuts: swapPath.cuts.map(() => 0n) }
  for (const next of ticksWithEdge(swapPath)) {
    if (state.remaining === 0n || state.sqrtPrice === limit) {
      break
    }
    if (!swapToTick(request, state, next)) {
      return result(request, amount, state, "refused")
    }
  }
  return result(request, amount, state, state.remaining === 0n ? "filled" : "exhausted")
}
