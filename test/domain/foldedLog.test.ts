import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { foldedLog } from "../../src/domain/foldedLog.ts"

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
