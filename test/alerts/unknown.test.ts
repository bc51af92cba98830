import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { AlertCondition } from "../../src/api/schemas/Alert.ts"
import { mintOf, MONDAY } from "../market/tape/tape.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alerting, EVERY, fired, priced, set, settle } from "./world.ts"

const on = (condition: Partial<AlertCondition>): AlertCondition => ({
  metric: "price_usd",
  operator: "crosses_above",
  threshold: "10",
  windowSeconds: null,
  source: "swap",
  ...condition
})

const memory = () => alerting(MemoryAlerts.layer)

/** Half a dollar for a lamport of SOL at 200 dollars. */
const against = { lamports: null, solUsdNanos: 200_000_000_000n }

describe("a price in SOL", () => {
  it.effect("sees swaps against dollars at the block's price of SOL, as the chart does, with their own time", () =>
    Effect.gen(function* () {
      yield* priced(0, [1], against)
      yield* set("al_sol", { condition: on({ metric: "price_sol", threshold: "0.01" }) })
      yield* priced(1, [1.9, 2.5, 1.9], against)
      const { rows } = yield* (yield* AlertStore).events("acct", EVERY)
      assert.deepStrictEqual(
        rows.map(({ observedAtMs, value }) => [value, observedAtMs]),
        [["0.0125", (MONDAY + 1) * 1000]]
      )
    }).pipe(Effect.provide(memory()))
  )

  it.effect("has the time of its swap, not the time of a later block", () =>
    Effect.gen(function* () {
      const measure = on({ metric: "price_usd" })
      yield* priced(0, [9])
      yield* priced(7, [3], { mint: mintOf(2) })
      const reading = (yield* Evaluator).now(mintOf(1), measure, (MONDAY + 7) * 1000)
      assert.strictEqual(reading.state === "ok" ? reading.seen.swapAtMs : null, MONDAY * 1000)
    }).pipe(Effect.provide(memory()))
  )
})

describe("an unknown value", () => {
  it.effect("has the time since which it has been unknown, and none once it is known", () =>
    Effect.gen(function* () {
      const evaluator = yield* Evaluator
      yield* set("al_price", { condition: on({}) })
      yield* TestClock.setTime((MONDAY + 4) * 1000)
      yield* settle
      const since = evaluator.unknownSince(mintOf(1), on({})) ?? 0
      assert.isAtMost(since, (MONDAY + 4) * 1000)
      assert.isAtLeast(since, MONDAY * 1000)
      assert.isFalse(evaluator.hasSeen(mintOf(1), (MONDAY + 4) * 1000))
      yield* priced(5, [9])
      yield* TestClock.setTime((MONDAY + 8) * 1000)
      yield* settle
      assert.isNull(evaluator.unknownSince(mintOf(1), on({})))
      assert.isTrue(evaluator.hasSeen(mintOf(1), (MONDAY + 8) * 1000))
    }).pipe(Effect.provide(memory()))
  )

  it.effect("has been unknown only since another chain began", () =>
    Effect.gen(function* () {
      const evaluator = yield* Evaluator
      yield* priced(0, [9], { mint: mintOf(2) })
      yield* set("al_price", { condition: on({}) })
      yield* TestClock.setTime((MONDAY + 4) * 1000)
      yield* settle
      assert.isAtMost(evaluator.unknownSince(mintOf(1), on({})) ?? Infinity, (MONDAY + 4) * 1000)
      ;(yield* Tape).startAnew()
      yield* priced(60, [9], { mint: mintOf(2) })
      yield* TestClock.setTime((MONDAY + 64) * 1000)
      yield* settle
      assert.isAtLeast(evaluator.unknownSince(mintOf(1), on({})) ?? 0, (MONDAY + 60) * 1000)
    }).pipe(Effect.provide(memory()))
  )

  it.effect(
    "fires an alert on unknown_seconds once blocks have stopped for so long, and once more after they came back",
    () =>
      Effect.gen(function* () {
        const condition = on({ metric: "unknown_seconds", threshold: "90" })
        yield* priced(0, [9])
        yield* set("al_unknown", { condition, recurrence: "repeat", cooldownSeconds: 60 })
        yield* TestClock.setTime((MONDAY + 4) * 1000)
        yield* settle
        assert.deepStrictEqual(yield* fired, [])
        yield* TestClock.setTime((MONDAY + 85) * 1000)
        yield* settle
        assert.deepStrictEqual(yield* fired, [])
        yield* TestClock.setTime((MONDAY + 96) * 1000)
        yield* settle
        assert.strictEqual((yield* fired).length, 1)
        yield* priced(200, [9])
        yield* TestClock.setTime((MONDAY + 204) * 1000)
        yield* settle
        yield* TestClock.setTime((MONDAY + 320) * 1000)
        yield* settle
        assert.strictEqual((yield* fired).length, 2)
      }).pipe(Effect.provide(memory()))
  )
})
