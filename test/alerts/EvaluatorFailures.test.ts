import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import { type AlertCondition, AlertStoreUnavailable, type NewAlert } from "../../src/api/schemas/Alert.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { SUBSCRIBER_BUFFER } from "../../src/market/tape/makeMarket.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { MONDAY, trade } from "../market/tape/tape.ts"
import { block } from "../support/reads.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alertOf } from "./alerts.ts"
import { alerting, priced, settle } from "./world.ts"

const EVERY = { alertId: null, sinceMs: null, limit: 100, after: null }

/** Stores an alert and watches it. */
const set = Effect.fnUntraced(function* (id: string, other: Partial<NewAlert> = {}) {
  const alert = yield* (yield* AlertStore).create(alertOf(id, other))
  yield* (yield* Evaluator).take(alert)
})

/** Firings so far, oldest first. */
const fired = Effect.gen(function* () {
  const { rows } = yield* (yield* AlertStore).events("acct", EVERY)
  return rows.toReversed().map(({ alertId, value }) => `${alertId} ${value}`)
})

const on = (condition: Partial<AlertCondition>): Partial<NewAlert> => ({
  condition: {
    metric: "price_usd",
    operator: "crosses_above",
    threshold: "10",
    windowSeconds: null,
    source: "swap",
    ...condition
  }
})

/** A store in memory whose `advance` fails while `away` is true. */
const flakyStore = (
  away: Ref.Ref<boolean>,
  failure: Effect.Effect<never, AlertStoreUnavailable> = Effect.fail(new AlertStoreUnavailable({ cause: "away" }))
) =>
  Layer.effect(
    AlertStore,
    Effect.map(AlertStore, (store) =>
      AlertStore.of({
        ...store,
        advance: (steps) => Effect.flatMap(Ref.get(away), (isAway) => (isAway ? failure : store.advance(steps)))
      })
    )
  ).pipe(Layer.provide(MemoryAlerts.layer))

describe("the evaluator with a failing store", () => {
  it.effect("stores a crossing exactly once after the store is back", () =>
    Effect.gen(function* () {
      const away = yield* Ref.make(false)
      yield* Effect.gen(function* () {
        yield* priced(0, [9])
        yield* set("al_late")
        yield* Ref.set(away, true)
        yield* priced(1, [11])
        yield* priced(2, [9])
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual(yield* fired, [])
        yield* Ref.set(away, false)
        yield* TestClock.adjust("1 second")
        yield* settle
        assert.deepStrictEqual(yield* fired, ["al_late 11"])
        yield* priced(10, [11])
        assert.deepStrictEqual(yield* fired, ["al_late 11"])
      }).pipe(Effect.provide(alerting(flakyStore(away))))
    })
  )

  it.effect("counts the blocks that it fell behind on, and evaluates current values at once", () =>
    Effect.gen(function* () {
      const away = yield* Ref.make(false)
      const monitor = Context.get(yield* Layer.build(SourceMonitor.layer), SourceMonitor.SourceMonitor)
      yield* Effect.gen(function* () {
        const tape = yield* Tape
        const state = () => monitor.stateOf("alerts", (MONDAY + 9) * 1000)?.status
        yield* priced(0, [9])
        yield* set("al_stuck", on({ threshold: "20" }))
        yield* set("al_lost")
        yield* TestClock.adjust("2 seconds")
        yield* settle
        assert.strictEqual(monitor.stateOf("alerts", (MONDAY + 2) * 1000)?.status, "known")
        yield* Ref.set(away, true)
        yield* priced(3, [21, 9])
        const behind = Array.from({ length: SUBSCRIBER_BUFFER + 100 }, (_, i) =>
          block(4, { slot: 2000 + i, trades: [trade({ slot: 2000 + i, timeMs: (MONDAY + 4) * 1000, priceUsd: 11 })] })
        )
        yield* Effect.forEach(behind, (each) => Effect.andThen(tape.apply(each), Effect.yieldNow), { discard: true })
        yield* Ref.set(away, false)
        yield* TestClock.adjust("2 seconds")
        yield* Effect.forEach(Array.from({ length: 40 }), () => settle, { discard: true })
        assert.strictEqual(state(), "partial")
        assert.sameMembers(yield* fired, ["al_lost 21", "al_stuck 21"])
      }).pipe(Effect.provide(alerting(flakyStore(away))), Effect.provideService(SourceMonitor.SourceMonitor, monitor))
    })
  )

  it.effect("goes on after a defect of the store", () =>
    Effect.gen(function* () {
      const broken = yield* Ref.make(false)
      yield* Effect.gen(function* () {
        yield* priced(0, [9])
        yield* set("al_after")
        yield* Ref.set(broken, true)
        yield* priced(1, [11])
        yield* Ref.set(broken, false)
        yield* TestClock.adjust("3 seconds")
        yield* settle
        assert.deepStrictEqual(yield* fired, ["al_after 11"])
      }).pipe(Effect.provide(alerting(flakyStore(broken, Effect.die("broken")))))
    })
  )
})
