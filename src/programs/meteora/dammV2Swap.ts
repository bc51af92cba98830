/** Swaps of a DAMM v2 pool: MeteoraAg/damm-v2, programs/cp-amm/src/{state/pool.rs,liquidity_handler} at a3d3827. */
import { MAX_U64 } from "../../domain/Amount.ts"
import { BPS } from "../../domain/units.ts"
import { COMPOUNDING, type DammV2BaseFee, type DammV2State } from "./dammV2State.ts"
import { maxBigInt, minBigInt, squareRoot } from "../math/integers.ts"
import { productInputTo, sqrtPriceTo } from "../math/priceMove.ts"
import type { Rate } from "../interface/Program.ts"
import { amountA, amountB, priceAfterA, priceAfterB } from "./curve.ts"
import type { Fill } from "./fill.ts"
import { FEE_DENOMINATOR, limitedRate, limitedRateOfNet, scheduledRate, withFee, withoutFee } from "./fees.ts"
import { volatilityAfter, volatilityRate } from "./volatility.ts"

/** An amount before or after the fee on the input. */
interface Charged {
  readonly amount: bigint
  readonly feeIncluded: boolean
}

/** True when the fee is taken from the input. */
const feeOnInput = (state: DammV2State, aToB: boolean): boolean => state.collectFeeMode > 0 && !aToB

const periodsByPrice = (fee: DammV2BaseFee & { kind: "marketCap" }, sqrtPrice: bigint): bigint | null => {
  if (sqrtPrice <= fee.initialSqrtPrice) {
    return 0n
  }
  if (fee.initialSqrtPrice === 0n || fee.stepBps === 0n) {
    return null
  }
  return ((sqrtPrice - fee.initialSqrtPrice) * BPS) / fee.initialSqrtPrice / fee.stepBps
}

const periodsPassed = (state: DammV2State, point: bigint): bigint | null => {
  const { activationPoint, baseFee: fee } = state
  if (fee.kind === "limiter") {
    return null
  }
  if (point < activationPoint) {
    return fee.schedule.periods
  }
  if (fee.kind === "marketCap") {
    const expired = point > activationPoint + fee.duration
    return expired ? fee.schedule.periods : periodsByPrice(fee, state.sqrtPrice)
  }
  return fee.pointsPerPeriod === 0n ? 0n : (point - activationPoint) / fee.pointsPerPeriod
}

const baseRate = (state: DammV2State, aToB: boolean, point: bigint, charged: Charged): bigint | null => {
  const { activationPoint, baseFee: fee } = state
  if (fee.kind !== "limiter") {
    const passed = periodsPassed(state, point)
    return passed === null ? null : scheduledRate(fee.schedule, passed)
  }
  const { limiter } = fee
  const idle = limiter.reference === 0n && limiter.increment === 0n && limiter.maximum === 0n && fee.duration === 0n
  if (idle || aToB || point < activationPoint || point > activationPoint + fee.duration) {
    return limiter.cliff
  }
  return charged.feeIncluded ? limitedRate(limiter, charged.amount) : limitedRateOfNet(limiter, charged.amount)
}

/**
 * The same pool with its base fee fixed to the value at `point`, so that a schedule is evaluated once instead of at
 * every swap. A limiter, and a schedule that overflows, are kept.
 */
export const dammV2AtPoint = (state: DammV2State, point: bigint): DammV2State => {
  const passed = periodsPassed(state, point)
  const { baseFee } = state
  const cliff = passed === null || baseFee.kind === "limiter" ? null : scheduledRate(baseFee.schedule, passed)
  return cliff === null
    ? state
    : {
        ...state,
        baseFee: {
          kind: "time",
          schedule: { cliff, periods: 0n, reduction: 0n, exponential: false },
          pointsPerPeriod: 0n
        }
      }
}

/** The capped fee rate for an amount at a point. Null when the program overflows. */
const dammV2Rate = (state: DammV2State, aToB: boolean, point: bigint, charged: Charged): bigint | null => {
  const base = baseRate(state, aToB, point, charged)
  return base === null ? null : minBigInt(base + volatilityRate(state.rules, state.volatility), state.rateCap)
}

