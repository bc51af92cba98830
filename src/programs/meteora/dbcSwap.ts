/**
 * Swaps on a bonding curve: MeteoraAg/dynamic-bonding-curve,
 * programs/dynamic-bonding-curve/src/state/virtual_pool.rs. Token A is the base token being launched, token B the
 * quote token that buys it.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import { DBC_RATE_CAP, type DbcState } from "./dbcState.ts"
import { maxBigInt, minBigInt } from "../math/integers.ts"
import { sqrtPriceTo } from "../math/priceMove.ts"
import type { Rate } from "../interface/Program.ts"
import { amountA, amountB, priceAfterA, priceAfterB } from "./curve.ts"
import type { Fill } from "./fill.ts"
import { FEE_DENOMINATOR, limitedRate, limitedRateOfNet, scheduledRate, withFee, withoutFee } from "./fees.ts"
import { volatilityAfter, volatilityRate } from "./volatility.ts"

/** A move along the curve, without fees. */
interface Walk {
  readonly left: bigint
  readonly out: bigint
  readonly sqrtPrice: bigint
}

const FULL: Pick<Walk, "left"> = { left: 0n }

/** Buys base with `net` quote up the curve, at most to its end price. */
const climb = ({ curve, migrationSqrtPrice, sqrtPrice: start }: DbcState, net: bigint): Walk => {
  let left = net
  let out = 0n
  let sqrtPrice = start
  for (const { liquidity, sqrtPrice: end } of curve) {
    const target = minBigInt(end, migrationSqrtPrice)
    if (target > sqrtPrice) {
      const whole = amountB(sqrtPrice, target, liquidity, true)
      if (left < whole) {
        const reached = priceAfterB(sqrtPrice, liquidity, left)
        return { ...FULL, out: out + amountA(sqrtPrice, reached, liquidity, false), sqrtPrice: reached }
      }
      out += amountA(sqrtPrice, target, liquidity, false)
      left -= whole
      sqrtPrice = target
      if (target === migrationSqrtPrice) {
        break
      }
    }
  }
  return { left, out, sqrtPrice }
}

/** Sells `net` base down the curve, at most to its start price. */
const descend = ({ curve, sqrtPrice: start, sqrtStartPrice }: DbcState, net: bigint): Walk => {
  let left = net
  let out = 0n
  let sqrtPrice = start
  for (let i = curve.length - 1; i >= 0 && left > 0n; i--) {
    const liquidity = curve[i]?.liquidity ?? 0n
    const target = curve[i - 1]?.sqrtPrice ?? sqrtStartPrice
    // The program tries the first segment even at its start, because the price rounds back to the start after a tiny
    // sale.
    if (i === 0 || target < sqrtPrice) {
      const whole = amountA(target, sqrtPrice, liquidity, true)
      const reached = priceAfterA(sqrtPrice, liquidity, left)
      // Between points the program compares amounts; at the start of the curve it compares prices.
      if (i > 0 ? left < whole : reached >= target) {
        return { ...FULL, out: out + amountB(reached, sqrtPrice, liquidity, false), sqrtPrice: reached }
      }
      out += amountB(target, sqrtPrice, liquidity, false)
      left -= whole
      sqrtPrice = target
    }
  }
  return { left, out, sqrtPrice }
}

const baseRate = (state: DbcState, sells: boolean, point: bigint, amount: bigint, feeIncluded: boolean) => {
  const { activationPoint, baseFee: fee } = state
  if (fee.kind === "time") {
    if (fee.pointsPerPeriod === 0n) {
      return fee.schedule.cliff
    }
    // Pools are active from their creation. An earlier point fails only where it is subtracted.
    return point < activationPoint ? null : scheduledRate(fee.schedule, (point - activationPoint) / fee.pointsPerPeriod)
  }
  const { limiter } = fee
  const idle = limiter.reference === 0n && limiter.increment === 0n && fee.duration === 0n
  if (idle || sells || point > activationPoint + fee.duration) {
    return limiter.cliff
  }
  return feeIncluded ? limitedRate(limiter, amount) : limitedRateOfNet(limiter, amount)
}

const rateOf = (state: DbcState, sells: boolean, point: bigint, amount: bigint, feeIncluded: boolean) => {
  const base = baseRate(state, sells, point, amount, feeIncluded)
  return base === null ? null : minBigInt(base + volatilityRate(state.rules, state.volatility), DBC_RATE_CAP)
}

