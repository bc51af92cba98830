/** Decoded trades as trades of the tape: priced where a price is known, each swap once for its pool and once for its wallet. */
import { launchpads } from "../../programs/launchpads.ts"
import { type Mint, SOL } from "../../domain/Address.ts"
import { quotient, tenTo } from "../../domain/decimal.ts"
import type { Rational } from "../../domain/rational.ts"
import { type Leg, type NetTrade, type Quantity, type Trade, walletAmounts } from "../../domain/market/Trade.ts"
import type { DecodedTrades } from "../../trades/decode.ts"
import { quotePrice } from "../../trades/price.ts"
import { isDollar, isMoney } from "../../trades/sides.ts"
import type { Role, TapeTrade } from "./TapeTrade.ts"

/** Places of one transaction: the first half for pool swaps, the next quarter for tokens received by wallets, the last for tokens given. */
export const PLACES = 256
const NANOS_PER_MICRO = 1000n
/** Nano-dollars for a SOL are this many times the micro-dollars for a lamport. */
const SOL_NANOS_PER_MICRO = 1_000_000_000_000n
const MICROS = 1_000_000n

/** Launchpads by the venue label of their curves. */
export const launchpadOf: ReadonlyMap<string, string> = new Map(
  launchpads.map(({ dex, launchpad }) => [dex, launchpad])
)

/** The price of a mint of an exchange that has no money in it. */
export interface MintValue {
  readonly mint: Mint
  /** Micro-dollars for the smallest unit. */
  readonly price: Rational
}

/** The time of a block, and the price of a lamport then in micro-dollars. */
export interface BlockPrice {
  readonly timeMs: number
  readonly microPerLamport: Rational | null
  /** The better known price of two mints, the same in either order; absent for blocks that are not current. */
  readonly betterPriceOf?: (a: Mint, b: Mint) => MintValue | null
}

const times = ({ amount }: Quantity, { denominator, numerator }: Rational): Rational => ({
  numerator: amount * numerator,
  denominator
})

/** The value of the trade in micro-dollars: by its quote, a dollar or SOL, else by the price of one of its mints. */
const worth = ({ quote, token }: Trade, { microPerLamport, betterPriceOf }: BlockPrice): Rational | null => {
  if (isDollar(quote.mint)) {
    return { numerator: quote.amount, denominator: 1n }
  }
  if (quote.mint === SOL) {
    return microPerLamport === null ? null : times(quote, microPerLamport)
  }
  const value = betterPriceOf?.(quote.mint, token.mint) ?? null
  return value === null ? null : times(value.mint === quote.mint ? quote : token, value.price)
}

/** Micro-dollars for the smallest unit of the quote. A price that only the token itself gives would price it by itself. */
const quoteValue = ({ quote, token }: Trade, { microPerLamport, betterPriceOf }: BlockPrice): Rational | null => {
  if (quote.mint === SOL) {
    return microPerLamport
  }
  const value = betterPriceOf?.(quote.mint, token.mint) ?? null
  return value?.mint === quote.mint ? value.price : null
}

const priceUsd = (trade: Trade, block: BlockPrice): number | null => {
  const price = quotePrice(trade)
  if (price === null) {
    return null
  }
  if (isDollar(trade.quote.mint)) {
    return quotient(price.numerator, price.denominator)
  }
  const value = quoteValue(trade, block)
  const { decimals } = trade.quote
  // Dollars for a whole quote are 10^(decimals - 6) times the micro-dollars for its smallest unit.
  return value !== null && value.numerator > 0n && decimals !== null
    ? quotient(price.numerator * value.numerator * tenTo(decimals), price.denominator * value.denominator * MICROS)
    : null
}

/** The price of SOL that a trade against dollars needs to be shown in SOL; null for every other trade. */
const solUsdNanos = ({ quote, token }: Trade, microPerLamport: Rational | null): bigint | null => {
  if (microPerLamport === null || token.mint === SOL || !isDollar(quote.mint)) {
    return null
  }
  const nanos = (microPerLamport.numerator * SOL_NANOS_PER_MICRO) / microPerLamport.denominator
  return nanos > 0n ? nanos : null
}

const tapeTrade = (trade: Leg | NetTrade, block: BlockPrice, role: Role, place: number): TapeTrade => {
  const value = worth(trade, block)
  return {
    role,
    signature: trade.signature,
    slot: trade.slot,
    index: (trade.indexInBlock ?? 0) * PLACES + place,
    timeMs: block.timeMs,
    wallet: trade.wallet,
    mint: trade.token.mint,
    side: trade.side,
    amount: trade.token.amount,
    decimals: trade.token.decimals,
    lamports: trade.quote.mint === SOL ? trade.quote.amount : null,
    solUsdNanos: solUsdNanos(trade, block.microPerLamport),
    priceUsd: priceUsd(trade, block),
    volumeUsdNanos: value === null ? null : (value.numerator * NANOS_PER_MICRO) / value.denominator,
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

/** The trades that a swap means for the positions of its wallet: of a token for another, a purchase and a sale. */
const sidesOf = (net: NetTrade, legs: ReadonlyArray<Leg>): ReadonlyArray<NetTrade> => {
  if (isMoney(net.quote.mint)) {
    return [net]
  }
  const own = legs.filter(({ index }) => net.legs.includes(index))
  return [
    { ...net, quote: moneyFor(net.token, "buy", own) ?? net.quote },
    {
      ...net,
      index: net.index + PLACES / 4,
      side: "sell",
      token: net.quote,
      quote: moneyFor(net.quote, "sell", own) ?? net.token
    }
  ]
}

/** The trades of one transaction. */
export const tapeTradesOf = ({ legs, nets }: DecodedTrades, price: BlockPrice): ReadonlyArray<TapeTrade> => {
  const both = new Set(nets.flatMap((net) => (isMoney(net.quote.mint) ? (sameLeg(net, legs) ?? []) : [])))
  return [
    ...legs.map((leg) => tapeTrade(leg, price, both.has(leg) ? "both" : "pool", leg.index)),
    ...nets
      .filter((net) => !isMoney(net.quote.mint) || sameLeg(net, legs) === undefined)
      .flatMap((net) => sidesOf(net, legs))
      .map((side) => tapeTrade(side, price, "wallet", PLACES / 2 + side.index))
  ]
}
