import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { keepGoing, keepRunning } from "../../src/health/keepRunning.ts"

describe("a loop that keeps running", () => {
  const causes = [
    ["a failure", Effect.fail("broken")],
    ["a defect", Effect.die(new Error("broken"))],
    ["an interruption from inside", Effect.interrupt]
  ] as const
  for (const [name, cause] of causes) {
    it.effect(`restarts after ${name}`, () =>
      Effect.gen(function* () {
        let runs = 0
        const loop = Effect.suspend(() => (++runs < 3 ? cause : Effect.never))
        yield* Effect.forkScoped(keepRunning("The loop")(loop), { startImmediately: true })
        assert.strictEqual(runs, 1)
        yield* TestClock.adjust("250 millis")
        assert.strictEqual(runs, 2)
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(runs, 3)
      })
    )
  }

  it.effect("pauses at most 30 s, and briefly again after a minute without a failure", () =>
    Effect.gen(function* () {
      let runs = 0
      let isSteady = false
      const loop = Effect.suspend(() => {
        runs++
        return Effect.andThen(isSteady ? Effect.sleep("1 minute") : Effect.void, Effect.die("broken"))
      })
      yield* Effect.forkScoped(keepRunning("The loop")(loop), { startImmediately: true })
      yield* TestClock.adjust("2 minutes")
      const before = runs
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(runs - before, 10)
      isSteady = true
      yield* TestClock.adjust("30 seconds")
      const steady = runs
      yield* TestClock.adjust("60.25 seconds")
      assert.strictEqual(runs - steady, 1)
    })
  )

  it.effect("ends with its fiber, and when the loop ends by itself", () =>
    Effect.gen(function* () {
      let runs = 0
      const loop = Effect.andThen(
        Effect.sync(() => runs++),
        Effect.never
      )
      const fiber = yield* Effect.forkChild(keepRunning("The loop")(loop), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(runs, 1)
      assert.strictEqual(yield* keepRunning("The loop")(Effect.succeed("done")), "done")
    })
  )

  it.effect("skips a step that fails", () =>
    Effect.gen(function* () {
      const done: Array<number> = []
      yield* Effect.forEach([1, 2, 3], (n) =>
        keepGoing("The step")(n === 2 ? Effect.die("broken") : Effect.sync(() => done.push(n)))
      )
      assert.deepStrictEqual(done, [1, 3])
    })
  )
})
