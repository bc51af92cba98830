/** Pages of the pool swaps of one mint, newest first. */
import type { Address, Mint } from "../../domain/Address.ts"
import { isSolSwap } from "../tape/SolPrice.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import { isMoneySwap } from "../tape/TokenPrices.ts"

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

/** Selects the largest pool swaps of a mint in blocks up to a slot. */
export interface LargestRequest {
  readonly mint: Mint
  /** Beginnings of the spans, ascending; each span ends where the next begins. */
  readonly startsMs: ReadonlyArray<number>
  readonly toSlot: number
}

/** The largest pool swaps of a mint, of those with a known value. */
export interface LargestFound {
  /** That of each span that has one, the newest of equal ones. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** Time of the newest swap that was not compared, because the search is bounded; null when all were. */
  readonly clippedAtMs: number | null
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

/** Orders trades by value, the largest first and of equal ones the newest; unknown values come last. */
export const largestFirst = (a: TapeTrade, b: TapeTrade): number => {
  const [x, y] = [a.volumeUsdNanos ?? -1n, b.volumeUsdNanos ?? -1n]
  return x === y ? newestFirst(a, b) : x > y ? -1 : 1
}

/** The largest pool swaps of a request among these trades, one of each span. */
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

/** Selects the newest swaps of tokens against SOL or a dollar in pools. */
export interface MoneySwapsRequest {
  /** Tokens, each with the slot up to and including which its swaps count. */
  readonly places: ReadonlyArray<{ readonly mint: Mint; readonly slot: number }>
  readonly fromMs: number
  /** Swaps of each place. */
  readonly most: number
}

/**
 * Selects the swaps of two tokens after a slot and up to a time of which one is among `mints`: up to the slot at which that
 * one has been swapped `most` times against SOL or a dollar since.
 */
export interface TokenSwapsRequest {
  readonly after: number
  readonly fromMs: number
  readonly toMs: number
  readonly mints: ReadonlyArray<Mint>
  readonly most: number
}

type Trades = ReadonlyArray<TapeTrade>

const inOrder = (trades: Trades): Trades => trades.toSorted(newestFirst).toReversed()

/** See `TradeStore.solSwaps`. */
export const newestSolSwaps = (trades: Trades, slot: number, most: number): Trades =>
  trades
    .filter((trade) => trade.slot <= slot && isSolSwap(trade))
    .toSorted(newestFirst)
    .slice(0, most)
    .toReversed()

/** See `TradeStore.moneySwaps`. */
export const newestMoneySwaps = (trades: Trades, slot: number, spanMs: number, most: number): Trades => {
  const until = inOrder(trades.filter((trade) => trade.slot <= slot))
  const fromMs = (until.at(-1)?.timeMs ?? 0) - spanMs
  const byMint = Map.groupBy(
    until.filter((trade) => trade.timeMs >= fromMs && isMoneySwap(trade)),
    ({ mint }) => mint
  )
  return inOrder(Array.from(byMint.values()).flatMap((swaps) => swaps.slice(-most)))
}

/** See `TradeStore.moneySwapsOf`. */
export const moneySwapsOf = (trades: Trades, { fromMs, most, places }: MoneySwapsRequest): Trades => {
  const swaps = inOrder(trades.filter((trade) => trade.timeMs >= fromMs && isMoneySwap(trade)))
  const byMint = Map.groupBy(swaps, ({ mint }) => mint)
  const found = places.flatMap(({ mint, slot }) =>
    (byMint.get(mint) ?? []).filter((trade) => trade.slot <= slot).slice(-most)
  )
  return inOrder(Array.from(new Set(found)))
}

/** See `TradeStore.tokenSwapsAfter`. */
export const tokenSwapsAfter = (trades: Trades, { after, fromMs, mints, most, toMs }: TokenSwapsRequest): Trades => {
  const later = inOrder(trades.filter(({ slot, timeMs }) => slot > after && timeMs >= fromMs && timeMs <= toMs))
  const swaps = Map.groupBy(later.filter(isMoneySwap), ({ mint }) => mint)
  const ends = new Map(mints.map((mint) => [mint, swaps.get(mint)?.[most - 1]?.slot ?? Number.POSITIVE_INFINITY]))
  return later.filter(
    ({ mint, otherToken, slot }) =>
      otherToken !== undefined && [mint, otherToken.mint].some((each) => slot <= (ends.get(each) ?? 0))
  )
}
