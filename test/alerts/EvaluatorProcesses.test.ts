import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { TradeTape } from "../../src/market/tape/TradeTape.ts"
import { mintOf } from "../market/tape/tape.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alertOf } from "./alerts.ts"
import { alerting, fired, priced, set, settle } from "./world.ts"

describe("an evaluator beside other processes", () => {
  it.effect("follows alerts that another process creates, changes and removes, as soon as they are announced", () =>
    Effect.gen(function* () {
      const store = yield* AlertStore
      yield* settle
      yield* priced(0, [9])
      yield* set("al_moved")
      yield* set("al_gone")
      yield* store.change("acct", "al_moved", (alert) =>
        Effect.succeed({ condition: { ...alert.condition, threshold: "20" } })
      )
      yield* store.remove("acct", "al_gone")
      yield* store.create(alertOf("al_unheard", { mint: mintOf(2) }))
      yield* settle
      yield* priced(1, [11], { mint: mintOf(2) })
      yield* priced(2, [11])
      yield* priced(3, [21])
      assert.deepStrictEqual(yield* fired, ["al_unheard 11", "al_moved 21"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layerShared)))
  )

  it.effect("compares its list with the store from time to time, and never acts on what it had read before", () =>
    Effect.gen(function* () {
      const store = yield* AlertStore
      yield* priced(0, [9])
      yield* set("al_moved")
      yield* store.change("acct", "al_moved", (alert) =>
        Effect.succeed({ condition: { ...alert.condition, threshold: "20" } })
      )
      yield* store.create(alertOf("al_unheard", { mint: mintOf(2) }))
      yield* priced(1, [11])
      assert.deepStrictEqual(yield* fired, [])
      yield* TestClock.adjust("16 seconds")
      yield* settle
      yield* priced(20, [11], { mint: mintOf(2) })
      yield* priced(21, [21])
      assert.deepStrictEqual(yield* fired, ["al_unheard 11", "al_moved 21"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { settings: { ALERTS_REFRESH: "15 seconds" } })))
  )

  it.effect("fires once where two processes watch the same trades", () =>
    Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryAlerts.layer))
      const processes = [
        yield* Layer.build(Layer.fresh(alerting(store))),
        yield* Layer.build(Layer.fresh(alerting(store)))
      ]
      const inEach = <A, E>(effect: Effect.Effect<A, E, AlertStore | Evaluator | TradeTape>) =>
        Effect.forEach(processes, (process) => Effect.provideContext(effect, process))
      yield* inEach(priced(0, [9]))
      const [alert] = yield* AlertStore.use((alerts) =>
        Effect.all([alerts.create(alertOf("al_both", { recurrence: "repeat", cooldownSeconds: 60 }))])
      ).pipe(Effect.provide(store))
      yield* inEach(Evaluator.use((evaluator) => evaluator.take(alert)))
      yield* inEach(priced(1, [11]))
      yield* inEach(priced(62, [9]))
      yield* inEach(priced(63, [12]))
      assert.deepStrictEqual(yield* Effect.provide(fired, store), ["al_both 11", "al_both 12"])
    })
  )

  it.effect("fires in the process that evaluates, and never in one that has the current values alone", () =>
    Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryAlerts.layerShared))
      const reads = yield* Layer.build(Layer.fresh(alerting(store, { evaluator: Evaluator.layerReads })))
      const before = yield* Effect.provideContext(
        Evaluator.useSync(({ placeOf }) => placeOf(mintOf(1))),
        reads
      )
      yield* Effect.provideContext(priced(0, [9]), reads)
      yield* Effect.provideContext(set("al_read"), reads)
      yield* Effect.provideContext(priced(1, [11]), reads)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Effect.provide(fired, store), [])
      const after = yield* Effect.provideContext(
        Evaluator.useSync(({ placeOf }) => placeOf(mintOf(1))),
        reads
      )
      assert.isAbove(after, before)
      const keeper = yield* Layer.build(Layer.fresh(alerting(store)))
      yield* settle
      yield* Effect.provideContext(priced(20, [9]), keeper)
      yield* Effect.provideContext(priced(21, [12]), keeper)
      assert.deepStrictEqual(yield* Effect.provide(fired, store), ["al_read 12"])
    })
  )
})