const constantProduct = ({ amountA: a, amountB: b }: DammV2State, aToB: boolean, net: bigint): bigint =>
  aToB ? (b * net) / (a + net) : (a * net) / (b + net)

const concentrated = (state: DammV2State, aToB: boolean, sqrtPrice: bigint): bigint =>
  aToB
    ? amountB(sqrtPrice, state.sqrtPrice, state.liquidity, false)
    : amountA(state.sqrtPrice, sqrtPrice, state.liquidity, false)

const reserveOut = (state: DammV2State, aToB: boolean): bigint => (aToB ? state.amountB : state.amountA)

const fillOf = (
  state: DammV2State,
  aToB: boolean,
  rate: bigint,
  taken: Pick<Fill, "amountIn" | "netIn" | "sqrtPrice">
): Fill | null => {
  const grossOut =
    state.collectFeeMode === COMPOUNDING
      ? constantProduct(state, aToB, taken.netIn)
      : concentrated(state, aToB, taken.sqrtPrice)
  if (grossOut > MAX_U64 || (state.countsAmounts && grossOut > reserveOut(state, aToB))) {
    return null
  }
  const onInput = feeOnInput(state, aToB)
  const amountOut = onInput ? grossOut : withoutFee(grossOut, rate)
  return { ...taken, grossOut, amountOut, fee: onInput ? taken.amountIn - taken.netIn : grossOut - amountOut }
}

/** Where an input moves the price, within the program's price limits. */
type Reached = { readonly sqrtPrice: bigint } | "outOfRange" | "overflow"

const reach = (state: DammV2State, aToB: boolean, net: bigint): Reached => {
  if (state.collectFeeMode === COMPOUNDING) {
    return (aToB ? state.amountA : state.amountB) + net > MAX_U64 ? "overflow" : { sqrtPrice: state.sqrtPrice }
  }
  if (state.liquidity === 0n) {
    return "outOfRange"
  }
  const sqrtPrice = (aToB ? priceAfterA : priceAfterB)(state.sqrtPrice, state.liquidity, net)
  const inRange = aToB ? sqrtPrice >= state.sqrtMinPrice : sqrtPrice <= state.sqrtMaxPrice
  return inRange ? { sqrtPrice } : "outOfRange"
}

/** The part of an input that moves the price to its limit, computed like the program's partial fill. */
const fillToLimit = (state: DammV2State, aToB: boolean, point: bigint, rate: bigint): Fill | null => {
  const { liquidity, sqrtMaxPrice, sqrtMinPrice, sqrtPrice } = state
  const limit = aToB ? sqrtMinPrice : sqrtMaxPrice
  const netIn = aToB ? amountA(limit, sqrtPrice, liquidity, true) : amountB(sqrtPrice, limit, liquidity, true)
  if (!feeOnInput(state, aToB)) {
    return fillOf(state, aToB, rate, { amountIn: netIn, netIn, sqrtPrice: limit })
  }
  const netRate = dammV2Rate(state, aToB, point, { amount: netIn, feeIncluded: false })
  return netRate === null
    ? null
    : fillOf(state, aToB, netRate, { amountIn: withFee(netIn, netRate), netIn, sqrtPrice: limit })
}

/** Swaps an input at a point. Takes all or part of it. Null when the program refuses. */
export const fillDammV2 = (
  state: DammV2State,
  aToB: boolean,
  amountIn: bigint,
  point: bigint
): (Fill & { readonly complete: boolean }) | null => {
  if (point < state.activationPoint || amountIn === 0n) {
    return null
  }
  const rate = dammV2Rate(state, aToB, point, { amount: amountIn, feeIncluded: true })
  if (rate === null) {
    return null
  }
  const netIn = feeOnInput(state, aToB) ? withoutFee(amountIn, rate) : amountIn
  const reached = reach(state, aToB, netIn)
  if (reached === "overflow") {
    return null
  }
  const complete = reached !== "outOfRange"
  const fill = complete
    ? fillOf(state, aToB, rate, { amountIn, netIn, sqrtPrice: reached.sqrtPrice })
    : fillToLimit(state, aToB, point, rate)
  return fill === null ? null : { ...fill, complete }
}

