import { Clock, Config, Context, Duration, Effect, Layer, Stream } from "effect"
import type { Mint } from "../domain/Address.ts"
import { durationSetting } from "../domain/countSetting.ts"
import { ownTurn } from "../domain/loopTime.ts"
import type { Alert, AlertStep } from "../api/schemas/Alert.ts"
import type { CoverageReason } from "../domain/Scalar.ts"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import { SourceMonitor, stateByAge } from "../operations/SourceMonitor.ts"
import type { CountedBatch } from "../market/model/TradeBatch.ts"
import type { Market } from "../market/tape/Market.ts"
import type { PricedBatch } from "../market/model/TradeBatch.ts"
import type { PoolBook } from "../quotes/pools/PoolBook.ts"
import type { PriceBook } from "../tokens/PriceBook.ts"
import type { TokenBook } from "../tokens/TokenBook.ts"
import { AlertIndex } from "./AlertIndex.ts"
import { stepsOf, unmarked } from "./alertSteps.ts"
import { AlertStore } from "./AlertStore.ts"
import { followAuthorities } from "./followAuthorities.ts"
import { makeMetricSources } from "./metricSources.ts"
import type { Measure, Reading } from "./Reading.ts"
import { makeStoredAlerts, untilAnswered } from "./storedAlerts.ts"

/** When the evaluation of all alerts is this late, alerts are stale and windows of values begin anew. */
const LATE_TICKS = 2
const LATE_MS = 6000
/** How long lost blocks show in the state of the alerts. */
const SHOW_LOSS_MS = 600_000

/** The progress of the evaluation. Times in milliseconds since the Unix epoch, null before the first. */
interface Progress {
  /** Time of the last evaluation of every alert. */
  tickAtMs: number | null
  lostAtMs: number | null
  /** Blocks that were not evaluated. */
  lost: number
  /** Why the holders of a watched token are neither known nor being read; null when there is no such token. */
  unread: CoverageReason | null
}

type Occasion =
  | ({ readonly _tag: "Block" } & CountedBatch)
  /** Ids of alerts that other processes changed; null when any may have been. */
  | { readonly _tag: "Changed"; readonly ids: ReadonlyArray<string> | null }
  | { readonly _tag: "Tick" | "Purge" }

type EvaluatorLayer = Layer.Layer<Evaluator, Config.ConfigError, AlertStore | PoolBook | PriceBook | Market | TokenBook>

/**
 * Watches every active alert. Each block evaluates the alerts on the tokens and wallets that traded in it; at intervals
 * all alerts are evaluated.
 */
export class Evaluator extends Context.Service<
  Evaluator,
  {
    /** Current value of a metric of a token, or of trades of a wallet. Synchronous. */
    readonly now: (mint: Mint | null, measure: Measure, nowMs: number) => Reading
    /**
     * The place of the newest trade of a token; without a token, the place of the next block. New alerts watch later
     * trades.
     */
    readonly placeOf: (mint: Mint | null) => number
    /** Since when the value has been unknown; null while it is known, and in a process that does not evaluate alerts. */
    readonly unknownSince: (mint: Mint | null, measure: Measure) => number | null
    /** True when anything of the mint was seen: a trade, its account, or a pool that prices it. */
    readonly hasSeen: (mint: Mint, nowMs: number) => boolean
    /** Watches this version of an alert from now on. An alert that is not active is dropped. */
    take(alert: Alert): Effect.Effect<void>
    /** Stops watching an alert. */
    drop(id: string): Effect.Effect<void>
  }
>()("fathom/alerts/Evaluator") {
  /**
   * Every `ALERTS_EVERY` (2 s) all alerts are evaluated, traded or not. Metrics by the median over pools are evaluated
   * only then, not with each block. Every `ALERTS_REFRESH` (5 min) the list is compared with the store. A firing is
   * stored before the next block is evaluated; while the store is unavailable nothing fires. Blocks older than a minute
   * never fire. When evaluation falls more than 1,024 blocks behind, the lost blocks are counted and logged, and every
   * alert is evaluated at once with the current values.
   */
  static readonly layer: EvaluatorLayer = Layer.suspend(() => Layer.effect(Evaluator, evaluating))

  /** Gives only the current values. Another process evaluates the alerts of the store. */
  static readonly layerReads: EvaluatorLayer = Layer.suspend(() => Layer.effect(Evaluator, reading))
}

