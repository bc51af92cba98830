import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ownTurn, withinTurns } from "../../src/domain/loopTime.ts"
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

describe("ownTurn", () => {
  /** Counts turns of the loop until the scope closes. */
  const countTurns = Effect.acquireRelease(
    Effect.sync(() => {
      const turns = { count: 0, isOver: false }
      const next = () => {
        turns.count++
        if (!turns.isOver) {
          setImmediate(next)
        }
      }
      setImmediate(next)
      return turns
    }),
    (turns) => Effect.sync(() => (turns.isOver = true))
  )

  it.effect("lets one fiber continue in a turn of the loop, in the order in which they asked", () =>
    Effect.gen(function* () {
      const turns = yield* countTurns
      const continued: Array<{ readonly name: string; readonly turn: number }> = []
      const names = ["a", "b", "c", "d"]
      yield* Effect.forEach(names, (name) => Effect.map(ownTurn, () => continued.push({ name, turn: turns.count })), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        continued.map(({ name }) => name),
        names
      )
      assert.strictEqual(new Set(continued.map(({ turn }) => turn)).size, names.length)
    })
  )

  it.effect("goes on with the others when one is interrupted while it waits", () =>
    Effect.gen(function* () {
      const first = yield* Effect.forkChild(ownTurn, { startImmediately: true })
      const second = yield* Effect.forkChild(ownTurn, { startImmediately: true })
      yield* Fiber.interrupt(first)
      yield* Fiber.join(second)
      yield* ownTurn
    })
  )
})
