import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { OpeningAlerts, setOpening } from "../../src/alerts/opening.ts"
import { AlertStoreUnavailable } from "../../src/domain/wallets/Alert.ts"
import { alertsOf } from "../../src/simulator/seed/alerts.ts"
import { coins } from "../../src/simulator/chain/catalog.ts"
import { mintOf } from "../market/tape/tape.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"

const ALL = { status: null, mint: null, limit: 100, after: null }

const opening = alertsOf([{ address: mintOf(3), symbol: coins[0]?.symbol ?? "", name: "First", decimals: 6 }])

const alertsIn = (accountId: string) => AlertStore.use((store) => store.page(accountId, ALL))

describe("the opening alerts", () => {
  it.effect("are set once, for an account that has none", () =>
    Effect.gen(function* () {
      const [{ accountId } = { accountId: "" }] = opening
      yield* setOpening
      const { rows } = yield* alertsIn(accountId)
      assert.sameMembers(
        rows.map(({ condition }) => condition.metric),
        ["price_usd", "change_pct"]
      )
      assert.isTrue(rows.every(({ mint, status }) => mint === mintOf(3) && status === "active"))
      yield* setOpening
      assert.strictEqual((yield* alertsIn(accountId)).rows.length, 2)
    }).pipe(Effect.provide(MemoryAlerts.layer), Effect.provideService(OpeningAlerts, opening))
  )

  it.effect("are none where the market is real", () =>
    Effect.gen(function* () {
      yield* setOpening
      assert.deepStrictEqual(yield* AlertStore.use((store) => store.versions), [])
    }).pipe(Effect.provide(MemoryAlerts.layer))
  )

  it.effect("keep nobody from starting while the store is away", () => {
    const away = Layer.effect(
      AlertStore,
      Effect.map(AlertStore, (store) =>
        AlertStore.of({ ...store, page: () => Effect.fail(new AlertStoreUnavailable({ cause: "away" })) })
      )
    ).pipe(Layer.provide(MemoryAlerts.layer))
    return setOpening.pipe(Effect.provide(away), Effect.provideService(OpeningAlerts, opening))
  })
})
