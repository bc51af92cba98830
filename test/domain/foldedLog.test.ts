import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { foldedLog, publicDetail } from "../../src/domain/foldedLog.ts"

it.effect("logs the first failure in one line, then their number every ten seconds", () => {
  const lines: Array<unknown> = []
  const logger = Logger.make(({ message }) => void lines.push(message))
  return Effect.gen(function* () {
    const log = foldedLog("The store is unavailable")
    const cause = new Error("no connection", { cause: new Error("ECONNREFUSED") })
    yield* Effect.replicateEffect(log(cause), 500, { discard: true })
    assert.deepStrictEqual(lines, [["The store is unavailable", { detail: "no connection: ECONNREFUSED" }]])
    yield* TestClock.adjust("10 seconds")
    yield* Effect.replicateEffect(log(cause), 500, { discard: true })
    assert.deepStrictEqual(lines.slice(1), [
      ["The store is unavailable", { detail: "no connection: ECONNREFUSED", times: 500 }]
    ])
  }).pipe(Effect.provide(Logger.layer([logger])))
})

describe("words that anyone may read", () => {
  it.each([
    ["https://node.test:8899/v2/0123secret?api-key=hunter2 answered 500", "https://node.test:8899 answered 500"],
    ["postgres://me:hunter2@db:5432/fathom refused", "postgres://db:5432 refused"],
    ["no account JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN", "no account …"],
    ["two\n  lines", "two lines"]
  ])("hide what may be a secret: %s", (text, shown) => {
    assert.strictEqual(publicDetail(new Error(text)), shown)
  })

  it("are at most 200 characters", () => {
    assert.lengthOf(publicDetail("word ".repeat(100)), 200)
  })
})
