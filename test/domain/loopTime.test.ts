import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { withinTurns } from "../../src/domain/loopTime.ts"
import { blockLoop } from "../support/blockLoop.ts"

const late = Effect.succeed("late")

/** Completes three turns of the event loop after the first one, which takes `ms`. */
const afterBusyTurn = (ms: number) =>
  Effect.callback<string>((resume) => {
    setImmediate(() => {
      blockLoop(ms)
      setImmediate(() => setImmediate(() => setImmediate(() => resume(Effect.succeed("in time")))))
    })
  })

describe("withinTurns", () => {
  it.live("reads what has arrived before it judges that nothing came in time", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* withinTurns("400 millis", late)(afterBusyTurn(600)), "in time")
    })
  )

  it.effect("ends at its limit while the loop is not busy", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(withinTurns("400 millis", late)(Effect.never), { startImmediately: true })
      yield* TestClock.adjust("399 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(waiting), "late")
    })
  )
})
