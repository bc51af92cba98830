/** Pages of the pool swaps of one mint, newest first. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"

/** A place among the trades of the chain. */
export type TradePlace = Pick<TapeTrade, "slot" | "index">

/** Filters of pool swaps; null does not filter. */
export interface TradeFilter {
  readonly side: TapeTrade["side"] | null
  readonly wallet: Address | null
  readonly pool: Address | null
  /** Swaps of at least this value; those of an unknown value are left out. */
  readonly minUsdNanos: bigint | null
  /** Block times in `[fromMs, toMs)`. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

/** Selects the newest `limit` pool swaps of a mint that come before a place. */
export interface TradesRequest extends TradeFilter {
  readonly mint: Mint
  /** Null for the newest ones. */
  readonly before: TradePlace | null
  readonly limit: number
}

/** Pool swaps of a mint. */
export interface TradesFound {
  /** Newest first. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** The place where the search ended with fewer trades than asked for; null when nothing older was left to search. */
  readonly searchedTo: TradePlace | null
}

/** Negative when `a` is the newer of two places. */
export const newestFirst = (a: TradePlace, b: TradePlace): number => b.slot - a.slot || b.index - a.index

/** True for a pool swap that passes the filter. */
export const passesFilter = (
  trade: TapeTrade,
  { fromMs, minUsdNanos, pool, side, toMs, wallet }: TradeFilter
): boolean =>
  trade.role !== "wallet" &&
  (side === null || trade.side === side) &&
  (wallet === null || trade.wallet === wallet) &&
  (pool === null || trade.pool === pool) &&
  (minUsdNanos === null || (trade.volumeUsdNanos !== null && trade.volumeUsdNanos >= minUsdNanos)) &&
  (fromMs === null || trade.timeMs >= fromMs) &&
  (toMs === null || trade.timeMs < toMs)

/** True for a swap of the request. */
export const isRequested = (trade: TapeTrade, request: TradesRequest): boolean =>
  trade.mint === request.mint &&
  (request.before === null || newestFirst(request.before, trade) < 0) &&
  passesFilter(trade, request)