/** `ALERTS_EVERY` (2 s) and `ALERTS_REFRESH` (5 min). */
export const settings = Config.all({
  every: durationSetting("ALERTS_EVERY").pipe(Config.withDefault(Duration.seconds(2))),
  refresh: durationSetting("ALERTS_REFRESH").pipe(Config.withDefault(Duration.minutes(5)))
})

const lateAfter = (every: Duration.Duration): Duration.Duration =>
  Duration.sum(Duration.times(every, LATE_TICKS), Duration.millis(LATE_MS))

type MetricSources = Effect.Success<ReturnType<typeof makeMetricSources>>

/** Makes the service from the metrics and, when this process evaluates alerts, from the index. */
const portOf = ({ metrics, warm }: MetricSources, index: AlertIndex | null): Evaluator["Service"] => ({
  now: (mint, measure, nowMs) => metrics.now(mint, measure, nowMs),
  placeOf: (mint) => metrics.placeOf(mint),
  unknownSince: (mint, measure) => (mint === null ? null : metrics.unknownSince(mint, measure)),
  hasSeen: (mint, nowMs) => metrics.hasSeen(mint, nowMs),
  take: Effect.fnUntraced(function* (alert: Alert) {
    index?.put(alert)
    if (alert.mint !== null && alert.wallet === null) {
      yield* warm(alert.mint, alert.condition, yield* Clock.currentTimeMillis)
    }
  }),
  drop: (id) => Effect.sync(() => index?.drop(id))
})

/** Makes `Evaluator.layerReads`. */
const reading = Effect.gen(function* () {
  const { every } = yield* settings
  const sources = yield* makeMetricSources(lateAfter(every))
  const { metrics, tape } = sources
  yield* tape.appliedCounted.pipe(
    Stream.runForEach(({ batch, isAnew }) =>
      Effect.map(Effect.andThen(ownTurn, tape.whole), () => {
        if (isAnew) {
          metrics.startAnew()
        }
        metrics.note(batch)
      })
    ),
    keepRunning("Noting the places of trades"),
    Effect.forkScoped({ startImmediately: true })
  )
  return portOf(sources, null)
})