/** The fee's share of an infinitely small swap, over `FEE_DENOMINATOR`. The whole swap when the program overflows. */
export const dammV2FeeRate = (state: DammV2State, aToB: boolean, point: bigint): bigint =>
  dammV2Rate(state, aToB, point, { amount: 0n, feeIncluded: true }) ?? FEE_DENOMINATOR

const netInputTo = (state: DammV2State, aToB: boolean, share: Rate): bigint => {
  if (state.collectFeeMode === COMPOUNDING) {
    return productInputTo(aToB ? state.amountA : state.amountB, share)
  }
  const { liquidity, sqrtMaxPrice, sqrtMinPrice, sqrtPrice } = state
  const target = sqrtPriceTo(sqrtPrice, aToB, share)
  return aToB
    ? amountA(maxBigInt(target, sqrtMinPrice), sqrtPrice, liquidity, false)
    : amountB(sqrtPrice, minBigInt(target, sqrtMaxPrice), liquidity, false)
}

/** The input that moves the price of the sold token to this share of its current value, or to the price limit. */
export const dammV2InputTo = (state: DammV2State, aToB: boolean, share: Rate, point: bigint): bigint => {
  const net = netInputTo(state, aToB, share)
  const rate = feeOnInput(state, aToB) ? dammV2Rate(state, aToB, point, { amount: net, feeIncluded: false }) : 0n
  return rate === null ? 0n : withFee(net, rate)
}

const countAmounts = (state: DammV2State): Pick<DammV2State, "amountA" | "amountB"> =>
  state.countsAmounts
    ? state
    : {
        amountA: amountA(state.sqrtPrice, state.sqrtMaxPrice, state.liquidity, true),
        amountB: amountB(state.sqrtMinPrice, state.sqrtPrice, state.liquidity, true)
      }

/**
 * The pool after a fill at `unixTimestamp`, without a referrer. Null when the program fails (see `isUnreferenced`).
 * Fees per share of liquidity are not tracked.
 */
export const dammV2After = (
  state: DammV2State,
  aToB: boolean,
  fill: Fill,
  unixTimestamp: bigint
): DammV2State | null => {
  const protocolFee = (fill.fee * state.protocolFeePercent) / 100n
  const compounded = ((fill.fee - protocolFee) * state.compoundingBps) / BPS
  const before = countAmounts(state)
  const a = aToB ? before.amountA + fill.netIn : before.amountA - fill.grossOut
  const b = (aToB ? before.amountB - fill.grossOut : before.amountB + fill.netIn) + compounded
  const sqrtPrice = state.collectFeeMode === COMPOUNDING ? squareRoot((b << 128n) / a) : fill.sqrtPrice
  const feeInA = state.collectFeeMode === 0 && !aToB
  const volatility = volatilityAfter(state.rules, state.volatility, state.sqrtPrice, sqrtPrice, unixTimestamp)
  if (volatility === null) {
    return null
  }
  return {
    ...state,
    amountA: a,
    amountB: b,
    countsAmounts: true,
    sqrtPrice,
    protocolFeeA: state.protocolFeeA + (feeInA ? protocolFee : 0n),
    protocolFeeB: state.protocolFeeB + (feeInA ? 0n : protocolFee),
    volatility
  }
}

/**
 * Output per input of an infinitely small swap, after the fee, as a fraction. The rate is the one for an amount of
 * zero.
 */
export const dammV2Slope = (state: DammV2State, aToB: boolean, point: bigint) => {
  const rate = dammV2FeeRate(state, aToB, point)
  const [perA, scale] =
    state.collectFeeMode === COMPOUNDING
      ? [state.amountB, state.amountA]
      : [state.sqrtPrice * state.sqrtPrice, 1n << 128n]
  const [numerator, denominator] = aToB ? [perA, scale] : [scale, perA]
  return { numerator: numerator * (FEE_DENOMINATOR - rate), denominator: denominator * FEE_DENOMINATOR }
}
