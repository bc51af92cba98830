import { Clock, Config, Context, Duration, Effect, Layer, Stream } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import type { Mint } from "../domain/Address.ts"
import { durationSetting } from "../domain/countSetting.ts"
import { type Alert, type AlertStep, isOfPools, type SeenTrades } from "../domain/wallets/Alert.ts"
import type { CoverageReason } from "../domain/Scalar.ts"
import { keepGoing, keepRunning } from "../health/keepRunning.ts"
import { SourceMonitor, stateByAge } from "../health/SourceMonitor.ts"
import { type CountedBatch, TradeTape } from "../market/tape/TradeTape.ts"
import type { PricedBatch } from "../market/tape/TradeBatch.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import { Requester } from "../pools/Requester.ts"
import { HolderReader } from "../tokens/HolderReader.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { isMoney } from "../domain/stables.ts"
import { AlertStore } from "./AlertStore.ts"
import { ActivityMetrics } from "./ActivityMetrics.ts"
import { AuthorityChanges } from "./AuthorityChanges.ts"
import { followAuthorities } from "./followAuthorities.ts"
import { stepsOf, unmarked } from "./alertSteps.ts"
import { MedianPrices } from "./MedianPrices.ts"
import { Metrics } from "./Metrics.ts"
import type { Measure, Reading } from "./Reading.ts"
import { AlertIndex } from "./AlertIndex.ts"
import { retryForever } from "./retryForever.ts"

/** Steps in one write, and alerts in one read. */
const BATCH_SIZE = 1000

/** Alerts are stale, and windows of values begin anew, when the evaluation of all of them is this late. */
const LATE_TICKS = 2
const LATE_MS = 6000
/** The time for which lost blocks show in the state of the alerts. */
const SHOW_LOSS_MS = 600_000

/** The progress of the evaluation. Times in milliseconds since the Unix epoch, null before the first. */
interface Progress {
  /** The last evaluation of every alert. */
  tickAtMs: number | null
  lostAtMs: number | null
  /** Blocks that were not evaluated. */
  lost: number
  /** Why the holders of a watched token are not known and are not being read; null where those of all are. */
  unread: CoverageReason | null
}

type Occasion =
  | ({ readonly _tag: "Block" } & CountedBatch)
  /** Ids of alerts that other processes changed; null when any may have been. */
  | { readonly _tag: "Changed"; readonly ids: ReadonlyArray<string> | null }
  | { readonly _tag: "Tick" | "Purge" }

type EvaluatorLayer = Layer.Layer<
  Evaluator,
  Config.ConfigError,
  AlertStore | PoolBook | PriceBook | TradeTape | TokenBook
>

/**
 * Watches every active alert: with each block the tokens it traded and the wallets that traded, and all tokens from time to
 * time.
 */
export class Evaluator extends Context.Service<
  Evaluator,
  {
    /** Current value of a metric of a token, or of trades of a wallet. Synchronous. */
    readonly now: (mint: Mint | null, measure: Measure, nowMs: number) => Reading
    /** The place of the newest trade of a token, or without one that of the next block: new alerts watch trades after it. */
    readonly placeOf: (mint: Mint | null) => number
    /** Watches an alert as it is from now on; one that is not active is dropped. */
    take(alert: Alert): Effect.Effect<void>
    /** Stops watching an alert. */
    drop(id: string): Effect.Effect<void>
  }
