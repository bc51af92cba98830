/** Decoded trades as trades of the tape: priced where a price is known, each swap once for its pool and once for its wallet. */
import { launchpads } from "../../programs/launchpads.ts"
import { type Mint, SOL } from "../../domain/Address.ts"
import { quotient, tenTo } from "../../domain/decimal.ts"
import type { Rational } from "../../domain/rational.ts"
import {
  type HeldSpan,
  type Leg,
  type NetTrade,
  type Quantity,
  type Trade,
  type TradeFee,
  walletAmounts
} from "../../domain/market/Trade.ts"
import type { DecodedTrades } from "../../trades/decode.ts"
import { quotePrice } from "../../trades/price.ts"
import { NANOS_PER_USD } from "../../domain/units.ts"
import { isDollar, isMoney } from "../../trades/sides.ts"
import type { Role, TapeTrade } from "./TapeTrade.ts"

/** Places of one transaction: the first half for pool swaps, the next quarter for tokens received by wallets, the last for tokens given. */
export const PLACES = 256
const NANOS_PER_MICRO = 1000n
/** Values of trades are below this. */
const MOST_NANOS = 1n << 64n

/** Launchpads by the venue label of their curves. */
export const launchpadOf: ReadonlyMap<string, string> = new Map(
  launchpads.map(({ dex, launchpad }) => [dex, launchpad])
)

/** The time of a block, and prices then in micro-dollars. */
export interface BlockPrice {
  readonly timeMs: number
  readonly microPerLamport: Rational | null
  /** Price of one smallest unit of a mint by its pools; null when unknown. */
  readonly microPerUnit?: (mint: Mint) => Rational | null
}

/** The value of a quantity in micro-dollars; null unless it is SOL with a known price or a dollar. */
const worth = ({ amount, mint }: Quantity, microPerLamport: Rational | null): Rational | null => {
  if (isDollar(mint)) {
    return { numerator: amount, denominator: 1n }
  }
  return mint === SOL && microPerLamport !== null
    ? { numerator: amount * microPerLamport.numerator, denominator: microPerLamport.denominator }
    : null
}

/** Nano-dollars, rounded down; null for null. */
const inNanos = (value: Rational | null): bigint | null =>
  value === null ? null : (value.numerator * NANOS_PER_MICRO) / value.denominator

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
  { microPerLamport, timeMs }: BlockPrice,
  role: Role,
  place: number
): TapeTrade => {
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
    volumeUsdNanos: inNanos(worth(trade.quote, microPerLamport)),
    pool: trade.pool,
    dex: trade.dex,
    launchpad: trade.dex === null ? null : (launchpadOf.get(trade.dex) ?? null)
  }
}

/** The leg that equals the net trade, to the unit; undefined when there is none. */
const sameLeg = (net: NetTrade, legs: ReadonlyArray<Leg>): Leg | undefined => {
  const [only, ...others] = net.legs
  const leg = legs.find(({ index }) => index === only)
  return others.length === 0 &&
    leg?.wallet === net.wallet &&
    leg.side === net.side &&
    leg.token.mint === net.token.mint &&
    leg.token.amount === net.token.amount &&
    leg.quote.mint === net.quote.mint &&
    leg.quote.amount === net.quote.amount &&
    leg.transferFees === null
    ? leg
    : undefined
}

/** The money that the route's own pools paid or took for exactly this amount of a mint at the wallet; null when it is unknown. */
const moneyFor = ({ amount, mint }: Quantity, side: Trade["side"], legs: ReadonlyArray<Leg>): Quantity | null => {
  const [first, ...others] = legs.filter((leg) => leg.token.mint === mint && leg.side === side)
  if (first === undefined || !isMoney(first.quote.mint)) {
    return null
  }
  const all = [first, ...others]
  const isWhole = all.reduce((sum, leg) => sum + walletAmounts(leg).token, 0n) === amount
  return isWhole && others.every(({ quote }) => quote.mint === first.quote.mint)
    ? { ...first.quote, amount: all.reduce((sum, { quote }) => sum + quote.amount, 0n) }
    : null
}

