/** Writes the blocks of the tape to the store. The tape waits for it only for a bounded time. */
import { Cause, Clock, Config, Duration, Effect, Latch, Option, Schedule, Stream } from "effect"
import { countSetting } from "../../domain/countSetting.ts"
import { TradeStoreUnavailable } from "../../domain/market/Trade.ts"
import { keepRunning } from "../../health/keepRunning.ts"
import { noteFailure, type SourceState } from "../../health/SourceMonitor.ts"
import { clickHouseUrl } from "../../storage/clickhouse/ClickHouse.ts"
import type { TradeStore } from "./TradeStore.ts"
import type { StoredBatch } from "./StoredBatch.ts"

/** The limits of batching and queueing. */
export interface RecordSettings {
  /** Trades written at a time. */
  readonly rows: number
  /** The time that trades are gathered before a smaller batch is written. */
  readonly gather: Duration.Duration
  /** Trades that may wait to be written; above this the oldest are abandoned and read again from the chain. */
  readonly waiting: number
  /** The time that the tape waits for room before blocks are abandoned. */
  readonly roomTimeout: Duration.Duration
}

/** Reads blocks after a slot again, because they were abandoned. */
export type Reread = (after: number) => Stream.Stream<StoredBatch, TradeStoreUnavailable>

/** The pause between two attempts to write to a store that is unavailable. */
const RETRY_INTERVAL = Duration.seconds(1)

/** The time for which blocks may wait, and without a stored block, before the store counts as stale. */
const LAGGING_MS = 10_000
const SILENT_MS = 30_000

/** ClickHouse merges the rows of every insert with others later, so that it takes few large ones better than many small ones. */
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

/** A block counts as a row, so that blocks without trades do not wait without bound. */
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

  /** Removes and returns the oldest blocks with at most this many rows, but at least one block. */
  take(rows: number): ReadonlyArray<StoredBatch> {
    let sum = 0
    const end = this.#batches.findIndex((batch) => (sum += rowsOf(batch)) >= rows)
    const taken = this.#batches.splice(0, end === -1 ? this.#batches.length : end + 1)
    this.#rows -= taken.reduce((total, batch) => total + rowsOf(batch), 0)
    return taken
  }

  /** Removes the oldest blocks until there is room, and returns them. */
  trim(): ReadonlyArray<StoredBatch> {
    return this.isFull ? this.take(this.#rows - this.#most + 1) : []
  }
}

/** The progress of the writer. */
interface Recording {
  /** The newest slot that is stored. */
  durable: number
  /** The newest slot that was abandoned; later than the stored one while blocks have to be read again. */
  lost: number
  /** The blocks that are being written. */
  writing: ReadonlyArray<StoredBatch>
  isUnavailable: boolean
  /** The time of the last success; null before the first. */
  storedAtMs: number | null
  /** The time since which blocks have been waiting; null while none is. */
  behindSinceMs: number | null
}

/** A defect of the store, or a query that was cut off, leaves the blocks unwritten as much as a failure does. */
const anyFailure = <A, R>(effect: Effect.Effect<A, TradeStoreUnavailable, R>) =>
  Effect.catchCause(effect, (cause) => {
    const failure = Cause.squash(cause)
    return Effect.fail(
      failure instanceof TradeStoreUnavailable ? failure : new TradeStoreUnavailable({ cause: failure })
    )
  })

/**
 * A recorder that continues after the stored slot. `offer` returns at once, except that it waits up to `roomTimeout` while
 * the queue is full. Blocks that are abandoned then are read again once the store is available, so that none is lost.
 */
export const makeRecorder = Effect.fnUntraced(function* (
  store: TradeStore["Service"],
  { after, reread }: { readonly after: number; readonly reread: Reread },
  settings: RecordSettings
) {
  const waiting = new Waiting(settings.waiting)
  const state: Recording = {
    durable: after,
    lost: after,
    writing: [],
    isUnavailable: false,
    storedAtMs: null,
    behindSinceMs: null
  }
  const [arrived, room] = [Latch.makeUnsafe(false), Latch.makeUnsafe(true)]

  const abandon = (batches: ReadonlyArray<StoredBatch>): void => {
    state.lost = Math.max(state.lost, batches.at(-1)?.slot ?? 0)
  }

  const reportFailure = Effect.fnUntraced(function* (cause: TradeStoreUnavailable) {
    if (!state.isUnavailable) {
      yield* Effect.logWarning("Trades cannot be stored", { after: state.durable }, cause)
    }
    state.isUnavailable = true
    yield* noteFailure("trades", cause)
  })

  const reportSuccess = Effect.fnUntraced(function* (batches: ReadonlyArray<StoredBatch>) {
    state.durable = Math.max(state.durable, batches.at(-1)?.slot ?? 0)
    state.storedAtMs = yield* Clock.currentTimeMillis
    state.behindSinceMs = waiting.isEmpty && state.lost <= state.durable ? null : state.storedAtMs
    if (state.isUnavailable) {
      yield* Effect.logInfo("Trades are stored again", { slot: state.durable, waiting: waiting.rows })
    }
    state.isUnavailable = false
  })

  /** Stores blocks, retrying until it succeeds or, where `mayAbandon`, until later blocks have been abandoned. */
  const write = (batches: ReadonlyArray<StoredBatch>, mayAbandon: boolean) =>
    anyFailure(Effect.andThen(store.append(batches), store.closeBars)).pipe(
      Effect.tapError(reportFailure),
      Effect.retry({
        schedule: Schedule.spaced(RETRY_INTERVAL),
        while: () => !mayAbandon || state.lost <= state.durable
      }),
      Effect.andThen(reportSuccess(batches)),
      Effect.catch(() => Effect.sync(() => abandon(batches)))
    )

  /** Reads abandoned blocks again, up to the first waiting one. */
  const recover = Effect.suspend(() =>
    reread(state.durable).pipe(
      Stream.takeUntil(({ slot }) => slot >= state.lost),
      Stream.groupedWithin(100, settings.gather),
      Stream.runForEach((batches) => write(batches, false))
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

  /** Stale while blocks cannot be stored, wait for more than 10 s, or have not come for 30 s. */
  const health = (nowMs: number): SourceState => {
    const { behindSinceMs, isUnavailable, storedAtMs } = state
    const lags = isUnavailable || (behindSinceMs !== null && nowMs - behindSinceMs > LAGGING_MS)
    const isSilent = storedAtMs !== null && nowMs - storedAtMs > SILENT_MS
    const status = storedAtMs === null ? "unavailable" : lags || isSilent ? "stale" : "known"
    return { observedAtMs: storedAtMs, status }
  }

  /** Every block after the stored ones, oldest first; none while some of them were abandoned. */
  const unstored = (): ReadonlyArray<StoredBatch> =>
    state.lost > state.durable ? [] : [...state.writing, ...waiting.batches].filter(({ slot }) => slot > state.durable)

  return { offer, health, durable: () => state.durable, unstored }
})
