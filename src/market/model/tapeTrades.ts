/**
 * Turns decoded trades into trades of the tape: priced where a price is known, each swap once for its pool and once for
 * its wallet.
 */
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
} from "../../api/schemas/Trade.ts"
import type { DecodedTrades } from "../../chain/decoding/decodeTrades.ts"
import { quotePrice } from "../../chain/decoding/quotePrice.ts"
import { NANOS_PER_USD } from "../../domain/units.ts"
import { isDollar, isMoney } from "../../domain/stables.ts"
import type { Role, TapeTrade } from "./TapeTrade.ts"

/**
 * Places of one transaction: the first half is for pool swaps, the next quarter for tokens that wallets received, the
 * last quarter for tokens that they gave. Transfers count back from its end.
 */
export const PLACES = 256
export const NANOS_PER_MICRO = 1000n
/** Nano-dollars for a SOL are this many times the micro-dollars for a lamport. */
export const SOL_NANOS_PER_MICRO = 1_000_000_000_000n
const MICROS = 1_000_000n
/** Values of trades are below this. */
const MOST_NANOS = 1n << 64n

/** The place of a pool swap, or of a net trade through one pool, among the trades of its block. */
export const placeOf = ({ index, indexInBlock }: Pick<Leg, "index" | "indexInBlock">): number =>
  (indexInBlock ?? 0) * PLACES + index

/** Launchpads by the venue label of their curves. */
export const launchpadOf: ReadonlyMap<string, string> = new Map(
  launchpads.map(({ dex, launchpad }) => [dex, launchpad])
)

/** The price of one mint of a swap that has no money in it. */
export interface MintValue {
  readonly mint: Mint
  /** Micro-dollars for the smallest unit. */
  readonly price: Rational
}

/** The time of a block, and the price of a lamport then in micro-dollars. */
export interface BlockPrice {
  readonly timeMs: number
  readonly microPerLamport: Rational | null
  /** The better known price of two mints, the same in either order; absent where tokens have no prices. */
  readonly betterPriceOf?: (a: Mint, b: Mint) => MintValue | null
}

/** The two sides of a trade. */
type Sides = Pick<Trade, "quote" | "token">

const times = ({ amount }: Pick<Quantity, "amount">, { denominator, numerator }: Rational): Rational => ({
  numerator: amount * numerator,
  denominator
})

/** The value of a quantity in micro-dollars; null unless it is a dollar, or SOL with a known price. */
const worthOf = (quantity: Quantity, microPerLamport: Rational | null): Rational | null => {
  if (isDollar(quantity.mint)) {
    return { numerator: quantity.amount, denominator: 1n }
  }
  return quantity.mint === SOL && microPerLamport !== null ? times(quantity, microPerLamport) : null
}

/** Nano-dollars, rounded down. */
const inNanos = (value: Rational | null): bigint | null =>
  value === null ? null : (value.numerator * NANOS_PER_MICRO) / value.denominator

/** Nano-dollars of lamports, rounded down; null when the price is unknown. */
const nanosOfLamports = (lamports: bigint, price: Rational | null): bigint | null =>
  price === null ? null : inNanos(times({ amount: lamports }, price))

/** Dollars for a whole token that was traded for lamports; null when unknown. */
const priceInLamports = (
  { amount, decimals, lamports }: Pick<TapeTrade, "amount" | "decimals" | "lamports">,
  price: Rational | null
): number | null =>
  price === null || price.numerator <= 0n || decimals === null || lamports === null || lamports <= 0n || amount <= 0n
    ? null
    : quotient(lamports * tenTo(decimals) * price.numerator, amount * price.denominator * MICROS)

/**
 * The value of a trade in micro-dollars: by its quote when that is a dollar or SOL, or else by the price of one of its
 * mints.
 */
const worth = ({ quote, token }: Sides, { microPerLamport, betterPriceOf }: BlockPrice): Rational | null => {
  if (isMoney(quote.mint)) {
    return worthOf(quote, microPerLamport)
  }
  const value = betterPriceOf?.(quote.mint, token.mint) ?? null
  return value === null ? null : times(value.mint === quote.mint ? quote : token, value.price)
}

/**
 * Micro-dollars for the smallest unit of the quote. A price that only the token itself gives is not used, because it
 * would price the token by itself.
 */
const quoteValue = ({ quote, token }: Sides, { microPerLamport, betterPriceOf }: BlockPrice): Rational | null => {
  if (quote.mint === SOL) {
    return microPerLamport
  }
  const value = betterPriceOf?.(quote.mint, token.mint) ?? null
  return value?.mint === quote.mint ? value.price : null
}

