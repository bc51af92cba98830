import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { keepGoing, keepRunning, keepTrying } from "../../src/operations/keepRunning.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"

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

  it.effect("counts the failures of a step that is skipped each second, and says so once a minute", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        lines.push(
          `${logLevel} ${Array.isArray(message) ? message.map((part) => part.failures ?? part).join() : message}`
        )
      })
      let tries = 0
      const step = keepGoing("The step")(Effect.suspend(() => (++tries <= 90 ? Effect.fail("refused") : Effect.void)))
      const loop = Effect.provide(Effect.repeat(step, Schedule.spaced("1 second")), Logger.layer([logger]))
      yield* Effect.forkChild(loop, { startImmediately: true })
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(lines, [
        "Error The step failed and is skipped",
        "Error The step failed and is skipped,61",
        "Info The step succeeds again,90"
      ])
    })
  )

  it.effect("retries a step every second after a failure of any cause, and never skips it", () =>
    Effect.gen(function* () {
      const monitor = yield* SourceMonitor.SourceMonitor
      const faults = [Effect.fail("refused"), Effect.die(new Error("broken")), Effect.interrupt]
      let tries = 0
      const step = Effect.suspend(() => faults[tries++] ?? Effect.succeed("done"))
      const fiber = yield* Effect.forkChild(keepTrying("The step", { source: "trades" })(step), {
        startImmediately: true
      })
      assert.strictEqual(monitor.history("trades", "stale", 0).lastError?.detail, "refused")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([tries, monitor.history("trades", "stale", 0).lastError?.detail], [2, "broken"])
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.strictEqual(tries, 4)
    }).pipe(Effect.provide(SourceMonitor.layer))
  )

  it.effect("warns of the first failure of a step alone, and says when the step succeeds again", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        lines.push(`${logLevel} ${Array.isArray(message) ? message[0] : message}`)
      })
      let tries = 0
      const step = Effect.suspend(() => (++tries < 4 ? Effect.fail("refused") : Effect.succeed("done")))
      const fiber = yield* Effect.forkChild(Effect.provide(keepTrying("The step")(step), Logger.layer([logger])), {
        startImmediately: true
      })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.deepStrictEqual(lines, ["Warn The step failed and is tried again", "Info The step succeeds again"])
    })
  )

  it.effect("stops trying a step when its fiber is interrupted", () =>
    Effect.gen(function* () {
      let tries = 0
      const step = Effect.suspend(() => Effect.fail(++tries))
      const fiber = yield* Effect.forkChild(keepTrying("The step", { every: "250 millis" })(step), {
        startImmediately: true
      })
      yield* TestClock.adjust("250 millis")
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(tries, 2)
    })
  )
})
