/** Writes the blocks of the bus to the store. The tape waits for the store only for a bounded time. */
import { Clock, Config, Duration, Effect, Latch, Option, Stream } from "effect"
import { countSetting } from "../../domain/countSetting.ts"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import { keepRunning, keepTrying } from "../../operations/keepRunning.ts"
import type { SourceState } from "../../operations/SourceMonitor.ts"
import { clickHouseUrl } from "../../storage/clickhouse/ClickHouse.ts"
import { storedState } from "./freshness.ts"
import type { BlockStore } from "../model/BlockStore.ts"
import { forkedSince } from "../model/Gaps.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"

export interface RecordSettings {
  /** Trades written at a time. */
  readonly rows: number
  /** A smaller batch is written after this time. */
  readonly gather: Duration.Duration
  /** Trades that may wait to be written. Above this many the oldest are abandoned, and read again later. */
  readonly waiting: number
  /** How long `offer` waits for room before blocks are abandoned. */
  readonly roomTimeout: Duration.Duration
}

/** Reads the blocks after a slot again, because they were abandoned. */
export type Reread = (after: number) => Stream.Stream<StoredBatch, TradeStoreUnavailable>

/** The store counts as stale once blocks have waited for this long. */
const LAGGING_MS = 10_000

/** ClickHouse merges inserts in the background, so few large ones suit it better than many small ones. */
const CLICKHOUSE_BATCH = { rows: 20_000, gather: Duration.seconds(1) }
const POSTGRESQL_BATCH = { rows: 5000, gather: Duration.millis(200) }

/** `TRADES_UNWRITTEN` (200,000) bounds the rows that wait in memory while the store is unavailable. */
export const recordSettings: Config.Config<RecordSettings> = Config.map(
  Config.all({ waiting: countSetting("TRADES_UNWRITTEN", 200_000), url: clickHouseUrl }),
  ({ url, waiting }) => ({
    ...(Option.isSome(url) ? CLICKHOUSE_BATCH : POSTGRESQL_BATCH),
    waiting,
    roomTimeout: Duration.seconds(2)
  })
)

/** A block counts as one more row, so that blocks without trades are bounded too. */
const rowsOf = ({ trades, transfers = [] }: StoredBatch): number => trades.length + transfers.length + 1

/** Blocks on their way to the store, oldest first. */
class Waiting {
  readonly #most: number
  #batches: Array<StoredBatch> = []
  #rows = 0

  constructor(most: number) {
    this.#most = most
  }

  get rows(): number {
    return this.#rows
  }

  get isFull(): boolean {
    return this.#rows >= this.#most
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0
  }

  get batches(): ReadonlyArray<StoredBatch> {
    return this.#batches
  }

  add(batch: StoredBatch): void {
    this.#batches.push(batch)
    this.#rows += rowsOf(batch)
  }

  /** Removes and returns the oldest blocks: about this many rows, but at least one block. */
  take(rows: number): ReadonlyArray<StoredBatch> {
    let sum = 0
    const end = this.#batches.findIndex((batch) => (sum += rowsOf(batch)) >= rows)
    const taken = this.#batches.splice(0, end === -1 ? this.#batches.length : end + 1)
    this.#rows -= taken.reduce((total, batch) => total + rowsOf(batch), 0)
    return taken
  }

