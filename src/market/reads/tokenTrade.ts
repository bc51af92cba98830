/** Pool swaps of the tape as the contract shows them. */
import { SOL } from "../../domain/Address.ts"
import { fromAtomic } from "../../domain/decimal.ts"
import { decimalText } from "../../domain/rational.ts"
import type { TokenTrade } from "../../api/schemas/TokenTrade.ts"
import { lamportsOf, priceSolOf } from "../model/solWorth.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { dollarsText, priceRational } from "./measures.ts"

const SOL_DECIMALS = 9

/** Decimal text of a price that is kept as a double; null for NaN, null and zero. */
export const priceText = (price: number | null): string | null => {
  const value = price === null || Number.isNaN(price) ? null : priceRational(price)
  return value === null ? null : decimalText(value)
}

const feeOf = ({ feeLamports, feeUsdNanos, role }: TapeTrade): TokenTrade["frontEndFee"] =>
  role === "pool"
    ? null
    : {
        usd: feeUsdNanos === null ? null : dollarsText(feeUsdNanos ?? 0n),
        lamports: feeLamports ?? (feeUsdNanos === undefined ? 0n : null)
      }

/** The trade in the contract's type. */
export const tokenTrade = (trade: TapeTrade): TokenTrade => {
  const { index, lamports, volumeUsdNanos } = trade
  const worth = lamportsOf(trade)
  return {
    id: `${trade.signature}:${index}`,
    signature: trade.signature,
    slot: trade.slot,
    index,
    timeMs: trade.timeMs,
    side: trade.side,
    wallet: trade.wallet,
    pool: trade.pool,
    dex: trade.dex,
    launchpad: trade.launchpad,
    legs: {
      token: { mint: trade.mint, amount: trade.amount, decimals: trade.decimals },
      quote: lamports === null ? null : { mint: SOL, amount: lamports, decimals: SOL_DECIMALS }
    },
    priceUsd: priceText(trade.priceUsd),
    priceSol: priceText(priceSolOf(trade)),
    volumeUsd: volumeUsdNanos === null ? null : dollarsText(volumeUsdNanos),
    volumeSol: worth === null ? null : fromAtomic(worth, SOL_DECIMALS),
    isWhole: trade.role === "both",
    frontEndFee: feeOf(trade)
  }
}
