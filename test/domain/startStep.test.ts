import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { startStep } from "../../src/domain/startStep.ts"

it.effect("logs a step that takes longer than two seconds, once", () =>
  Effect.gen(function* () {
    const quick = yield* Effect.forkChild(startStep("quick step")(Effect.delay(Effect.succeed(1), "1900 millis")))
    const slow = yield* Effect.forkChild(startStep("slow step")(Effect.delay(Effect.succeed(2), "9 seconds")))
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual([yield* Fiber.join(quick), yield* Fiber.join(slow)], [1, 2])
    const lines = (yield* TestConsole.logLines).map(String).join("\n")
    assert.notInclude(lines, "quick step")
    assert.lengthOf(lines.match(/slow step/gu) ?? [], 1)
  })
)
