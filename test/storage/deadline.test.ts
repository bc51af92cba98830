import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric, Schema } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { prometheusText } from "../../src/operations/prometheus.ts"
import { bounded } from "../../src/storage/deadline.ts"

class ThingStoreUnavailable extends Schema.TaggedError<ThingStoreUnavailable>()("ThingStoreUnavailable", {
  cause: Schema.Defect()
}) {}

const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("reset") }) })

const inTime = bounded("2 seconds", (cause) => new ThingStoreUnavailable({ cause }))
const countOf = (outcome: string, count: number) =>
  `fathom_store_call_seconds_count{store="ThingStore",outcome="${outcome}"} ${count}`

/** A registry of its own, so that other tests of the process are not counted. */
const alone = Effect.provide(Layer.sync(Metric.MetricRegistry, () => new Map()))

describe("calls of a store", () => {
  it.effect("are measured by store and outcome", () =>
    Effect.gen(function* () {
      yield* inTime(Effect.void)
      assert.strictEqual(yield* Effect.flip(inTime(Effect.fail("no such row"))), "no such row")
      const failure = yield* Effect.flip(inTime(Effect.fail(lost)))
      assert.strictEqual(failure._tag, "ThingStoreUnavailable")
      const late = yield* Effect.forkChild(Effect.flip(inTime(Effect.never)), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(late))._tag, "ThingStoreUnavailable")
      const given = yield* Effect.forkChild(inTime(Effect.never), { startImmediately: true })
      yield* Fiber.interrupt(given)
      const lines = (yield* prometheusText).split("\n").filter((line) => line.includes("_count{"))
      assert.sameMembers(lines, [countOf("answered", 2), countOf("failed", 1), countOf("late", 1)])
    }).pipe(alone)
  )
})
