import type { FillSide } from "../../api/schemas/Copying.ts"
import { decimalText, divide, fractionOf } from "../../domain/rational.ts"
import type { Decimal } from "../../domain/Scalar.ts"

/**
 * Slippage of a copy against its leader, in percent of the leader's price: positive for a dearer purchase or a cheaper
 * sale, negative for a better price. Null when the leader's price is zero.
 */
export const slippageVsLeader = (
  side: FillSide,
  prices: { readonly leader: Decimal; readonly copy: Decimal }
): Decimal | null => {
  const leader = fractionOf(prices.leader)
  if (leader.numerator === 0n) {
    return null
  }
  const { denominator, numerator } = divide(fractionOf(prices.copy), leader)
  const dearer = numerator - denominator
  return decimalText({ numerator: (side === "buy" ? dearer : -dearer) * 100n, denominator })
}