const priceUsd = (trade: Sides, block: BlockPrice): number | null => {
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

/** Nano-dollars of a SOL, rounded down; null when unknown. */
export const solNanosOf = (microPerLamport: Rational | null): bigint | null => {
  const nanos =
    microPerLamport === null ? 0n : (microPerLamport.numerator * SOL_NANOS_PER_MICRO) / microPerLamport.denominator
  return nanos > 0n ? nanos : null
}

const tapeTrade = (trade: Leg | NetTrade, block: BlockPrice, role: Role, place: number): TapeTrade => {
  const nanos = inNanos(worth(trade, block))
  return {
    role,
    signature: trade.signature,
    slot: trade.slot,
    index: placeOf({ indexInBlock: trade.indexInBlock, index: place }),
    timeMs: block.timeMs,
    wallet: trade.wallet,
    mint: trade.token.mint,
    side: trade.side,
    amount: trade.token.amount,
    decimals: trade.token.decimals,
    lamports: trade.quote.mint === SOL ? trade.quote.amount : null,
    solUsdNanos: trade.quote.mint === SOL || trade.token.mint === SOL ? null : solNanosOf(block.microPerLamport),
    priceUsd: priceUsd(trade, block),
    volumeUsdNanos: nanos === null || nanos >= MOST_NANOS ? null : nanos,
    ...(isMoney(trade.quote.mint) ? {} : { otherToken: trade.quote }),
    pool: trade.pool,
    dex: trade.dex,
    launchpad: trade.dex === null ? null : (launchpadOf.get(trade.dex) ?? null)
  }
}

/** The leg that equals the net trade to the unit; undefined when there is none. */
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

/**
 * The money that the route's own pools paid or took for exactly this amount of a mint at the wallet; null when unknown.
 */
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

/** The fees in SOL or dollars that a front end took beside the amounts. */
interface FrontEndFee {
  /** Nano-dollars; null when the price of SOL is unknown. */
  readonly nanos: bigint | null
  /** The fee in lamports; null unless all of it was in SOL. */
  readonly lamports: bigint | null
}

const NO_FEE: FrontEndFee = { nanos: 0n, lamports: null }

const isPaid = ({ included, kind, mint }: TradeFee): boolean => kind === "front-end" && !included && isMoney(mint)

const frontEndFee = (fees: ReadonlyArray<TradeFee>, { microPerLamport }: BlockPrice): FrontEndFee => {
  const paid = fees.filter(isPaid)
  if (paid.length === 0) {
    return NO_FEE
  }
  const sumOf = (isSol: boolean): bigint =>
    paid.filter(({ mint }) => (mint === SOL) === isSol).reduce((sum, { amount }) => sum + amount, 0n)
  const [lamports, micros] = [sumOf(true), sumOf(false)]
  const nanos = lamports === 0n ? 0n : nanosOfLamports(lamports, microPerLamport)
  return {
    nanos: nanos === null ? null : nanos + micros * NANOS_PER_MICRO,
    lamports: lamports > 0n && micros === 0n ? lamports : null
  }
}

/** The priority fee and the tips of a wallet, in lamports. */
type Costs = Pick<TapeTrade, "priorityLamports" | "tipLamports">

const costsOf = ({ fees, priorityLamports }: NetTrade): Costs => {
  const tips = fees.reduce((sum, { amount, kind }) => sum + (kind === "tip" ? amount : 0n), 0n)
  return priorityLamports === null ? {} : { priorityLamports, ...(tips === 0n ? {} : { tipLamports: tips }) }
}

/** Costs of the sale in a swap of two tokens. The purchase already carries them. */
const NO_COSTS: Costs = { priorityLamports: 0n }

/** Adds the data of its wallet to a trade: fees, costs, and the units held around the transaction. */
const ofWallet = (trade: TapeTrade, costs: Costs, fee: FrontEndFee, held: HeldSpan | null): TapeTrade => ({
  ...trade,
  ...costs,
  ...(fee.nanos === 0n ? {} : { feeUsdNanos: fee.nanos }),
  ...(fee.lamports === null ? {} : { feeLamports: fee.lamports }),
  ...(held === null ? {} : { held })
})

/**
 * The value of a swap of two tokens in nano-dollars: the money that its own pools took or paid for one side, first for
 * the side that was given. Without such money, the value by the better known price. Null when neither side has one.
 */
const swapValue = (
  net: NetTrade,
  [paid, got]: readonly [Quantity | null, Quantity | null],
  block: BlockPrice
): bigint | null => {
  const byMoney = (money: Quantity | null) => (money === null ? null : inNanos(worthOf(money, block.microPerLamport)))
  const value = paid === null && got === null ? inNanos(worth(net, block)) : (byMoney(paid) ?? byMoney(got))
  return value === null || value >= MOST_NANOS ? null : value
}

/** Dollars for a whole token of a trade of this value; null when unknown. */
const priceByValue = (
  { amount, decimals }: Pick<TapeTrade, "amount" | "decimals">,
  volumeUsdNanos: bigint | null
): number | null =>
  volumeUsdNanos === null || decimals === null || amount === 0n
    ? null
    : quotient(volumeUsdNanos * tenTo(decimals), amount * NANOS_PER_USD)

/** One side of a swap of two tokens, at the value of the swap. */
const valued = (
  { otherToken, ...trade }: TapeTrade,
  money: Quantity | null,
  volumeUsdNanos: bigint | null,
  { microPerLamport }: BlockPrice
): TapeTrade => {
  if (money?.mint === SOL) {
    const inSol = { ...trade, lamports: money.amount, solUsdNanos: null, volumeUsdNanos }
    return { ...inSol, priceUsd: priceInLamports(inSol, microPerLamport) }
  }
  return {
    ...trade,
    ...(money === null ? { otherToken } : {}),
    lamports: null,
    volumeUsdNanos,
    priceUsd: priceByValue(trade, volumeUsdNanos)
  }
}

/**
 * The trades by which a swap changes its wallet's positions. A swap of one token for another is a purchase and a sale
 * of the same value.
 */
const walletTrades = (net: NetTrade, legs: ReadonlyArray<Leg>, price: BlockPrice): ReadonlyArray<TapeTrade> => {
  const place = PLACES / 2 + net.index
  if (isMoney(net.quote.mint)) {
    return [
      ofWallet(tapeTrade(net, price, "wallet", place), costsOf(net), frontEndFee(net.fees, price), net.held.token)
    ]
  }
  const own = legs.filter(({ index }) => net.legs.includes(index))
  const [paid, got] = [moneyFor(net.quote, "sell", own), moneyFor(net.token, "buy", own)]
  const value = swapValue(net, [paid, got], price)
  const sale: NetTrade = { ...net, side: "sell", token: net.quote, quote: net.token }
  return [
    ofWallet(
      valued(tapeTrade(net, price, "wallet", place), paid ?? got, value, price),
      costsOf(net),
      NO_FEE,
      net.held.token
    ),
    ofWallet(
      valued(tapeTrade(sale, price, "wallet", place + PLACES / 4), paid ?? got, value, price),
      net.priorityLamports === null ? {} : NO_COSTS,
      NO_FEE,
      net.held.quote
    )
  ]
}

/** The trades of one transaction. */
export const tapeTradesOf = ({ legs, nets }: DecodedTrades, price: BlockPrice): ReadonlyArray<TapeTrade> => {
  const same = nets.map((net) => (isMoney(net.quote.mint) ? sameLeg(net, legs) : undefined))
  const trades = legs.map((leg) => {
    const net = nets[same.lastIndexOf(leg)]
    return net === undefined
      ? tapeTrade(leg, price, "pool", leg.index)
      : ofWallet(tapeTrade(leg, price, "both", leg.index), costsOf(net), frontEndFee(net.fees, price), net.held.token)
  })
  nets.forEach((net, n) => {
    if (same[n] === undefined) {
      trades.push(...walletTrades(net, legs, price))
    }
  })
  return trades
}

/** Prices a trade again with the SOL price that is known now. Without a price the trade stays as it is. */
export const repriced = (trade: TapeTrade, microPerLamport: Rational | null): TapeTrade => {
  if (microPerLamport === null) {
    return trade
  }
  const { feeLamports, lamports } = trade
  const fee =
    feeLamports === undefined ? trade : { ...trade, feeUsdNanos: nanosOfLamports(feeLamports, microPerLamport) }
  if (lamports === null) {
    return trade.mint === SOL ? fee : { ...fee, solUsdNanos: solNanosOf(microPerLamport) }
  }
  const nanos = nanosOfLamports(lamports, microPerLamport)
  const volumeUsdNanos = nanos === null || nanos >= MOST_NANOS ? null : nanos
  return { ...fee, volumeUsdNanos, priceUsd: priceInLamports(trade, microPerLamport) }
}

/** Prices a swap of two tokens again with the token prices that are known now. Any other trade stays as it is. */
export const revalued = (trade: TapeTrade, betterPriceOf: NonNullable<BlockPrice["betterPriceOf"]>): TapeTrade => {
  const { amount, decimals, mint, otherToken, role, timeMs } = trade
  if (otherToken === undefined) {
    return trade
  }
  const sides = { token: { mint, amount, decimals }, quote: otherToken }
  const price = { timeMs, microPerLamport: null, betterPriceOf }
  const nanos = inNanos(worth(sides, price))
  const volumeUsdNanos = nanos === null || nanos >= MOST_NANOS ? null : nanos
  return {
    ...trade,
    volumeUsdNanos,
    priceUsd: role === "wallet" ? priceByValue(trade, volumeUsdNanos) : priceUsd(sides, price)
  }
}
