/** Reads stored blocks a few thousand trades at a time, so that no query holds the database for long. */
import { Effect, Option, Stream } from "effect"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import type { Broken } from "../../storage/deadline.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { LAST_MS, type RestoreRequest, type StoredBatch, type StoredLaunch } from "../model/StoredBatch.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import type { makeTradeTable, SlotSpan } from "./tradeTable.ts"

/** Trades read at a time. More would delay other work while they are decoded. */
const PAGE = 2000
/** The first stretch of time that is searched for the first trade. Each further stretch is four times as long. */
const STRETCH_MS = 60_000
/** Above this number the newest trades are not counted, because no store has as many. */
export const COUNTED = 2 ** 31
/** Not below any place in a slot. */
const LAST_PLACE = 2 ** 31 - 1

/** Builds blocks from their trades and launches, both in the order of the chain. */
export const blocksOf = (
  trades: ReadonlyArray<TapeTrade>,
  launches: ReadonlyArray<StoredLaunch>
): ReadonlyArray<StoredBatch> => {
  const traded = Map.groupBy(trades, ({ slot }) => slot)
  const launched = Map.groupBy(launches, ({ slot }) => slot)
  const slots = Array.from(new Set([...traded.keys(), ...launched.keys()])).toSorted((a, b) => a - b)
  return slots.map((slot) => {
    const [of, began] = [traded.get(slot) ?? [], launched.get(slot) ?? []]
    const timeMs = of[0]?.timeMs ?? began[0]?.timeMs ?? 0
    return { slot, timeMs, trades: of, launches: began.map(({ launch }) => launch), afterGap: false }
  })
}

type Ask = <A>(effect: Effect.Effect<A, Broken>) => Effect.Effect<A, TradeStoreUnavailable>

type Table = ReturnType<typeof makeTradeTable>

/** The blocks of a request: from its second and slot on, and at least the newest that hold `most` trades. */
const spanOf = Effect.fnUntraced(function* (
  table: Table,
  chain: number,
  progress: TradeProgress,
  { after, most, second, untilMs = LAST_MS }: RestoreRequest
) {
  const fromMs = second * 1000
  const endMs = Math.min(progress.timeMs, untilMs) + 1
  const all: SlotSpan = { chain, after, to: progress.slot, fromMs, untilMs }
  let first: number | null = null
  let [from, width] = [fromMs, STRETCH_MS]
  while (first === null && from < endMs) {
    first = yield* table.firstSlot(chain, from, Math.min(from + width, endMs))
    from += width
    width *= 4
  }
  const trades: SlotSpan = { ...all, after: Math.max(after, (first ?? progress.slot + 1) - 1) }
  const cut = first === null || most > COUNTED ? null : yield* table.newestSlot(trades, Math.max(1, most))
  // Launches may be older than the oldest trade, unless older trades are left out.
  return cut === null
    ? { launches: all, trades }
    : { launches: { ...all, after: cut - 1 }, trades: { ...all, after: cut - 1 } }
})

/** The progress of reading. The trades of the last block may be incomplete, so they are held back. */
interface Reading {
  readonly launchesAfter: number
  readonly tradesAfter: number
  readonly place: number
  readonly held: ReadonlyArray<TapeTrade>
}

/** See `BlockStore.since`. */
export const restoreBlocks = (
  table: Table,
  chain: number,
  progress: TradeProgress | null,
  request: RestoreRequest,
  ask: Ask
): Stream.Stream<StoredBatch, TradeStoreUnavailable> => {
  if (progress === null) {
    return Stream.empty
  }
  const read = Effect.fnUntraced(function* (
    { launches, trades }: { readonly launches: SlotSpan; readonly trades: SlotSpan },
    { held, launchesAfter, place, tradesAfter }: Reading
  ) {
    const found = yield* ask(table.next(trades, { slot: tradesAfter, place }, PAGE))
    const all = held.length === 0 ? found : [...held, ...found]
    const last = found.at(-1)
    const isWhole = found.length < PAGE || last === undefined
    const end = isWhole ? trades.to : last.slot - 1
    const began = yield* ask(table.launchesWithin({ ...launches, after: launchesAfter, to: end }))
    const blocks = blocksOf(isWhole ? all : all.filter(({ slot }) => slot <= end), began)
    const next: Option.Option<Reading> = isWhole
      ? Option.none()
      : Option.some({
          launchesAfter: Math.max(launchesAfter, end),
          tradesAfter: last.slot,
          place: last.index,
          held: all.filter(({ slot }) => slot > end)
        })
    return [blocks, next] as const
  })
  return Stream.unwrap(
    Effect.map(ask(spanOf(table, chain, progress, request)), (spans) =>
      Stream.paginate(
        { launchesAfter: spans.launches.after, tradesAfter: spans.trades.after, place: LAST_PLACE, held: [] },
        (at: Reading) => read(spans, at)
        // The next page is read while this one is applied.
      ).pipe(Stream.bufferArray({ capacity: 1 }))
    )
  )
}
