/** Usage in Postgres. */
import { Clock, Config, Duration, Effect, Layer, Semaphore } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { SqlClient } from "effect/sql"
import { durationSetting } from "../../domain/countSetting.ts"
import { USAGE_DAYS, UsageStoreUnavailable } from "../../api/schemas/Usage.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { type SourceState, SourceMonitor } from "../../operations/SourceMonitor.ts"
import { randomBase62, SecretSource } from "../../domain/randomText.ts"
import { bounded } from "../../storage/deadline.ts"
import { cleanUp } from "../../storage/purge.ts"
import { UsageCounts } from "./UsageCounts.ts"
import { UsageStore } from "./UsageStore.ts"
import { makeUsageTable, type UsageBatch } from "./usageTable.ts"

const FLUSH_EVERY = Duration.seconds(5)
const FLUSH_DEADLINE = Duration.seconds(4)
const READ_DEADLINE = Duration.seconds(5)
const PURGE_DEADLINE = Duration.seconds(30)
const PURGE_EVERY = Duration.hours(6)

const unavailable = (cause: unknown) => new UsageStoreUnavailable({ cause })
const onFlush = bounded(FLUSH_DEADLINE, unavailable)
const onRead = bounded(READ_DEADLINE, unavailable)
const onPurge = bounded(PURGE_DEADLINE, unavailable)

/** `USAGE_KEPT`: how long days of usage are kept, rounded up to whole days. */
export const settings = durationSetting("USAGE_KEPT").pipe(Config.withDefault(Duration.days(USAGE_DAYS)))

const make = Effect.gen(function* () {
  const days = Math.ceil(Duration.toDays(yield* settings))
  const table = makeUsageTable(yield* SqlClient.SqlClient)
  const clock = yield* Clock.Clock
  const monitor = yield* SourceMonitor
  const writer = randomBase62(16, yield* SecretSource)
  const one = yield* Semaphore.make(1)
  const counts = new UsageCounts({
    nowMs: () => clock.currentTimeMillisUnsafe(),
    monotonicMs: () => monotonicMs(clock)
  })
  let seq = 0
  // A batch whose answer was lost is sent again before anything newer.
  let pending: UsageBatch | null = null
  let storedAtMs: number | null = null
  let hasFailed = false

  /** Adds a batch to the store: the failed one, or otherwise everything counted since the last. */
  const store = Effect.suspend(() => {
    if (pending === null) {
      const rows = counts.take()
      pending = rows.length === 0 ? null : { writer, seq: ++seq, rows }
    }
    const batch = pending
    return batch === null
      ? Effect.void
      : onFlush(table.add(batch, clock.currentTimeMillisUnsafe())).pipe(
          Effect.tapError(({ cause }) =>
            Effect.sync(() => {
              hasFailed = true
              monitor.failed("usage", cause, clock.currentTimeMillisUnsafe())
            })
          ),
          Effect.map(() => {
            pending = null
            hasFailed = false
            storedAtMs = clock.currentTimeMillisUnsafe()
          })
        )
  })
  /** Stores everything that was counted before now. */
  const flush = one.withPermits(1)(Effect.suspend(() => (pending === null ? store : Effect.andThen(store, store))))

  yield* monitor.report("usage", (nowMs): SourceState => {
    const database = monitor.stateOf("database", nowMs) ?? { observedAtMs: null, status: "unavailable" as const }
    if (hasFailed) {
      return { observedAtMs: storedAtMs, status: "stale" }
    }
    return counts.uncounted > 0 ? { ...database, status: "partial" } : database
  })
  yield* Effect.addFinalizer(() => keepGoing("Storing the usage of keys")(flush))
  yield* flush.pipe(
    keepGoing("Storing the usage of keys"),
    Effect.delay(FLUSH_EVERY),
    Effect.forever,
    keepRunning("Storing the usage of keys"),
    Effect.forkScoped
  )
  yield* cleanUp(
    "Removing old usage of keys",
    PURGE_EVERY,
    Effect.suspend(() => table.purge({ nowMs: clock.currentTimeMillisUnsafe(), days, bound: onPurge }))
  )

  return UsageStore.of({
    request: (used) => counts.request(used),
    addUnits: (caller, operation, units) => counts.addUnits(caller, operation, units),
    open: (caller, operation, sentBytes) => counts.open(caller, operation, sentBytes),
    page: Effect.fn("UsageStore.page")((query) => Effect.andThen(flush, onRead(table.page(query))))
  })
})

/** Usage in the table `key_usage`. */
export const layer: Layer.Layer<UsageStore, Config.ConfigError, SqlClient.SqlClient> = Layer.effect(UsageStore, make)
