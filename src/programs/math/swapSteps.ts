/** A swap step by step, as the programs run it: the reference that price tables are checked against, and the way to move a pool. */
import { MAX_U64 } from "../../domain/Amount.ts"
import { feeOnTop, feeWithin, grossOf, lessFee, step } from "./concentrated.ts"
import { across, boundaries, clampToLimit, type SwapPath, type FeeSchedule } from "./swapPath.ts"
import { minBigInt } from "./integers.ts"
import { ordersIn, ordersOut, ordersPrice } from "./limitOrders.ts"
import type { Swap } from "../Program.ts"
import { type Tick, tickBelow } from "./ticks.ts"

/** A swap and the pool it leaves behind. Amounts are the pool's: no transfer fee is in them. */
export interface Traversal extends Swap {
  readonly sqrtPrice: bigint
  readonly tick: number
  readonly liquidity: bigint
  /** Fees that stay with liquidity providers. */
  readonly lpFee: bigint
  /** One sum for each cut of the swap path, in its order. */
  readonly cuts: ReadonlyArray<bigint>
  /** What the pool's global fee growth of the fee's token gains, Q64.64 per unit of liquidity. */
  readonly feeGrowth: bigint
  /** Limit orders taken, by tick, in units of the output token before fees. */
  readonly ordersTaken: ReadonlyMap<number, bigint>
}

