import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as MemoryAlerts from "../../support/memoryAlerts.ts"
import { AlertStore } from "../../../src/alerts/AlertStore.ts"
import { AlertStoreUnavailable } from "../../../src/api/schemas/Alert.ts"
import { coins } from "../../../src/simulator/pools/catalog.ts"
import { alertsOf, seedAlerts } from "../../../src/simulator/seed/alerts.ts"
import { mintOf } from "../../market/tape/tape.ts"

const ALL = { status: null, mint: null, limit: 100, after: null }

const demo = alertsOf([{ address: mintOf(3), symbol: coins[0]?.symbol ?? "", name: "First", decimals: 6 }])

const alertsIn = (accountId: string) => AlertStore.use((store) => store.page(accountId, ALL))

describe("demo alerts", () => {
  it.effect("are created once, for an account without alerts", () =>
    Effect.gen(function* () {
      yield* seedAlerts(demo)
      const { rows } = yield* alertsIn("welcome")
      assert.sameMembers(
        rows.map(({ condition }) => condition.metric),
        ["price_usd", "change_pct"]
      )
      assert.isTrue(rows.every(({ mint, status }) => mint === mintOf(3) && status === "active"))
      yield* seedAlerts(demo)
      assert.strictEqual((yield* alertsIn("welcome")).rows.length, 2)
    }).pipe(Effect.provide(MemoryAlerts.layer))
  )

  it.effect("are created once when the store fails after writing one", () =>
    Effect.gen(function* () {
      const store = yield* AlertStore
      let failures = 2
      const flaky = AlertStore.of({
        ...store,
        create: (alert) =>
          Effect.tap(store.create(alert), () =>
            failures-- > 0 ? Effect.fail(new AlertStoreUnavailable({ cause: "timeout" })) : Effect.void
          )
      })
      const seeding = yield* seedAlerts(demo).pipe(Effect.provideService(AlertStore, flaky), Effect.forkChild)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(seeding)
      assert.strictEqual((yield* alertsIn("welcome")).rows.length, 2)
    }).pipe(Effect.provide(MemoryAlerts.layer))
  )

  it.effect("fail after two minutes when the store stays unavailable", () => {
    const unavailable = Layer.effect(
      AlertStore,
      Effect.map(AlertStore, (store) =>
        AlertStore.of({ ...store, page: () => Effect.fail(new AlertStoreUnavailable({ cause: "down" })) })
      )
    ).pipe(Layer.provide(MemoryAlerts.layer))
    return Effect.gen(function* () {
      const seeding = yield* Effect.forkChild(Effect.flip(seedAlerts(demo)))
      yield* TestClock.adjust("115 seconds")
      assert.isUndefined(seeding.pollUnsafe())
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(seeding))._tag, "AlertStoreUnavailable")
    }).pipe(Effect.provide(unavailable))
  })
})
