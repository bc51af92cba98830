import { MAX_U64 } from "../../domain/Amount.ts"
import type { TapeTrade } from "./TapeTrade.ts"

/** Block times may be this far ahead of the local clock, in milliseconds. */
const AHEAD_MS = 60_000
const MOST_INDEX = 2 ** 22
const MOST_SLOT = 2 ** 31

const isWhole = (value: number, most: number) => Number.isInteger(value) && value >= 0 && value < most
const isPrice = (price: number | null) => price === null || (Number.isFinite(price) && price > 0)
const isAmount = (amount: bigint | null | undefined) =>
  amount === null || amount === undefined || (amount >= 0n && amount <= MAX_U64)

/** True when the values of a trade are possible and its time is not in the future. `nowMs` is the local time. */
export const isAcceptable = (trade: TapeTrade, nowMs: number): boolean =>
  trade.timeMs > 0 &&
  trade.timeMs <= nowMs + AHEAD_MS &&
  isWhole(trade.slot, MOST_SLOT) &&
  isWhole(trade.index, MOST_INDEX) &&
  isAmount(trade.amount) &&
  isAmount(trade.lamports) &&
  isAmount(trade.volumeUsdNanos) &&
  isAmount(trade.solUsdNanos) &&
  isAmount(trade.otherToken?.amount) &&
  isAmount(trade.held?.before) &&
  isAmount(trade.held?.after) &&
  isAmount(trade.feeUsdNanos) &&
  isAmount(trade.feeLamports) &&
  isAmount(trade.priorityLamports) &&
  isAmount(trade.tipLamports) &&
  isPrice(trade.priceUsd)
