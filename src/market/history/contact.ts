/**
 * Tracks whether ClickHouse answers this process. The first call brings the tables up to date. While ClickHouse is
 * away, calls fail at once.
 */
import { Clock, Duration, Effect, Semaphore } from "effect"
import { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import { noteFailure, SourceMonitor } from "../../operations/SourceMonitor.ts"
import { ClickHouse, ClickHouseUnavailable } from "../../storage/clickhouse/ClickHouse.ts"
import { migrate } from "../../storage/clickhouse/migrate.ts"
import { migrations } from "./schema.ts"

const PING_DEADLINE = Duration.seconds(2)

const SOURCE = "clickhouse"

/** Turns a failure into a failure of the trade store. */
export const asUnavailable = (cause: unknown): TradeStoreUnavailable =>
  cause instanceof TradeStoreUnavailable ? cause : new TradeStoreUnavailable({ cause })

interface Contact {
  isPrepared: boolean
  isAway: boolean
  /** True after a failed write. A server may answer and still take no rows. */
  isRefused: boolean
  answeredAtMs: number | null
  absences: number
}

const gone = new ClickHouseUnavailable({ cause: new Error("it did not answer before") })

/** Makes the contact. `afterwards` runs once the tables are up to date. */
export const makeContact = Effect.fnUntraced(function* (
  afterwards: Effect.Effect<void, ClickHouseUnavailable, ClickHouse>
) {
  const clickHouse = yield* ClickHouse
  const monitor = yield* SourceMonitor
  const turns = yield* Semaphore.make(1)
  const state: Contact = { isPrepared: false, isAway: false, isRefused: false, answeredAtMs: null, absences: 0 }

  yield* monitor.report(SOURCE, () => ({
    observedAtMs: state.answeredAtMs,
    status: state.answeredAtMs === null ? "unavailable" : state.isAway ? "stale" : "known"
  }))

  /** Brings the tables up to date, once. */
  const prepare = Effect.suspend(() =>
    state.isPrepared
      ? Effect.void
      : Effect.gen(function* () {
          yield* migrate(migrations)
          yield* afterwards
          state.isPrepared = true
        }).pipe(Effect.provideService(ClickHouse, clickHouse))
  )

  const answered = Effect.fnUntraced(function* () {
    state.answeredAtMs = yield* Clock.currentTimeMillis
    if (state.isAway) {
      yield* Effect.logInfo("ClickHouse answers again")
    }
    state.isAway = false
  })

  const failed = Effect.fnUntraced(function* (failure: ClickHouseUnavailable) {
    if (!state.isAway) {
      yield* Effect.logWarning("ClickHouse does not answer: history is unavailable and trades wait on disk", failure)
      state.absences++
    }
    state.isAway = true
    yield* noteFailure(SOURCE, failure.cause)
  })

  // Calls that wait while the first call brings the tables up to date fail with it.
  const prepared = Effect.suspend(() =>
    state.isPrepared
      ? Effect.void
      : turns.withPermit(
          Effect.suspend((): typeof prepare => (state.isAway ? Effect.fail(gone) : Effect.tapError(prepare, failed)))
        )
  )

  return {
    isAway: () => state.isAway,

    /** How often the server has been away. It may have come back with older data. */
    absences: () => state.absences,

    /**
     * Asks whether the server answers. After a failed write, and while trades wait, an answer is not enough: only a
     * successful write shows that the server is back.
     */
    beat: (isWaiting: () => boolean) =>
      Effect.andThen(turns.withPermit(prepare), clickHouse.read("SELECT 1", PING_DEADLINE)).pipe(
        Effect.andThen(Effect.suspend(() => (state.isRefused && isWaiting() ? Effect.void : answered()))),
        Effect.tapError(failed)
      ),

    /** Runs a call that writes, and notes its failure. */
    write: <A, E>(call: Effect.Effect<A, E | ClickHouseUnavailable>) =>
      Effect.andThen(turns.withPermit(prepare), call).pipe(
        Effect.tap(() => {
          state.isRefused = false
          return answered()
        }),
        Effect.tapError((failure) => {
          state.isRefused ||= failure instanceof ClickHouseUnavailable
          return failure instanceof ClickHouseUnavailable ? failed(failure) : Effect.void
        })
      ),

    /** Runs a call that reads. Its failure is a failure of the trade store. */
    read: <A, E>(call: Effect.Effect<A, E | ClickHouseUnavailable>) =>
      Effect.suspend((): Effect.Effect<A, E | ClickHouseUnavailable> =>
        state.isAway ? Effect.fail(gone) : Effect.andThen(prepared, call)
      ).pipe(Effect.mapError(asUnavailable))
  }
})
