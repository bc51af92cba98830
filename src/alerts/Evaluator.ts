import { Clock, Config, Context, Duration, Effect, Layer, Schedule, Stream } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { Alert, AlertStep, AlertStoreUnavailable } from "../domain/wallets/Alert.ts"
import { decimalText } from "../domain/rational.ts"
import { TradeTape } from "../market/tape/TradeTape.ts"
import type { PricedBatch } from "../market/tape/TradeBatch.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { AlertStore } from "./AlertStore.ts"
import { canMove, evaluate, type Observation, spanOf } from "./evaluate.ts"
import { type Measure, Metrics, type Reading } from "./Metrics.ts"
import { AlertIndex, type Watched, type WatchGroup } from "./AlertIndex.ts"

/** Steps that are taken together, and alerts that are read together. */
const TOGETHER = 1000

type Occasion =
  | { readonly _tag: "Block"; readonly batch: PricedBatch }
  | { readonly _tag: "Tick" | "Refresh" | "Purge" }

/** Watches every active alert: with each block the tokens it traded, and all of them from time to time. */
export class Evaluator extends Context.Service<
  Evaluator,
  {
    /** What a metric of a token is now. Read synchronously. */
    readonly now: (mint: Mint, measure: Measure, nowMs: number) => Reading
    /** The place of the newest trade of a token: what is watched from now on comes after it. */
    readonly placeOf: (mint: Mint) => number
    /** Watches an alert as it is from now on; one that is not active is let go. */
    take(alert: Alert): Effect.Effect<void>
    /** Lets an alert go. */
    drop(id: string): Effect.Effect<void>
  }
>()("fathom/alerts/Evaluator") {
  /**
   * Settings: `ALERTS_EVERY` (2 s) is how often every alert is looked at, whether or not its token traded, and
   * `ALERTS_REFRESH` (15 s) how long what another process did to an alert may stay unnoticed. A firing is on disk before
   * the next block is looked at; while the store is away nothing fires, and blocks older than a minute never do.
   */
  static readonly layer: Layer.Layer<Evaluator, Config.ConfigError, AlertStore | TradeTape | TokenBook> = Layer.effect(
    Evaluator,
    Effect.gen(function* () {
      const store = yield* AlertStore
      const tape = yield* TradeTape
      const tokens = yield* TokenBook
      const { every, refresh } = yield* settings
      const metrics = new Metrics(tape, tokens)
      const list = new AlertIndex()

      const commit = Effect.fnUntraced(function* (steps: ReadonlyArray<AlertStep>) {
        const moved = yield* untilAnswered(store.advance(steps))
        moved.forEach((alert) => list.put(alert))
        const left = new Set(steps.map(({ id }) => id))
        moved.forEach(({ id }) => left.delete(id))
        // Somebody else moved these: their owner, or another process.
        yield* reload(Array.from(left))
      })

      const reload = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
        if (ids.length === 0) {
          return
        }
        const found = yield* untilAnswered(store.load(ids))
        const known = new Set(found.map(({ id }) => id))
        ids.filter((id) => !known.has(id)).forEach((id) => list.drop(id))
        found.forEach((alert) => list.put(alert))
      })

      const catchUp = Effect.gen(function* () {
        const held = Array.from(list.ids())
        const newest = yield* untilAnswered(store.versions)
        const active = new Set(newest.map(({ id }) => id))
        held.filter((id) => !active.has(id)).forEach((id) => list.drop(id))
        const changed = newest.filter(({ id, version }) => list.versionOf(id) !== version)
        for (const ids of chunksOf(changed.map(({ id }) => id))) {
          yield* reload(ids)
        }
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
          yield* judge(
            Array.from(list.swapsOf(batch)).flatMap(([mint, swaps]) =>
              Array.from(list.of(mint)).flatMap((group) => stepsOf(group, metrics.during(swaps, group.measure, nowMs)))
            )
          )
        }
      })

      const lookAtAll = Effect.gen(function* () {
        const nowMs = yield* Clock.currentTimeMillis
        const steps = Array.from(list.mints()).flatMap((mint) =>
          Array.from(list.of(mint)).flatMap((group) => {
            const reading = metrics.now(mint, group.measure, nowMs)
            return reading.state === "ok" ? stepsOf(group, [reading.seen]) : []
          })
        )
        yield* judge(steps)
        yield* warmSupplies
      })

      const warmSupplies = Effect.suspend(() =>
        Effect.forEach(
          Array.from(list.mints()).filter((mint) => Array.from(list.of(mint)).some(needsSupply)),
          (mint) => tokens.warm(mint),
          { discard: true }
        )
      )

      const attend = (occasion: Occasion): Effect.Effect<void> => {
        switch (occasion._tag) {
          case "Block":
            return lookAt(occasion.batch)
          case "Tick":
            return lookAtAll
          case "Refresh":
            return catchUp
          case "Purge":
            return Effect.catch(store.purge, ({ cause }) => Effect.logWarning("Old firings were not purged", cause))
        }
      }

      const occasions = Stream.mergeAll(
        [
          Stream.map(tape.applied, (batch): Occasion => ({ _tag: "Block", batch })),
          ticking("Refresh", refresh),
          ticking("Tick", every),
          ticking("Purge", Duration.hours(1))
        ],
        { concurrency: "unbounded" }
      )
      yield* occasions.pipe(
        Stream.runForEach((occasion) =>
          Effect.catchDefect(attend(occasion), (defect) => Effect.logError("Alerts could not be evaluated", defect))
        ),
        Effect.forkScoped({ startImmediately: true })
      )

      return Evaluator.of({
        now: (mint, measure, nowMs) => metrics.now(mint, measure, nowMs),
        placeOf: (mint) => metrics.placeOf(mint),
        take: (alert) =>
          Effect.andThen(
            Effect.sync(() => list.put(alert)),
            Effect.suspend(() => (alert.condition.metric === "market_cap_usd" ? tokens.warm(alert.mint) : Effect.void))
          ),
        drop: (id) => Effect.sync(() => list.drop(id))
      })
    })
  )
}

