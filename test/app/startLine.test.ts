import { assert, describe, it } from "@effect/vitest"
import { Console, Deferred, Effect, Fiber } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { withStartLine } from "../../src/app/startLine.ts"
import { StartDisplay, startStep } from "../../src/domain/startStep.ts"

/** A terminal of 40 columns, as the rows that can be seen on it. */
const makeScreen = () => {
  const written: Array<string> = []
  const shown = () => {
    const text = written.join("")
    return text.slice(text.lastIndexOf("\u001B[2K") + (text.includes("\u001B[2K") ? 4 : 0))
  }
  return { written, shown, terminal: { write: (text: string) => void written.push(text), columns: () => 40 } }
}

describe("the line of a start", () => {
  it.effect("shows the running steps from the third second on, and disappears at the end", () =>
    Effect.gen(function* () {
      const { shown, terminal, written } = makeScreen()
      const [database, market] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const service = Effect.gen(function* () {
        const both = [
          startStep("Start: database")(Deferred.await(database)),
          startStep("Start: market")(Deferred.await(market))
        ]
        yield* Effect.all(both, { concurrency: 2 })
        const display = yield* StartDisplay
        display?.finish()
        yield* Console.log("ready")
        return yield* Effect.never
      })
      const fiber = yield* Effect.forkChild(withStartLine(terminal, 500)(service))
      yield* TestClock.adjust("1400 millis")
      assert.deepStrictEqual(written, [])
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(shown(), "Start, 2 s: database; market")
      yield* Deferred.succeed(database, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(shown(), "Start, 3 s: market")
      yield* Deferred.succeed(market, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(shown(), "")
      const { length } = written
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(written, length)
      assert.deepStrictEqual(yield* TestConsole.logLines, ["ready"])
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("makes room for other lines, fits the terminal, and disappears when a start fails", () =>
    Effect.gen(function* () {
      const { shown, terminal, written } = makeScreen()
      const failing = yield* Deferred.make<void, string>()
      const service = Effect.all(
        [
          startStep(`Start: ${"x".repeat(60)}`)(Deferred.await(failing)),
          Effect.delay(Effect.logInfo("a line"), "3 seconds")
        ],
        { concurrency: 2 }
      )
      const fiber = yield* Effect.forkChild(Effect.exit(withStartLine(terminal)(service)))
      yield* TestClock.adjust("2900 millis")
      assert.lengthOf(shown(), 39)
      const before = written.length
      yield* TestClock.adjust("100 millis")
      assert.include((yield* TestConsole.logLines).map(String).join("\n"), "a line")
      assert.strictEqual(written[before], "\r\u001B[2K")
      assert.lengthOf(shown(), 39)
      yield* Deferred.fail(failing, "no")
      yield* Fiber.join(fiber)
      assert.strictEqual(shown(), "")
    })
  )
})
