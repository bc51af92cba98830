/** How a leader's trade is copied, computed in integers. */
import { minBigInt } from "../../programs/math/integers.ts"
import { type Mint, SOL, USDC } from "../../domain/Address.ts"
import type { FillReason, NewFollow } from "../../api/schemas/Copying.ts"
import { tenTo, toAtomic } from "../../domain/decimal.ts"
import { decimalText } from "../../domain/rational.ts"
import type { Decimal } from "../../domain/Scalar.ts"
import { BPS, LAMPORTS_PER_SOL, NANOS_PER_USD, USD_DIGITS } from "../../domain/units.ts"
import type { RecordedSwap } from "../chain/Ledger.ts"

const NANOS_PER_MICRO = 1000n

/** One trade of a token, with its value in lamports and dollars. */
export interface TokenTrade {
  readonly mint: Mint
  readonly side: "buy" | "sell"
  /** Amount in units of the mint. */
  readonly tokens: bigint
  readonly lamports: bigint
  readonly valueUsdNanos: bigint
}

/** Value of lamports in nano-dollars, rounded down. */
export const nanosOf = (lamports: bigint, microPerSol: bigint): bigint =>
  (lamports * microPerSol * NANOS_PER_MICRO) / LAMPORTS_PER_SOL

const isSolOrUsdc = (mint: Mint): boolean => mint === SOL || mint === USDC

/** Reads a swap as a trade of a token. Null between SOL and USDC, between two tokens, and when SOL has no price. */
export const tokenTradeOf = (swap: RecordedSwap, microPerSol: bigint): TokenTrade | null => {
  const { amountIn, amountOut, inputMint, outputMint } = swap
  if (isSolOrUsdc(inputMint) === isSolOrUsdc(outputMint) || microPerSol === 0n) {
    return null
  }
  const side = isSolOrUsdc(inputMint) ? "buy" : "sell"
  const [mint, tokens] = side === "buy" ? [outputMint, amountOut] : [inputMint, amountIn]
  const [money, paid] = side === "buy" ? [inputMint, amountIn] : [outputMint, amountOut]
  const trade = { mint, side, tokens } as const
  return money === SOL
    ? { ...trade, lamports: paid, valueUsdNanos: nanosOf(paid, microPerSol) }
    : { ...trade, lamports: (paid * LAMPORTS_PER_SOL) / microPerSol, valueUsdNanos: paid * NANOS_PER_MICRO }
}

/** Dollar price of one whole token; null for zero tokens. */
export const priceOfTrade = ({ tokens, valueUsdNanos }: TokenTrade, decimals: number): Decimal | null =>
  tokens === 0n
    ? null
    : decimalText({ numerator: valueUsdNanos * tenTo(decimals), denominator: tokens * NANOS_PER_USD })

const nanosOfText = (usd: Decimal): bigint => {
  const [whole = "0", fraction = ""] = usd.split(".")
  return BigInt(whole + fraction.slice(0, USD_DIGITS).padEnd(USD_DIGITS, "0"))
}

/** True when the follow's filters exclude this trade. `supply` is the mint's supply. */
export const isFiltered = ({ filters }: NewFollow, trade: TokenTrade, supply: bigint): boolean => {
  const { buys, maxMarketCapUsd, minLeaderUsd, sells } = filters
  if (!(trade.side === "buy" ? buys : sells)) {
    return true
  }
  if (minLeaderUsd !== null && trade.valueUsdNanos < nanosOfText(minLeaderUsd)) {
    return true
  }
  return maxMarketCapUsd !== null && trade.valueUsdNanos * supply > nanosOfText(maxMarketCapUsd) * trade.tokens
}

/** How many lamports the follow spends on a purchase, rounded down. */
export const stakeOf = ({ sizing }: NewFollow, trade: TokenTrade): bigint => {
  const { amount, maxPerTrade, ratioPct } = sizing
  const scale = ratioPct?.split(".")[1]?.length ?? 0
  const share = toAtomic(ratioPct ?? "0", scale)
  const wanted = amount ?? (typeof share === "bigint" ? (trade.lamports * share) / (100n * tenTo(scale)) : 0n)
  return maxPerTrade === null ? wanted : minBigInt(wanted, maxPerTrade)
}

/** Minimum output of a copy with this input: the leader's rate less the follow's slippage, rounded down. */
export const leastOut = ({ filters }: NewFollow, trade: TokenTrade, amountIn: bigint): bigint => {
  const [paid, got] = trade.side === "buy" ? [trade.lamports, trade.tokens] : [trade.tokens, trade.lamports]
  return paid === 0n ? 0n : (amountIn * got * (BPS - BigInt(filters.slippageBps))) / (paid * BPS)
}

/** Why a copy was not executed. */
export type Refusal = { readonly status: "failed" | "skipped"; readonly reason: FillReason }