const settings = Config.all({
  every: Config.Duration("ALERTS_EVERY").pipe(Config.withDefault(Duration.seconds(2))),
  refresh: Config.Duration("ALERTS_REFRESH").pipe(Config.withDefault(Duration.seconds(15)))
})

const ticking = (_tag: "Tick" | "Refresh" | "Purge", interval: Duration.Duration) =>
  Stream.map(Stream.tick(interval), (): Occasion => ({ _tag }))

/** Asks until the store answers: a crossing that could not be written down yet is not forgotten. */
const untilAnswered = <A>(question: Effect.Effect<A, AlertStoreUnavailable>): Effect.Effect<A> =>
  question.pipe(
    Effect.tapError(({ cause }) => Effect.logWarning("The alert store is unavailable: alerts wait", cause)),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.orDie
  )

const chunksOf = <Item>(items: ReadonlyArray<Item>): ReadonlyArray<ReadonlyArray<Item>> =>
  Array.from({ length: Math.ceil(items.length / TOGETHER) }, (_, i) => items.slice(i * TOGETHER, (i + 1) * TOGETHER))

const needsSupply = ({ measure }: WatchGroup): boolean => measure.metric === "market_cap_usd"

/** What an alert comes to with what was seen; null when it stays as it is. */
const stepOf = ({ alert, rule }: Watched, seen: ReadonlyArray<Observation>): AlertStep | null => {
  const { fires, watch } = evaluate(rule, alert, seen, alert.lastTriggeredAtMs)
  const value = fires === null ? null : decimalText(fires.value)
  if (watch === alert || (fires !== null && value === null)) {
    return null
  }
  const { armed, cleared, mark } = watch
  return {
    id: alert.id,
    version: alert.version,
    watch: { armed, cleared, mark },
    firing: fires === null || value === null ? null : { value, observedAtMs: fires.observedAtMs }
  }
}

/** The steps that a group takes. Most of many alerts are left alone after one comparison. */
const stepsOf = (group: WatchGroup, seen: ReadonlyArray<Observation>): ReadonlyArray<AlertStep> => {
  const span = spanOf(seen)
  if (span === null) {
    return []
  }
  return Array.from(group.alerts.values()).flatMap((watched) =>
    canMove(watched.rule, watched.alert, span) ? (stepOf(watched, seen) ?? []) : []
  )
}
