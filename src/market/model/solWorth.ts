/**
 * The value of trades in SOL: the lamports that were paid, or else the dollars at the SOL price of the trade's block.
 */
import { SOL } from "../../domain/Address.ts"
import { tenTo } from "../../domain/decimal.ts"
import { LAMPORTS_PER_SOL, NANOS_PER_USD } from "../../domain/units.ts"
import type { TapeTrade } from "./TapeTrade.ts"

/** Powers of ten up to this exponent are exact doubles. */
const EXACT_POWER = 22
const SOL_DECIMALS = 9

type Priced = Pick<
  TapeTrade,
  "amount" | "decimals" | "lamports" | "mint" | "priceUsd" | "solUsdNanos" | "volumeUsdNanos"
>

/** The other side of a trade in lamports, rounded down; for a trade of SOL itself its amount. Null when unknown. */
export const lamportsOf = ({ amount, lamports, mint, solUsdNanos, volumeUsdNanos }: Priced): bigint | null => {
  if (mint === SOL) {
    return amount
  }
  if (lamports !== null || volumeUsdNanos === null || solUsdNanos === null || solUsdNanos === 0n) {
    return lamports
  }
  return (volumeUsdNanos * LAMPORTS_PER_SOL) / solUsdNanos
}

/** The double next to the product. A product of two exact doubles is rounded once, like the exact integer. */
const nearProduct = (units: bigint, decimals: number): number => {
  const near = Number(units)
  return near <= Number.MAX_SAFE_INTEGER && decimals <= EXACT_POWER
    ? near * Number(tenTo(decimals))
    : Number(units * tenTo(decimals))
}

/**
 * SOL per whole token; NaN when unknown. Two exact integers are rounded to doubles and divided once, so that the
 * expression in `barSql.ts` gives the same digits.
 */
export const priceSolOf = ({ amount, decimals, lamports, mint, priceUsd, solUsdNanos }: Priced): number => {
  if (mint === SOL) {
    return 1
  }
  if (lamports !== null) {
    return lamports > 0n && amount > 0n && decimals !== null
      ? nearProduct(lamports, decimals) / nearProduct(amount, SOL_DECIMALS)
      : Number.NaN
  }
  return priceUsd === null || solUsdNanos === null || solUsdNanos === 0n
    ? Number.NaN
    : priceUsd / (Number(solUsdNanos) / Number(NANOS_PER_USD))
}