>()("fathom/alerts/Evaluator") {
  /**
   * Metrics by the median over pools are looked at with every alert, not with each block. Settings: `ALERTS_EVERY` (2 s) is the interval at which every alert is evaluated, traded or not, and `ALERTS_REFRESH`
   * (5 min) that at which the list is compared with the store. A firing is stored before the next block is evaluated; while
   * the store is unavailable nothing fires. Blocks older than a minute never fire. Blocks that were lost because evaluation
   * fell more than 1,024 behind are counted and logged, and every alert is evaluated at once with the current values.
   */
  static readonly layer: EvaluatorLayer = Layer.suspend(() => Evaluator.layerOf(true))

  /** The current values alone, where another process evaluates the alerts of the store. */
  static readonly layerReads: EvaluatorLayer = Layer.suspend(() => Evaluator.layerOf(false))

  private static readonly layerOf = (evaluates: boolean): EvaluatorLayer =>
    Layer.effect(
      Evaluator,
      Effect.gen(function* () {
        const store = yield* AlertStore
        const tape = yield* TradeTape
        const tokens = yield* TokenBook
        const prices = yield* PriceBook
        const { every, refresh } = yield* settings
        const monitor = yield* SourceMonitor
        const medians = new MedianPrices(prices)
        const pools = yield* PoolBook
        const holders = yield* HolderReader
        const clock = yield* Clock.Clock
        const elapsedMs = () => monotonicMs(clock)
        const silentMs = LATE_TICKS * Duration.toMillis(every) + LATE_MS
        const authorities = new AuthorityChanges()
        const metrics = new Metrics(
          tape,
          tokens,
          medians,
          new ActivityMetrics({
            tape,
            pools,
            holders,
            medians,
            authorities,
            monotonicMs: elapsedMs,
            longestPauseMs: silentMs
          })
        )
        const progress: Progress = { tickAtMs: null, lostAtMs: null, lost: 0, unread: null }
        const list = new AlertIndex()

        const commit = Effect.fnUntraced(function* (steps: ReadonlyArray<AlertStep>) {
          const moved = yield* retryForever(store.advance(steps))
          moved.forEach((alert) => list.put(alert))
          const left = new Set(steps.map(({ id }) => id))
          moved.forEach(({ id }) => left.delete(id))
          // Their owner or another process has changed these.
          yield* reload(Array.from(left))
        })

        const fire = Effect.fnUntraced(function* (seen: ReadonlyArray<SeenTrades>) {
          const held = list.versionsOf(seen.map(({ id }) => id))
          const moved = yield* retryForever(store.fire(seen))
          moved.forEach((alert) => list.put(alert))
          list.dropMissing(held, moved)
        })

        const reload = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
          for (const chunk of chunksOf(ids)) {
            const held = list.versionsOf(chunk)
            const found = yield* retryForever(store.load(chunk))
            list.dropMissing(held, found)
            found.forEach((alert) => list.put(alert))
          }
        })

        const catchUp = Effect.gen(function* () {
          const held = list.versionsOf(list.ids())
          const newest = yield* retryForever(store.versions)
          list.dropMissing(held, newest)
          const changed = newest.filter(({ id, version }) => list.versionOf(id) !== version)
          yield* reload(changed.map(({ id }) => id))
        })

        const judge = Effect.fnUntraced(function* (steps: ReadonlyArray<AlertStep>) {
          for (const chunk of chunksOf(steps)) {
            yield* commit(chunk)
          }
        })

        const lookAt = Effect.fnUntraced(function* (batch: PricedBatch) {
          const nowMs = yield* Clock.currentTimeMillis
          metrics.note(batch)
          if (metrics.isFresh(batch.timeMs, nowMs)) {
            for (const chunk of chunksOf(list.tradesOf(batch))) {
              yield* fire(chunk)
            }
            yield* judge(
              Array.from(list.swapsOf(batch)).flatMap(([mint, swaps]) =>
                Array.from(list.of(mint)).flatMap((group) =>
                  stepsOf(group, metrics.during(swaps, group.measure, nowMs))
                )
              )
            )
          }
        })

        const lookAtAll = Effect.gen(function* () {
          const nowMs = yield* Clock.currentTimeMillis
          metrics.follow(list.mintsOf("liquidity_drop_pct"), nowMs)
          const times = { nowMs, monotonicMs: elapsedMs() }
          const ofAuthorities = list.mintsOf("authority_changes")
          yield* followAuthorities(authorities, { store, tokens }, ofAuthorities, times, retryForever)
          const steps = Array.from(list.mints()).flatMap((mint) =>
            Array.from(list.of(mint)).flatMap((group) => {
              const reading = metrics.now(mint, group.measure, nowMs)
              return reading.state === "ok" ? stepsOf(group, [reading.seen]) : []
            })
          )
          yield* judge(steps)
          yield* warmAll(nowMs)
        })

        /** Keeps the holders of a token followed; why they are not known, null where they are. */
        const warmHolders = Effect.fnUntraced(function* (mint: Mint, nowMs: number) {
          yield* tokens.warm(mint)
          const state = tokens.read(mint)
          return state?._tag === "Token" && state.facts !== null
            ? holders.suggest(mint, state.facts.tokenProgram, nowMs)
            : null
        })

        /**
         * Requests what the metric is made of, as the alerts: they have mints pending like a key has, and take turns with it. Why
         * the holders that it is made of are not known; null otherwise.
         */
        const warm = Effect.fnUntraced(function* (mint: Mint, measure: Measure, nowMs: number) {
          // An alert from before such were refused must not hold the source at partial.
          const lacking = measure.metric === "top10_pct" && !isMoney(mint) ? yield* warmHolders(mint, nowMs) : null
          if (isOfPools(measure.metric) && !pools.isLoaded(mint)) {
            yield* Effect.provideService(pools.warm(mint), Requester, "alerts")
          }
          const isByMedian = metrics.isByMedian(mint, measure)
          if (isByMedian || measure.metric === "market_cap_usd" || measure.metric === "authority_changes") {
            yield* tokens.warm(mint)
          }
          if (isByMedian && !medians.isLoaded(mint, nowMs)) {
            yield* Effect.provideService(prices.warm(mint), Requester, "alerts")
          }
          return lacking
        })

        const warmAll = Effect.fnUntraced(function* (nowMs: number) {
          const lacking = yield* Effect.forEach(
            Array.from(list.mints()).flatMap((mint) => Array.from(list.of(mint))),
            ({ measure, mint }) => warm(mint, measure, nowMs)
          )
          const unread = lacking.find((reason) => reason !== null && reason !== "backfill_running") ?? null
          if (unread !== null && unread !== progress.unread) {
            yield* Effect.logWarning("The holders of a token with an alert are not followed: it does not fire", {
              unread
            })
          }
          progress.unread = unread
        })

        /** The marks of alerts are places of the chain before. */
        const startAnew = Effect.gen(function* () {
          metrics.startAnew()
          authorities.keep(new Set())
          yield* retryForever(store.forgetAuthorities)
          yield* judge(Array.from(list.alerts()).flatMap((alert) => unmarked(alert) ?? []))
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

        const evaluator = Evaluator.of({
          now: (mint, measure, nowMs) => metrics.now(mint, measure, nowMs),
          placeOf: (mint) => metrics.placeOf(mint),
          take: (alert) =>
            Effect.andThen(
              Effect.sync(() => evaluates && list.put(alert)),
              Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
                alert.mint === null || alert.wallet !== null
                  ? Effect.void
                  : Effect.asVoid(warm(alert.mint, alert.condition, nowMs))
              )
            ),
          drop: (id) => Effect.sync(() => list.drop(id))
        })
        if (!evaluates) {
          yield* tape.appliedCounted.pipe(
            Stream.runForEach(({ batch, isAnew }) =>
              Effect.sync(() => {
                if (isAnew) {
                  metrics.startAnew()
                }
                metrics.note(batch)
              })
            ),
            keepRunning("Noting the places of trades"),
            Effect.forkScoped({ startImmediately: true })
          )
          return evaluator
        }

        const occasions = Stream.mergeAll(
          [
            Stream.map(tape.appliedCounted, (counted): Occasion => ({ _tag: "Block", ...counted })),
            Stream.mapArray(store.changes, (ids): [Occasion] => [{ _tag: "Changed", ids: knownOf(ids) }]),
            // A safety net, and the way in which expired alerts are dropped: nothing announces that time has passed.
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
          const state = stateByAge(progress.tickAtMs, silentMs, nowMs)
          const hasLost = progress.lostAtMs !== null && nowMs - progress.lostAtMs < SHOW_LOSS_MS
          return state.status !== "known" || (!hasLost && progress.unread === null)
            ? state
            : { ...state, status: "partial", ...(progress.unread !== null && { reason: "not_captured" }) }
        })

        return evaluator
      })
    )
}

/** `ALERTS_EVERY` (2 s) and `ALERTS_REFRESH` (5 min). */
export const settings = Config.all({
  every: durationSetting("ALERTS_EVERY").pipe(Config.withDefault(Duration.seconds(2))),
  refresh: durationSetting("ALERTS_REFRESH").pipe(Config.withDefault(Duration.minutes(5)))
})

/** The distinct ids; null when one of them is. */
const knownOf = (ids: ReadonlyArray<string | null>): ReadonlyArray<string> | null => {
  const known = new Set(ids.flatMap((id) => id ?? []))
  return ids.includes(null) ? null : Array.from(known)
}

const ticking = (_tag: "Tick" | "Purge", interval: Duration.Duration) =>
  Stream.map(Stream.tick(interval), (): Occasion => ({ _tag }))

const chunksOf = <Item>(items: ReadonlyArray<Item>): ReadonlyArray<ReadonlyArray<Item>> =>
  Array.from({ length: Math.ceil(items.length / BATCH_SIZE) }, (_, i) =>
    items.slice(i * BATCH_SIZE, (i + 1) * BATCH_SIZE)
  )