interface Walk {
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

interface Order {
  readonly swapPath: SwapPath
  readonly exactIn: boolean
  readonly fee: FeeSchedule
}

const splitFee = ({ swapPath }: Order, walk: Walk, fee: bigint): void => {
  let rest = fee
  swapPath.cuts.forEach(({ rate, scale }, i) => {
    const cut = (fee * rate) / scale
    walk.cuts[i] = (walk.cuts[i] ?? 0n) + cut
    rest -= cut
  })
  if (walk.liquidity > 0n) {
    walk.lpFee += rest
    walk.feeGrowth += (rest << 64n) / walk.liquidity
  } else {
    walk.cuts[0] = (walk.cuts[0] ?? 0n) + rest
  }
}

const apply = (order: Order, walk: Walk, amountIn: bigint, amountOut: bigint, fee: bigint): void => {
  const taken = order.swapPath.feeOnInput ? amountIn + fee : amountIn
  walk.remaining -= order.exactIn ? taken : amountOut
  walk.calculated += order.exactIn ? amountOut : taken
  splitFee(order, walk, fee)
}

/** What orders at a price take, pay and cost: input without a fee on it, output with a fee still in it. */
interface Match {
  readonly amountIn: bigint
  readonly gross: bigint
  readonly fee: bigint
}

/** Orders that the price has reached. */
interface Resting {
  readonly orders: bigint
  /** Q64.64 of B per A, rounded for the direction. */
  readonly price: bigint
  readonly feeRate: bigint
}

const matchIn = ({ down, feeOnInput }: SwapPath, remaining: bigint, { feeRate, orders, price }: Resting): Match => {
  const usable = feeOnInput ? lessFee(remaining, feeRate) : remaining
  const bought = ordersOut(down, price, usable)
  const gross = minBigInt(bought, orders)
  const amountIn = bought > orders ? ordersIn(down, price, orders) : usable
  if (!feeOnInput) {
    return { amountIn, gross, fee: feeWithin(gross, feeRate) }
  }
  return { amountIn, gross, fee: bought > orders ? feeOnTop(amountIn, feeRate) : remaining - usable }
}

const matchOut = ({ down, feeOnInput }: SwapPath, remaining: bigint, { feeRate, orders, price }: Resting): Match => {
  const net = minBigInt(remaining, orders)
  const gross = feeOnInput ? net : minBigInt(grossOf(net, feeRate), orders)
  const amountIn = ordersIn(down, price, gross)
  return { amountIn, gross, fee: feeOnInput ? feeOnTop(amountIn, feeRate) : feeWithin(gross, feeRate) }
}

/** Takes orders resting at the tick that the price has just reached. */
const takeOrders = (order: Order, walk: Walk, { index, orders }: Tick, feeRate: bigint): void => {
  const { swapPath, exactIn } = order
  if (walk.remaining === 0n || orders === 0n) {
    return
  }
  const resting = { orders, price: ordersPrice(swapPath.down, walk.sqrtPrice), feeRate }
  const { amountIn, fee, gross } = (exactIn ? matchIn : matchOut)(swapPath, walk.remaining, resting)
  walk.ordersTaken.set(index, gross)
  apply(order, walk, amountIn, swapPath.feeOnInput ? gross : gross - fee, fee)
}

const reach = (order: Order, walk: Walk, tick: Tick, feeRate: bigint): void => {
  const { swapPath } = order
  takeOrders(order, walk, tick, feeRate)
  const resting = tick.orders > (walk.ordersTaken.get(tick.index) ?? 0n)
  if (!resting) {
    walk.liquidity = across(swapPath, walk.liquidity, tick)
  }
  walk.tick = swapPath.down === resting ? tick.index : tick.index - 1
}

/** One tick's stretch, in as many steps as its fee changes; false when the program refuses. */
const walkTo = (order: Order, walk: Walk, tick: Tick): boolean => {
  const { swapPath, exactIn, fee } = order
  const { down, feeOnInput, rules } = swapPath
  const tickPrice = rules.sqrtPriceAt(tick.index)
  const target = clampToLimit(swapPath, tickPrice)
  // Crossed liquidity counts from the next tick on; the fee's rules still see that of this stretch.
  const { liquidity } = walk
  do {
    const { feeRate, until } = fee.holds(target, liquidity)
    const { sqrtPrice } = walk
    const stretch = { down, feeOnInput, feeRate, liquidity, sqrtPrice, target: until }
    const moved = step(rules, stretch, walk.remaining, exactIn)
    if (moved === null) {
      return false
    }
    apply(order, walk, moved.amountIn, moved.amountOut, moved.fee)
    walk.sqrtPrice = moved.sqrtPrice
    if (moved.sqrtPrice === tickPrice) {
      reach(order, walk, tick, feeRate)
    } else if (moved.sqrtPrice !== sqrtPrice) {
      walk.tick = tickBelow(rules.sqrtPriceAt, moved.sqrtPrice)
    }
    fee.moved(moved.sqrtPrice, tick.index, tickPrice)
  } while (walk.remaining > 0n && walk.sqrtPrice !== target)
  return walk.calculated <= MAX_U64 && walk.liquidity >= 0n
}

const result = ({ swapPath, exactIn }: Order, amount: bigint, walk: Walk, ending: Swap["ending"]): Traversal => {
  const { calculated, remaining, ...state } = walk
  const specified = amount - remaining
  if (ending !== "refused") {
    return { ...state, ending, amountIn: exactIn ? specified : calculated, amountOut: exactIn ? calculated : specified }
  }
  const { liquidity, sqrtPrice, tick } = swapPath
  const nothing = { amountIn: 0n, amountOut: 0n, lpFee: 0n, cuts: [], feeGrowth: 0n, ordersTaken: new Map() }
  return { ending, sqrtPrice, tick, liquidity, ...nothing }
}

/**
 * Swaps `amount` units in (or, with `exactIn` false, out) through the swap path. Exhausted when its ticks end first, or the
 * price reaches the program's last one; refused when the program overflows, and then nothing moves.
 */
export const swapSteps = (swapPath: SwapPath, amount: bigint, exactIn = true): Traversal => {
  const order: Order = { swapPath, exactIn, fee: swapPath.fee() }
  const { liquidity, rules, sqrtPrice, tick } = swapPath
  const limit = swapPath.down ? rules.lowestSqrtPrice : rules.highestSqrtPrice
  const start = { sqrtPrice, tick, liquidity, lpFee: 0n, feeGrowth: 0n, ordersTaken: new Map() }
  const walk: Walk = { ...start, remaining: amount, calculated: 0n, cuts: swapPath.cuts.map(() => 0n) }
  for (const next of boundaries(swapPath)) {
    if (walk.remaining === 0n || walk.sqrtPrice === limit) {
      break
    }
    if (!walkTo(order, walk, next)) {
      return result(order, amount, walk, "refused")
    }
  }
  return result(order, amount, walk, walk.remaining === 0n ? "filled" : "exhausted")
}
