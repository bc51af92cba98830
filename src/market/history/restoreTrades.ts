/** Builds stored blocks from trades in ClickHouse and launches in PostgreSQL. */
import { Effect, Stream } from "effect"
import type { ClickHouseUnavailable } from "../../storage/clickhouse/ClickHouse.ts"
import { blocksOf, COUNTED } from "./restoreBlocks.ts"
import { LAST_MS, type RestoreRequest, type StoredBatch, type StoredLaunch } from "../model/StoredBatch.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { makeTradeQueries, Span } from "./tradeQueries.ts"

/** The name of the chain in ClickHouse, the newest block that is stored completely, and the launches in PostgreSQL. */
interface Source<E> {
  readonly chain: string
  readonly toSlot: number
  readonly launchesWithin: (span: Span) => Effect.Effect<ReadonlyArray<StoredLaunch>, E>
}

type Queries = ReturnType<typeof makeTradeQueries>

/** See `BlockStore.since`. */
export const restoreTrades = <E>(
  queries: Queries,
  { chain, launchesWithin, toSlot }: Source<E>,
  { after, most, second, untilMs = LAST_MS }: RestoreRequest
): Stream.Stream<StoredBatch, E | ClickHouseUnavailable> => {
  const pages = Effect.gen(function* () {
    const all: Span = { after, to: toSlot, fromMs: second * 1000, untilMs }
    const first = yield* queries.firstSlot(chain, all)
    const cut = first === null || most > COUNTED ? null : yield* queries.slotOfNewest(chain, all, Math.max(1, most))
    // Launches may be older than the oldest trade, unless older trades are left out.
    const launches = yield* launchesWithin(cut === null ? all : { ...all, after: cut - 1 })
    const from = cut ?? first
    const trades: Stream.Stream<ReadonlyArray<TapeTrade>, ClickHouseUnavailable> = from === null
      ? Stream.empty
      : queries.inOrder(chain, { ...all, after: from - 1 })
    let given = 0
    const upTo = (end: number): ReadonlyArray<StoredLaunch> => {
      const start = given
      while (given < launches.length && (launches[given]?.slot ?? 0) <= end) {
        given += 1
      }
      return launches.slice(start, given)
    }
    const blocks = Stream.flatMap(trades, (rows) => Stream.fromIterable(blocksOf(rows, upTo(rows.at(-1)?.slot ?? 0))))
    return Stream.concat(
      blocks,
      Stream.suspend(() => Stream.fromIterable(blocksOf([], upTo(Number.POSITIVE_INFINITY))))
    )
  })
  return Stream.unwrap(pages)
}
