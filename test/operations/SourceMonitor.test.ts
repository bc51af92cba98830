import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"

describe("a service that is asked when a request needs it", () => {
  it.effect("has the state of its last answer, and the times of its last success and last failure", () =>
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

describe("the past of a source", () => {
  it.effect("has the time of its last change of state, and the last failure of its calls", () =>
    Effect.gen(function* () {
      const monitor = yield* SourceMonitor.SourceMonitor
      yield* monitor.report("database", (nowMs) => ({ observedAtMs: nowMs, status: "known" }))
      const watched = yield* SourceMonitor.watchCalls("callouts")
      const status = (nowMs: number) => monitor.stateOf("callouts", nowMs)?.status ?? "unavailable"
      const history = (nowMs: number) => monitor.history("callouts", status(nowMs), nowMs)
      assert.deepStrictEqual(history(10), { sinceMs: 10, lastError: null })
      assert.deepStrictEqual(history(20), { sinceMs: 10, lastError: null })
      yield* TestClock.setTime(30)
      yield* Effect.ignore(watched(Effect.fail(new Error("no connection"))))
      const lastError = { atMs: 30, detail: "no connection" }
      assert.deepStrictEqual(history(40), { sinceMs: 40, lastError })
      yield* watched(Effect.void)
      assert.deepStrictEqual(history(50), { sinceMs: 50, lastError })
    }).pipe(Effect.scoped, Effect.provide(SourceMonitor.layer))
  )
})
