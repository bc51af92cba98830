import type { Trade } from "../../api/schemas/Trade.ts"
import { tenTo } from "../../domain/decimal.ts"

/** A price as an exact fraction, such as dollars for one SOL. */
export interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
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