/** What the evaluation does with a block, and at intervals with all alerts. */
const makeEvaluation = (
  store: AlertStore["Service"],
  index: AlertIndex,
  { authorities, elapsedMs, metrics, tape, tokens, warm }: MetricSources
) => {
  const progress: Progress = { tickAtMs: null, lostAtMs: null, lost: 0, unread: null }
  const { advance, catchUp, fire, reload } = makeStoredAlerts(store, index)
  const groups = () => Array.from(index.mints()).flatMap((mint) => Array.from(index.of(mint)))

  const lookAt = Effect.fnUntraced(function* (batch: PricedBatch) {
    yield* Effect.andThen(ownTurn, tape.whole)
    const nowMs = yield* Clock.currentTimeMillis
    metrics.note(batch)
    if (metrics.isFresh(batch.timeMs, nowMs)) {
      yield* fire(index.tradesOf(batch))
      const steps = Array.from(index.swapsOf(batch)).flatMap(([mint, swaps]) =>
        Array.from(index.of(mint)).flatMap((group) => stepsOf(group, metrics.during(swaps, group.measure, nowMs)))
      )
      yield* advance(steps)
    }
  })

  const warmAll = Effect.fnUntraced(function* (nowMs: number) {
    const lacking = yield* Effect.forEach(groups(), ({ measure, mint }) => warm(mint, measure, nowMs))
    const unread = lacking.find((reason) => reason !== null && reason !== "backfill_running") ?? null
    if (unread !== null && unread !== progress.unread) {
      yield* Effect.logWarning("The holders of a token with an alert are not followed: it does not fire", { unread })
    }
    progress.unread = unread
  })

  const lookAtAll = Effect.gen(function* () {
    yield* tape.whole
    const nowMs = yield* Clock.currentTimeMillis
    metrics.follow(index.mintsOf("liquidity_drop_pct"), nowMs)
    const times = { nowMs, monotonicMs: elapsedMs() }
    yield* followAuthorities(authorities, { store, tokens }, index.mintsOf("authority_changes"), times)
    metrics.noteUnknown(groups(), nowMs)
    const steps = groups().flatMap((group): ReadonlyArray<AlertStep> => {
      const now = metrics.now(group.mint, group.measure, nowMs)
      return now.state === "ok" ? stepsOf(group, [now.seen]) : []
    })
    yield* advance(steps)
    yield* warmAll(nowMs)
  })

  /** Resets the marks of alerts, which are places of the previous chain. */
  const startAnew = Effect.gen(function* () {
    metrics.startAnew()
    authorities.keep(new Set())
    yield* untilAnswered(store.forgetAuthorities)
    yield* advance(Array.from(index.alerts()).flatMap((alert) => unmarked(alert) ?? []))
  })

  const takeBlock = Effect.fnUntraced(function* ({ batch, isAnew, missed }: CountedBatch) {
    yield* isAnew ? startAnew : Effect.void
    yield* lookAt(batch)
    if (missed > 0) {
      progress.lost += missed
      progress.lostAtMs = yield* Clock.currentTimeMillis
      yield* Effect.logError("Alerts fell behind: swaps of blocks were not evaluated", {
        blocks: missed,
        inAll: progress.lost,
        before: batch.slot
      })
      yield* lookAtAll
    }
  })

  const tick = Effect.gen(function* () {
    yield* lookAtAll
    progress.tickAtMs = yield* Clock.currentTimeMillis
  })

  const attend = (occasion: Occasion): Effect.Effect<void> => {
    switch (occasion._tag) {
      case "Block":
        return takeBlock(occasion)
      case "Tick":
        return tick
      case "Changed":
        return occasion.ids === null ? catchUp : reload(occasion.ids)
      case "Purge":
        return Effect.catch(store.purge, ({ cause }) => Effect.logWarning("Old firings were not purged", cause))
    }
  }

  return { attend, progress }
}

/**
 * Makes `Evaluator.layer`: one loop over blocks, changes of alerts and clocks, so that no two evaluations run at once.
 */
const evaluating = Effect.gen(function* () {
  const store = yield* AlertStore
  const monitor = yield* SourceMonitor
  const { every, refresh } = yield* settings
  const late = lateAfter(every)
  const sources = yield* makeMetricSources(late)
  const index = new AlertIndex()
  const { attend, progress } = makeEvaluation(store, index, sources)
  const occasions = Stream.mergeAll(
    [
      Stream.map(sources.tape.appliedCounted, (counted): Occasion => ({ _tag: "Block", ...counted })),
      Stream.mapArray(store.changes, (ids): [Occasion] => [{ _tag: "Changed", ids: knownOf(ids) }]),
      // A safety net. It also drops expired alerts, because nothing announces that time has passed.
      Stream.map(Stream.tick(refresh), (): Occasion => ({ _tag: "Changed", ids: null })),
      ticking("Tick", every),
      ticking("Purge", Duration.hours(1))
    ],
    { concurrency: "unbounded" }
  )
  yield* occasions.pipe(
    Stream.runForEach((occasion) => keepGoing("Evaluating alerts")(attend(occasion))),
    keepRunning("Evaluating alerts", "alerts"),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* monitor.report("alerts", (nowMs) => {
    const state = stateByAge(progress.tickAtMs, Duration.toMillis(late), nowMs)
    const hasLost = progress.lostAtMs !== null && nowMs - progress.lostAtMs < SHOW_LOSS_MS
    return state.status !== "known" || (!hasLost && progress.unread === null)
      ? state
      : { ...state, status: "partial", ...(progress.unread !== null && { reason: "not_captured" }) }
  })
  return portOf(sources, index)
})

/** The distinct ids; null when one of them is null. */
const knownOf = (ids: ReadonlyArray<string | null>): ReadonlyArray<string> | null => {
  const known = new Set(ids.flatMap((id) => id ?? []))
  return ids.includes(null) ? null : Array.from(known)
}

const ticking = (_tag: "Tick" | "Purge", interval: Duration.Duration) =>
  Stream.map(Stream.tick(interval), (): Occasion => ({ _tag }))