/** The net input that moves the price along the curve to the target, or to the curve's end. */
const netInputTo = (state: DbcState, sells: boolean, share: Rate): bigint => {
  const { curve, migrationSqrtPrice, sqrtPrice, sqrtStartPrice } = state
  const wanted = sqrtPriceTo(sqrtPrice, sells, share)
  const target = sells ? maxBigInt(wanted, sqrtStartPrice) : minBigInt(wanted, migrationSqrtPrice)
  let net = 0n
  for (const [i, { liquidity, sqrtPrice: end }] of curve.entries()) {
    const start = curve[i - 1]?.sqrtPrice ?? sqrtStartPrice
    const low = maxBigInt(start, sells ? target : sqrtPrice)
    const high = minBigInt(end, sells ? sqrtPrice : target)
    if (low < high) {
      const isLast = sells ? low === target : high === target
      net += (sells ? amountA : amountB)(low, high, liquidity, !isLast)
    }
  }
  return net
}

/** The input that moves the price of the sold token to this share of its current value, or to the curve's end. */
export const dbcInputTo = (state: DbcState, sells: boolean, share: Rate, point: bigint): bigint => {
  const net = netInputTo(state, sells, share)
  const rate = state.feesInQuote && !sells ? rateOf(state, sells, point, net, false) : 0n
  return rate === null ? 0n : withFee(net, rate)
}

/** The fee's share of an infinitely small swap, over `FEE_DENOMINATOR`. The whole swap when the program overflows. */
export const dbcFeeRate = (state: DbcState, sells: boolean, point: bigint): bigint =>
  rateOf(state, sells, point, 0n, true) ?? FEE_DENOMINATOR

/** True when the quote reserve has reached the migration threshold. */
export const isDbcComplete = ({ migrationQuoteThreshold, quoteReserve }: DbcState): boolean =>
  quoteReserve >= migrationQuoteThreshold

const fillOf = (state: DbcState, sells: boolean, rate: bigint, amountIn: bigint, netIn: bigint, walk: Walk) => {
  const reserve = sells ? state.quoteReserve : state.baseReserve
  if (walk.out > reserve || netIn > MAX_U64) {
    return null
  }
  const onInput = state.feesInQuote && !sells
  const amountOut = onInput ? walk.out : withoutFee(walk.out, rate)
  return {
    amountIn,
    netIn,
    grossOut: walk.out,
    amountOut,
    fee: onInput ? amountIn - netIn : walk.out - amountOut,
    sqrtPrice: walk.sqrtPrice
  }
}

/** Swaps an input at a point. Takes all of it, or as much as completes the curve. Null when the program refuses. */
export const fillDbc = (
  state: DbcState,
  sells: boolean,
  amountIn: bigint,
  point: bigint
): (Fill & { readonly complete: boolean }) | null => {
  const rate = amountIn === 0n || isDbcComplete(state) ? null : rateOf(state, sells, point, amountIn, true)
  if (rate === null) {
    return null
  }
  const onInput = state.feesInQuote && !sells
  const net = onInput ? withoutFee(amountIn, rate) : amountIn
  const walk = sells ? descend(state, net) : climb(state, net)
  if (walk.left === 0n) {
    const fill = fillOf(state, sells, rate, amountIn, net, walk)
    return fill === null ? null : { ...fill, complete: true }
  }
  const netIn = net - walk.left
  const netRate = onInput ? rateOf(state, sells, point, netIn, false) : rate
  const fill =
    netRate === null ? null : fillOf(state, sells, netRate, onInput ? withFee(netIn, netRate) : netIn, netIn, walk)
  return fill === null ? null : { ...fill, complete: false }
}

/** Splits a fee when there is no referrer. */
export const splitDbcFee = (state: DbcState, fee: bigint) => {
  const protocol = fee / 5n
  const creator = ((fee - protocol) * state.creatorFeePercent) / 100n
  return { protocol, creator, partner: fee - protocol - creator }
}

/**
 * The pool after a fill at `unixTimestamp`. Null when the program fails (see `isUnreferenced`). `splitDbcFee`
 * computes the uncollected fees.
 */
export const dbcAfter = (state: DbcState, sells: boolean, fill: Fill, unixTimestamp: bigint): DbcState | null => {
  const volatility = volatilityAfter(state.rules, state.volatility, state.sqrtPrice, fill.sqrtPrice, unixTimestamp)
  return volatility === null
    ? null
    : {
        ...state,
        sqrtPrice: fill.sqrtPrice,
        baseReserve: sells ? state.baseReserve + fill.netIn : state.baseReserve - fill.grossOut,
        quoteReserve: sells ? state.quoteReserve - fill.grossOut : state.quoteReserve + fill.netIn,
        volatility
      }
}

/** Output per input of an infinitely small swap, after the fee, as a fraction. */
export const dbcSlope = (state: DbcState, sells: boolean, point: bigint) => {
  const rate = dbcFeeRate(state, sells, point)
  const price = state.sqrtPrice * state.sqrtPrice
  const one = 1n << 128n
  return {
    numerator: (sells ? price : one) * (FEE_DENOMINATOR - rate),
    denominator: (sells ? one : price) * FEE_DENOMINATOR
  }
}
