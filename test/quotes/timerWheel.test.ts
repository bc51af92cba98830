import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { gridState } from "../../src/quotes/runTicks.ts"
import { makeTimerWheel } from "../../src/quotes/timerWheel.ts"
import { monotonicMs } from "../../src/domain/loopTime.ts"

describe("timerWheel", () => {
  it.effect("runs actions in the order of their times, none too early and none more than 5 ms late", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const wheel = yield* makeTimerWheel
      const startedAt = monotonicMs(clock)
      const ran: Array<number> = []
      const dueTimes = [250, 3, 61_000, 251, 4.5, 250]
      for (const due of dueTimes) {
        wheel.at(startedAt + due, () => {
          const lateMs = monotonicMs(clock) - startedAt - due
          assert.isTrue(lateMs >= 0 && lateMs < 5, `${due} ran ${lateMs} ms late`)
          ran.push(due)
        })
      }
      for (let ms = 0; ms < 300; ms++) {
        yield* TestClock.adjust(1)
      }
      assert.deepStrictEqual(ran, [3, 4.5, 250, 250, 251])
      yield* TestClock.adjust(60_705)
      assert.strictEqual(ran.at(-1), 61_000)
    })
  )

  it.effect("runs every action of a crowded slot, and the actions that these add", () =>
    Effect.gen(function* () {
      const wheel = yield* makeTimerWheel
      const startedAt = monotonicMs(yield* Clock.Clock)
      let ran = 0
      for (let n = 0; n < 5000; n++) {
        wheel.at(startedAt + 5, () => {
          ran++
          wheel.at(startedAt + 10, () => ran++)
        })
      }
      yield* TestClock.adjust(5)
      assert.strictEqual(ran, 5000)
      yield* TestClock.adjust(5)
      assert.strictEqual(ran, 10_000)
    })
  )

  it.effect("runs nothing after its scope has closed", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const wheel = yield* Scope.provide(makeTimerWheel, scope)
      const startedAt = monotonicMs(yield* Clock.Clock)
      let ran = 0
      wheel.at(startedAt + 5, () => ran++)
      yield* Scope.close(scope, Exit.void)
      wheel.at(startedAt + 10, () => ran++)
      yield* TestClock.adjust(20)
      assert.strictEqual(ran, 0)
    })
  )
})

describe("gridState", () => {
  const grid = { intervalMs: 250, durationMs: 1100 }

  it("waits for the next point, and for the end after the last", () => {
    assert.deepStrictEqual(gridState(249.9, 1, grid), { _tag: "Waiting", dueMs: 250 })
    assert.deepStrictEqual(gridState(1050, 5, grid), { _tag: "Waiting", dueMs: 1100 })
  })

  it("starts the newest point within 100 ms, and skips the points before it", () => {
    assert.deepStrictEqual(gridState(250, 1, grid), { _tag: "Due", tick: 1, skipped: 0 })
    assert.deepStrictEqual(gridState(850, 1, grid), { _tag: "Due", tick: 3, skipped: 2 })
    assert.deepStrictEqual(gridState(850.1, 1, grid), { _tag: "Late", tick: 3, skipped: 3 })
  })

  it("counts the points that are left when the time is over", () => {
    assert.deepStrictEqual(gridState(1100, 5, grid), { _tag: "Over", skipped: 0 })
    assert.deepStrictEqual(gridState(9000, 2, grid), { _tag: "Over", skipped: 3 })
  })
})
