/** Prices of trades as decimal text. No float decides a digit. */
import { SOL } from "../domain/Address.ts"
import { fromAtomic, tenTo } from "../domain/decimal.ts"
import type { Trade } from "../domain/market/Trade.ts"
import { isDollar } from "./sides.ts"

/** Least number of significant digits of a quotient that does not terminate. */
const SIGNIFICANT = 18

/** A price as an exact fraction, such as dollars for one SOL. */
export interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Price of one whole token as decimal text; null where it is unknown. */
export interface TradePrice {
  readonly sol: string | null
  readonly usd: string | null
}

const UNKNOWN: TradePrice = { sol: null, usd: null }

/** The quotient as decimal text, exact to at least 18 significant digits and rounded down beyond; null when either part is not positive. */
export const decimalText = ({ numerator, denominator }: Ratio): string | null => {
  if (numerator <= 0n || denominator <= 0n) {
    return null
  }
  const scale = Math.max(0, SIGNIFICANT - (numerator.toString().length - denominator.toString().length))
  return fromAtomic((numerator * tenTo(scale)) / denominator, scale)
}

/** Whole units of the quote for one whole token; null when an amount is zero or decimals are unknown. */
export const quotePrice = ({ token, quote }: Pick<Trade, "quote" | "token">): Ratio | null => {
  if (token.decimals === null || quote.decimals === null || token.amount <= 0n || quote.amount <= 0n) {
    return null
  }
  return {
    numerator: quote.amount * tenTo(token.decimals),
    denominator: token.amount * tenTo(quote.decimals)
  }
}

const times = (a: Ratio, b: Ratio): Ratio => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator
})

const over = (a: Ratio, b: Ratio): Ratio => times(a, { numerator: b.denominator, denominator: b.numerator })

/**
 * Price of one whole token in SOL and in dollars. USDC and USDT count as a dollar; between SOL and dollars it takes
 * the dollars for one SOL at the time. Both are null for a trade of two other tokens.
 */
export const priceOf = (trade: Trade, dollarsPerSol: Ratio | null): TradePrice => {
  const price = quotePrice(trade)
  const { mint } = trade.quote
  if (price === null) {
    return UNKNOWN
  }
  if (mint === SOL) {
    return { sol: decimalText(price), usd: dollarsPerSol === null ? null : decimalText(times(price, dollarsPerSol)) }
  }
  if (!isDollar(mint)) {
    return UNKNOWN
  }
  const usd = decimalText(price)
  if (trade.token.mint === SOL) {
    return { sol: "1", usd }
  }
  return { sol: dollarsPerSol === null ? null : decimalText(over(price, dollarsPerSol)), usd }
}