/** Nano-dollars of the fees that a front end took beside the amounts, in SOL or dollars; null when one has no price. */
const frontEndFee = (fees: ReadonlyArray<TradeFee>, { microPerLamport }: BlockPrice): bigint | null =>
  fees
    .filter(({ included, kind, mint }) => kind === "front-end" && !included && isMoney(mint))
    .reduce<bigint | null>((sum, fee) => {
      const nanos = inNanos(worth(fee, microPerLamport))
      return sum === null || nanos === null ? null : sum + nanos
    }, 0n)

/** A trade with the data of its wallet: fees of front ends, and the units held around the transaction. */
const ofWallet = (trade: TapeTrade, feeUsdNanos: bigint | null, held: HeldSpan | null): TapeTrade => ({
  ...trade,
  ...(feeUsdNanos === 0n ? {} : { feeUsdNanos }),
  ...(held === null ? {} : { held })
})

/**
 * The value of a swap of two tokens in nano-dollars: the money that its own pools took or paid for one side, that which was
 * given first, else the price of one side by its pools. Null when neither side has one.
 */
const swapValue = (
  { quote, token }: NetTrade,
  [paid, got]: readonly [Quantity | null, Quantity | null],
  { microPerLamport, microPerUnit }: BlockPrice
): bigint | null => {
  const byPrice = ({ amount, mint }: Quantity): bigint | null => {
    const price = microPerUnit?.(mint) ?? null
    return price === null ? null : inNanos({ ...price, numerator: price.numerator * amount })
  }
  const byMoney = (money: Quantity | null) => (money === null ? null : inNanos(worth(money, microPerLamport)))
  const value = byMoney(paid) ?? byMoney(got) ?? byPrice(quote) ?? byPrice(token)
  return value === null || value >= MOST_NANOS ? null : value
}

/** A side of a swap of two tokens, at the value of the swap. */
const valued = (trade: TapeTrade, money: Quantity | null, volumeUsdNanos: bigint | null): TapeTrade => ({
  ...trade,
  lamports: money?.mint === SOL ? money.amount : null,
  volumeUsdNanos,
  priceUsd:
    volumeUsdNanos === null || trade.decimals === null || trade.amount === 0n
      ? null
      : quotient(volumeUsdNanos * tenTo(trade.decimals), trade.amount * NANOS_PER_USD)
})

/** The trades that a swap means for the positions of its wallet: of a token for another, a purchase and a sale of one value. */
const walletTrades = (net: NetTrade, legs: ReadonlyArray<Leg>, price: BlockPrice): ReadonlyArray<TapeTrade> => {
  const place = PLACES / 2 + net.index
  if (isMoney(net.quote.mint)) {
    return [ofWallet(tapeTrade(net, price, "wallet", place), frontEndFee(net.fees, price), net.held.token)]
  }
  const own = legs.filter(({ index }) => net.legs.includes(index))
  const [paid, got] = [moneyFor(net.quote, "sell", own), moneyFor(net.token, "buy", own)]
  const value = swapValue(net, [paid, got], price)
  const sale: NetTrade = { ...net, side: "sell", token: net.quote, quote: net.token }
  return [
    ofWallet(valued(tapeTrade(net, price, "wallet", place), paid ?? got, value), 0n, net.held.token),
    ofWallet(valued(tapeTrade(sale, price, "wallet", place + PLACES / 4), paid ?? got, value), 0n, net.held.quote)
  ]
}

/** The trades of one transaction. */
export const tapeTradesOf = ({ legs, nets }: DecodedTrades, price: BlockPrice): ReadonlyArray<TapeTrade> => {
  const both = new Map<Leg, NetTrade>()
  const others: Array<NetTrade> = []
  for (const net of nets) {
    const leg = isMoney(net.quote.mint) ? sameLeg(net, legs) : undefined
    if (leg === undefined) {
      others.push(net)
    } else {
      both.set(leg, net)
    }
  }
  const ofLeg = (leg: Leg): TapeTrade => {
    const net = both.get(leg)
    return net === undefined
      ? tapeTrade(leg, price, "pool", leg.index)
      : ofWallet(tapeTrade(leg, price, "both", leg.index), frontEndFee(net.fees, price), net.held.token)
  }
  return [...legs.map(ofLeg), ...others.flatMap((net) => walletTrades(net, legs, price))]
}
