import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as SourceMonitor from "../../src/health/SourceMonitor.ts"

describe("a service that is asked when a request needs it", () => {
  it.effect("is as its last answer was, with the times of the last good one and of the last failure", () =>
    Effect.gen(function* () {
      const monitor = yield* SourceMonitor.SourceMonitor
      const watched = (yield* SourceMonitor.watchUpstream("venue"))((error: string) => error === "unknown market")
      const state = () => monitor.stateOf("venue", 0)
      const call = (outcome: Effect.Effect<string, string>) => Effect.ignore(watched(outcome))
      const unasked = { observedAtMs: null, failedAtMs: null, status: "unavailable", reason: "not_captured" }
      assert.deepStrictEqual<unknown>(state(), unasked)
      yield* TestClock.setTime(1000)
      yield* call(Effect.fail("down"))
      assert.deepStrictEqual<unknown>(state(), { observedAtMs: null, failedAtMs: 1000, status: "unavailable" })
      yield* TestClock.setTime(2000)
      yield* call(Effect.succeed("price"))
      assert.deepStrictEqual<unknown>(state(), { observedAtMs: 2000, failedAtMs: 1000, status: "known" })
      yield* TestClock.setTime(3000)
      yield* call(Effect.fail("down"))
      assert.deepStrictEqual<unknown>(state(), { observedAtMs: 2000, failedAtMs: 3000, status: "stale" })
      yield* TestClock.setTime(4000)
      yield* call(Effect.fail("unknown market"))
      assert.deepStrictEqual<unknown>(state(), { observedAtMs: 4000, failedAtMs: 3000, status: "known" })
    }).pipe(Effect.scoped, Effect.provide(SourceMonitor.layer))
  )
})
