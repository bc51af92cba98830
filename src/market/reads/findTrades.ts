/** Pages of swaps from memory and from the store, with no hole and no double between the two. */
import { Effect } from "effect"
import { newestFirst, type TradeFilter, type TradePlace, type TradesFound } from "../model/TradesRequest.ts"
import type { Mint } from "../../domain/Address.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { Market } from "../tape/Market.ts"

/** The part of the tape in which trades are found. */
export type TradeSources = Pick<Market["Service"], "gaps" | "recent" | "stored">

/** A page of swaps. */
export interface FoundTrades {
  /** Newest first, each once. */
  readonly trades: ReadonlyArray<TapeTrade>
  readonly next: TradePlace | null
  /** True when the store did not answer, so that the trades come from memory alone. */
  readonly isMissing: boolean
}

interface Request {
  readonly mints: ReadonlyArray<Mint>
  readonly filter: TradeFilter
  readonly before: TradePlace | null
  readonly limit: number
}

const NOTHING: TradesFound = { trades: [], searchedTo: null }

/** From this slot on memory has every trade. Blocks of a gap may be in the store alone. */
const wholeFrom = ({ gaps, recent }: TradeSources): number =>
  gaps().reduce((from, { toSlot }) => Math.max(from, toSlot + 1), recent.fromSlot)

const isSame = (a: TradePlace, b: TradePlace | undefined): boolean => a.slot === b?.slot && a.index === b.index

/** The trades of several lists, newest first, each once. The earliest list wins. */
const merged = (lists: ReadonlyArray<ReadonlyArray<TapeTrade>>): ReadonlyArray<TapeTrade> =>
  lists
    .flat()
    .toSorted(newestFirst)
    .filter((trade, at, all) => !isSame(trade, all[at - 1]))

/** The newest place at which a search ended early. Trades older than it are unknown. */
const endOf = (found: ReadonlyArray<TradesFound>): TradePlace | null =>
  found
    .flatMap(({ searchedTo }) => (searchedTo === null ? [] : [searchedTo]))
    .toSorted(newestFirst)
    .at(0) ?? null

const pageOf = (
  trades: ReadonlyArray<TapeTrade>,
  end: TradePlace | null,
  limit: number
): Pick<FoundTrades, "next" | "trades"> => {
  const searched = end === null ? trades : trades.filter((trade) => newestFirst(trade, end) <= 0)
  const page = searched.slice(0, limit)
  const last = page.at(-1)
  return searched.length > limit && last !== undefined
    ? { trades: page, next: { slot: last.slot, index: last.index } }
    : { trades: page, next: end }
}

/** The newest swaps of a request. The store is not asked when memory alone fills the page. */
export const findTrades = Effect.fnUntraced(function* (sources: TradeSources, request: Request) {
  const { before, filter, limit, mints } = request
  const stored = sources.stored()
  const whole = wholeFrom(sources)
  const requests = mints.map((mint) => ({ ...filter, mint, before, limit: limit + 1 }))
  const recent = merged(requests.map((each) => sources.recent.find(each)))
  const current = recent.filter(({ slot }) => slot >= whole)
  if (stored === null) {
    return { ...pageOf(recent, null, limit), isMissing: false } satisfies FoundTrades
  }
  if (current.length > limit) {
    return { ...pageOf(current, null, limit), isMissing: false } satisfies FoundTrades
  }
  const found = yield* Effect.forEach(requests, (each) => stored.trades.swapsOf(each)).pipe(
    Effect.tapError(({ cause }) => Effect.logWarning("Stored trades cannot be read", cause)),
    Effect.orElseSucceed(() => null)
  )
  if (found === null) {
    return { ...pageOf(current, null, limit), isMissing: true } satisfies FoundTrades
  }
  // The store comes first, because a repair may have given its trades another price.
  const all = merged([...found.map(({ trades }) => trades), recent])
  return { ...pageOf(all, endOf([NOTHING, ...found]), limit), isMissing: false } satisfies FoundTrades
})
