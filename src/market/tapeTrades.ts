/** Decoded trades as the tape takes them: priced where a price is known, each exchange once for pools and once for wallets. */
import { meteoraDbc } from "../amm/meteoraDbc.ts"
import { pumpCurve } from "../amm/pumpCurve.ts"
import { SOL } from "../domain/Address.ts"
import { quotient } from "../domain/decimal.ts"
import type { Rational } from "../domain/rational.ts"
import type { Leg, NetTrade, Trade } from "../domain/Trade.ts"
import type { DecodedTrades } from "../trades/decode.ts"
import { METEORA_DBC, PUMP_FUN } from "../trades/launches.ts"
import { quotePrice } from "../trades/price.ts"
import { isDollar } from "../trades/sides.ts"
import type { Role, TapeTrade } from "./TapeTrade.ts"

/** Places of one transaction: the first half for pool swaps, the second for what wallets gave and got. */
export const PLACES = 256
const NANOS_PER_MICRO = 1000n

/** Launchpads by the venue label of their curves. */
export const launchpadOf: ReadonlyMap<string, string> = new Map([
  [pumpCurve.dex, PUMP_FUN],
  [meteoraDbc.dex, METEORA_DBC]
])

/** A block's time, and what a lamport was worth then, in micro-dollars. */
export interface Moment {
  readonly timeMs: number
  readonly microPerLamport: Rational | null
}

/** Micro-dollars that so much of a mint is worth, as a fraction; null where neither SOL nor a dollar. */
const worth = ({ quote }: Trade, microPerLamport: Rational | null): Rational | null => {
  if (isDollar(quote.mint)) {
    return { numerator: quote.amount, denominator: 1n }
  }
  return quote.mint === SOL && microPerLamport !== null
    ? { numerator: quote.amount * microPerLamport.numerator, denominator: microPerLamport.denominator }
    : null
}

const priceUsd = (trade: Trade, microPerLamport: Rational | null): number | null => {
  const price = quotePrice(trade)
  if (price === null) {
    return null
  }
  if (isDollar(trade.quote.mint)) {
    return quotient(price.numerator, price.denominator)
  }
  // Dollars for a SOL are a thousand times the micro-dollars for a lamport.
  return trade.quote.mint === SOL && microPerLamport !== null && microPerLamport.numerator > 0n
    ? quotient(price.numerator * microPerLamport.numerator * 1000n, price.denominator * microPerLamport.denominator)
    : null
}

const tapeTrade = (
  trade: Leg | NetTrade,
  { microPerLamport, timeMs }: Moment,
  role: Role,
  place: number
): TapeTrade => {
  const value = worth(trade, microPerLamport)
  return {
    role,
    signature: trade.signature,
    slot: trade.slot,
    index: (trade.indexInBlock ?? 0) * PLACES + place,
    timeMs,
    wallet: trade.wallet,
    mint: trade.token.mint,
    side: trade.side,
    amount: trade.token.amount,
    decimals: trade.token.decimals,
    lamports: trade.quote.mint === SOL ? trade.quote.amount : null,
    priceUsd: priceUsd(trade, microPerLamport),
    volumeUsdNanos: value === null ? null : (value.numerator * NANOS_PER_MICRO) / value.denominator,
    pool: trade.pool,
    dex: trade.dex,
    launchpad: trade.dex === null ? null : (launchpadOf.get(trade.dex) ?? null)
  }
}

/** The leg that says the same as the net trade, to the unit; undefined when there is none. */
const sameLeg = (net: NetTrade, legs: ReadonlyArray<Leg>): Leg | undefined => {
  const [only, ...others] = net.legs
  const leg = legs.find(({ index }) => index === only)
  return others.length === 0 &&
    leg?.wallet === net.wallet &&
    leg.side === net.side &&
    leg.token.mint === net.token.mint &&
    leg.token.amount === net.token.amount &&
    leg.quote.mint === net.quote.mint &&
    leg.quote.amount === net.quote.amount
    ? leg
    : undefined
}

/** The trades of one transaction for the tape. */
export const tapeTradesOf = ({ legs, nets }: DecodedTrades, moment: Moment): ReadonlyArray<TapeTrade> => {
  const both = new Set(nets.flatMap((net) => sameLeg(net, legs) ?? []))
  return [
    ...legs.map((leg) => tapeTrade(leg, moment, both.has(leg) ? "both" : "pool", leg.index)),
    ...nets
      .filter((net) => sameLeg(net, legs) === undefined)
      .map((net) => tapeTrade(net, moment, "wallet", PLACES / 2 + net.index))
  ]
}
