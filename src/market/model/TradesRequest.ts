/** Requests for pool swaps of mints, and what they find. */
import type { Address, Mint } from "../../domain/Address.ts"
import { isSolSwap } from "./SolPrice.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { isMoneySwap } from "./TokenPrices.ts"

/** A place among the trades of the chain. */
export type TradePlace = Pick<TapeTrade, "slot" | "index">

/** Filters of pool swaps. Null does not filter. */
export interface TradeFilter {
  readonly side: TapeTrade["side"] | null
  readonly wallet: Address | null
  readonly pool: Address | null
  /** Swaps of at least this value. Swaps of unknown value are left out. */
  readonly minUsdNanos: bigint | null
  /** Block times in `[fromMs, toMs)`. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

/** Selects the newest `limit` pool swaps of a mint that come before a place. */
export interface TradesRequest extends TradeFilter {
  readonly mint: Mint
  /** Null starts with the newest swap. */
  readonly before: TradePlace | null
  readonly limit: number
}

/** Pool swaps of a mint. */
export interface TradesFound {
  /** Newest first. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** Where the search ended with fewer trades than asked for; null when nothing older was left to search. */
  readonly searchedTo: TradePlace | null
}

/** Selects rows of a wallet that come before a place: its net trades, or its transfers. Null does not filter. */
export interface OlderRequest extends Pick<TradeFilter, "fromMs" | "side" | "toMs"> {
  readonly wallet: Address
  readonly kind: "trades" | "transfers"
  readonly mint: Mint | null
  readonly before: TradePlace
  readonly limit: number
}

/** Rows of a wallet. */
export interface OlderFound {
  /** Newest first. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** The row where the search ended with fewer rows than asked for; null when nothing older was left to search. */
  readonly searchedTo: TapeTrade | null
}

/** True for a row that the request selects. */
export const isOlder = (trade: TapeTrade, { before, fromMs, kind, mint, side, toMs, wallet }: OlderRequest): boolean =>
  trade.wallet === wallet &&
  trade.role !== "pool" &&
  (trade.role === "transfer") === (kind === "transfers") &&
  newestFirst(before, trade) < 0 &&
  (mint === null || trade.mint === mint) &&
  (side === null || trade.side === side) &&
  (fromMs === null || trade.timeMs >= fromMs) &&
  (toMs === null || trade.timeMs < toMs)

/** Selects the largest pool swaps of a mint in blocks up to a slot. */
export interface LargestRequest {
  readonly mint: Mint
  /** Beginnings of the spans, ascending. Each span ends where the next begins. */
  readonly startsMs: ReadonlyArray<number>
  readonly toSlot: number
}

/** The largest pool swaps of a mint among the swaps of known value. */
export interface LargestFound {
  /** One swap for each span that has any. Of equal swaps the newest counts. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** Time of the newest swap that was not compared because the search is bounded; null when all were compared. */
  readonly clippedAtMs: number | null
}

/** Compares places for sorting, newest first. */
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

/** True for a swap that the request selects. */
export const isRequested = (trade: TapeTrade, request: TradesRequest): boolean =>
  trade.mint === request.mint &&
  (request.before === null || newestFirst(request.before, trade) < 0) &&
  passesFilter(trade, request)

/** Compares trades for sorting: the largest value first, then the newest. Unknown values come last. */
export const largestFirst = (a: TapeTrade, b: TapeTrade): number => {
  const [x, y] = [a.volumeUsdNanos ?? -1n, b.volumeUsdNanos ?? -1n]
  return x === y ? newestFirst(a, b) : x > y ? -1 : 1
}

/** The largest pool swap of each span of the request, among these trades. */
export const largestOf = (
  trades: ReadonlyArray<TapeTrade>,
  { mint, startsMs, toSlot }: LargestRequest
): ReadonlyArray<TapeTrade> => {
  const swaps = trades.filter(
    (trade) => trade.mint === mint && trade.role !== "wallet" && trade.slot <= toSlot && trade.volumeUsdNanos !== null
  )
  return startsMs.flatMap((startMs, at) => {
    const endMs = startsMs[at + 1] ?? Number.POSITIVE_INFINITY
    const [largest] = swaps.filter(({ timeMs }) => timeMs >= startMs && timeMs < endMs).toSorted(largestFirst)
    return largest === undefined ? [] : [largest]
  })
}

/** Selects the newest pool swaps of tokens for SOL or a dollar. */
export interface MoneySwapsRequest {
  /** Tokens, each with the last slot whose swaps count. */
  readonly places: ReadonlyArray<{ readonly mint: Mint; readonly slot: number }>
  readonly fromMs: number
  /** The most swaps for each place. */
  readonly most: number
}

/**
 * Selects swaps of two tokens after a slot and up to a time, when one of the tokens is among `mints`. A token counts
 * until the slot in which it was swapped for SOL or a dollar for the `most`-th time since.
 */
export interface TokenSwapsRequest {
  readonly after: number
  readonly fromMs: number
  readonly toMs: number
  readonly mints: ReadonlyArray<Mint>
  readonly most: number
}

type Trades = ReadonlyArray<TapeTrade>

/** Sorts trades into the order of the chain. */
export const inOrder = (trades: Trades): Trades => trades.toSorted(newestFirst).toReversed()

/** See `TradeHistory.solSwaps`. */
export const newestSolSwaps = (trades: Trades, slot: number, most: number): Trades =>
  trades
    .filter((trade) => trade.slot <= slot && isSolSwap(trade))
    .toSorted(newestFirst)
    .slice(0, most)
    .toReversed()

/** See `TradeHistory.tokenSwapsAfter`. */
export const tokenSwapsAfter = (trades: Trades, { after, fromMs, mints, most, toMs }: TokenSwapsRequest): Trades => {
  const later = inOrder(trades.filter(({ slot, timeMs }) => slot > after && timeMs >= fromMs && timeMs <= toMs))
  const swaps = Map.groupBy(later.filter(isMoneySwap), ({ mint }) => mint)
  const ends = new Map(mints.map((mint) => [mint, swaps.get(mint)?.[most - 1]?.slot ?? Number.POSITIVE_INFINITY]))
  return later.filter(
    ({ mint, otherToken, slot }) =>
      otherToken !== undefined && [mint, otherToken.mint].some((each) => slot <= (ends.get(each) ?? 0))
  )
}