  /** Removes and returns the oldest blocks until there is room. */
  trim(): ReadonlyArray<StoredBatch> {
    return this.isFull ? this.take(this.#rows - this.#most + 1) : []
  }
}

interface Recording {
  /** The newest slot that is stored. */
  durable: number
  /** The newest slot that was abandoned. Later than `durable` while blocks have to be read again. */
  lost: number
  /** The first slot of another fork that abandoned blocks report; infinite when there is none. */
  forkedFrom: number
  /** The blocks that are being written. */
  writing: ReadonlyArray<StoredBatch>
  isUnavailable: boolean
  /** The own time of the newest block that this process has stored; null before the first. */
  storedToMs: number | null
  /** Since when blocks have been waiting; null while none is. */
  behindSinceMs: number | null
}

/**
 * A recorder that goes on after the stored slot. `offer` returns at once, but waits up to `roomTimeout` while the queue
 * is full. Blocks that are abandoned then are read again once the store answers, so none is lost.
 */
export const makeRecorder = Effect.fnUntraced(function* (
  store: BlockStore["Service"],
  { after, reread }: { readonly after: number; readonly reread: Reread },
  settings: RecordSettings
) {
  const waiting = new Waiting(settings.waiting)
  const state: Recording = {
    durable: after,
    lost: after,
    forkedFrom: Number.POSITIVE_INFINITY,
    writing: [],
    isUnavailable: false,
    storedToMs: null,
    behindSinceMs: null
  }
  const [arrived, room] = [Latch.makeUnsafe(false), Latch.makeUnsafe(true)]

  const abandon = (batches: ReadonlyArray<StoredBatch>): void => {
    state.lost = Math.max(state.lost, batches.at(-1)?.slot ?? 0)
    const last = { slot: state.durable }
    state.forkedFrom = batches.reduce((from, batch) => Math.min(from, forkedSince(batch, last)), state.forkedFrom)
  }

  const reportSuccess = Effect.fnUntraced(function* (batches: ReadonlyArray<StoredBatch>) {
    const newest = batches.at(-1)
    state.durable = Math.max(state.durable, newest?.slot ?? 0)
    state.storedToMs = Math.max(state.storedToMs ?? 0, newest?.timeMs ?? 0)
    state.behindSinceMs = waiting.isEmpty && state.lost <= state.durable ? null : yield* Clock.currentTimeMillis
    if (state.isUnavailable) {
      yield* Effect.logInfo("Trades are stored again", { slot: state.durable, waiting: waiting.rows })
    }
    state.isUnavailable = false
  })

  /** Stores blocks. Retries until it succeeds or, with `mayAbandon`, until later blocks have been abandoned. */
  const write = (batches: ReadonlyArray<StoredBatch>, mayAbandon: boolean) =>
    Effect.andThen(store.append(batches), store.closeBars).pipe(
      Effect.andThen(reportSuccess(batches)),
      Effect.catchCause((cause) => {
        state.isUnavailable = true
        return mayAbandon && state.lost > state.durable ? Effect.sync(() => abandon(batches)) : Effect.failCause(cause)
      }),
      keepTrying("Storing trades", { source: "trades" })
    )

  /** The first of the blocks that are read again reports the fork that abandoned blocks have reported. */
  const withFork = (batches: ReadonlyArray<StoredBatch>): ReadonlyArray<StoredBatch> => {
    const [first, ...rest] = batches
    const { durable, forkedFrom } = state
    if (first === undefined) {
      return batches
    }
    state.forkedFrom = Number.POSITIVE_INFINITY
    return forkedFrom > durable
      ? batches
      : [{ ...first, afterGap: true, forkedFrom: Math.min(forkedFrom, forkedSince(first, first)) }, ...rest]
  }

  /** Reads abandoned blocks again, up to the first waiting one. */
  const recover = Effect.suspend(() =>
    reread(state.durable).pipe(
      Stream.takeUntil(({ slot }) => slot >= state.lost),
      Stream.groupedWithin(100, settings.gather),
      Stream.runForEach((batches) => write(withFork(batches), false))
    )
  )

  const writeNext = Effect.gen(function* () {
    yield* arrived.await
    if (waiting.rows < settings.rows) {
      yield* Effect.sleep(settings.gather)
    }
    if (state.lost > state.durable) {
      return yield* recover
    }
    const batches = waiting.take(settings.rows)
    room.openUnsafe()
    if (waiting.isEmpty) {
      arrived.closeUnsafe()
    }
    state.writing = batches
    yield* write(batches, true).pipe(Effect.ensuring(Effect.sync(() => (state.writing = []))))
  })

  yield* Effect.forever(writeNext).pipe(keepRunning("Storing trades", "trades"), Effect.forkScoped)

  const offer = Effect.fnUntraced(function* (batch: StoredBatch) {
    if (waiting.isFull && state.lost <= state.durable) {
      room.closeUnsafe()
      yield* room.await.pipe(Effect.timeoutOption(settings.roomTimeout))
    }
    const gone = waiting.trim()
    waiting.add(batch)
    state.behindSinceMs ??= yield* Clock.currentTimeMillis
    arrived.openUnsafe()
    if (gone.length > 0) {
      if (state.lost <= state.durable) {
        yield* Effect.logWarning("Trades wait too long to be stored and will be read again", { after: state.durable })
      }
      abandon(gone)
    }
  })

  /** Stale while blocks cannot be stored, have waited for more than 10 s, or are old: see `storedState`. */
  const health = (nowMs: number): SourceState => {
    const { behindSinceMs, durable, isUnavailable, storedToMs } = state
    const lags = isUnavailable || (behindSinceMs !== null && nowMs - behindSinceMs > LAGGING_MS)
    return storedState(storedToMs === null ? null : { slot: durable, timeMs: storedToMs }, lags, nowMs)
  }

  /** The blocks that are not stored yet, oldest first; none while some were abandoned. */
  const unstored = (): ReadonlyArray<StoredBatch> =>
    state.lost > state.durable ? [] : [...state.writing, ...waiting.batches].filter(({ slot }) => slot > state.durable)

  return { offer, health, durable: () => state.durable, unstored }
})
