import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import * as Logs from "../../src/operations/Logs.ts"

const logged = (settings: Record<string, string>) =>
  Logs.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings))))

const inJson = Effect.provide(logged({ LOG_FORMAT: "json" }))

const lines = Effect.map(TestConsole.logLines, (all) => all.map(String))
const records = Effect.map(lines, (all) => all.map((line) => JSON.parse(line) as Record<string, unknown>))

describe("the log in JSON", () => {
  it.effect("is one object a line, with details and annotations by name", () =>
    Effect.gen(function* () {
      yield* Effect.logWarning("Blocks are missing", { from: 7n, to: 9, why: undefined }).pipe(
        Effect.annotateLogs({ requestId: "r-1" })
      )
      const [record] = yield* records
      assert.deepStrictEqual(record, {
        time: "1970-01-01T00:00:00.000Z",
        level: "WARN",
        message: "Blocks are missing",
        requestId: "r-1",
        from: "7",
        to: 9
      })
    }).pipe(inJson)
  )

  it.effect("writes a failure in words with its causes, and a stack only for a defect", () =>
    Effect.gen(function* () {
      const lost = new Error("Connection lost", { cause: new Error("ECONNRESET\nsecond line") })
      yield* Effect.flatMap(Effect.exit(Effect.fail(lost)), (exit) =>
        exit._tag === "Failure" ? Effect.logError("Trades cannot be stored", exit.cause) : Effect.void
      )
      yield* Effect.logError("An old call", lost)
      yield* Effect.flatMap(Effect.exit(Effect.die(new Error("A bug"))), (exit) =>
        exit._tag === "Failure" ? Effect.logError("An endpoint failed", exit.cause) : Effect.void
      )
      const [failure, argument, defect] = yield* records
      assert.deepInclude(failure, { error: "Connection lost: ECONNRESET\nsecond line" })
      assert.notProperty(failure, "stack")
      assert.deepInclude(argument, { message: "An old call", error: "Connection lost: ECONNRESET\nsecond line" })
      assert.deepInclude(defect, { error: "A bug" })
      assert.match(String(defect?.["stack"]), /^Error: A bug\n {4}at /u)
      assert.lengthOf(yield* lines, 3)
    }).pipe(inJson)
  )

  it.effect("prints three of the same failure in ten seconds, and then how many more there were", () =>
    Effect.gen(function* () {
      yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7], (n) => Effect.logError("The key store is unavailable", { n }), {
        discard: true
      })
      yield* Effect.forEach([1, 2, 3, 4], () => Effect.logInfo("A step"), { discard: true })
      assert.lengthOf(yield* lines, 7)
      yield* TestClock.adjust("10 seconds")
      const last = (yield* records).at(-1)
      assert.deepInclude(last, { message: "The key store is unavailable", n: 7, times: 4 })
      yield* Effect.logError("The key store is unavailable", { n: 8 })
      assert.deepInclude((yield* records).at(-1), { n: 8 })
    }).pipe(inJson)
  )
})

describe("the log for people", () => {
  it.effect("keeps an event on one line, whatever an error from outside contains", () =>
    Effect.gen(function* () {
      yield* Effect.logError(
        "The node could not be read",
        { node: "rpc.example", note: "two words" },
        new Error("a\nb")
      )
      assert.deepStrictEqual(yield* lines, [
        '[00:00:00.000] ERROR: The node could not be read node=rpc.example note="two words": a b'
      ])
    }).pipe(Effect.provide(logged({})))
  )

  it.effect("leaves out what is below LOG_LEVEL", () =>
    Effect.gen(function* () {
      yield* Effect.logInfo("A step")
      yield* Effect.logWarning("A warning")
      assert.lengthOf(yield* lines, 1)
    }).pipe(Effect.provide(logged({ LOG_LEVEL: "warn" })))
  )

  it.effect("refuses a level that does not exist, by the name of the setting", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(Effect.provide(Effect.void, logged({ LOG_LEVEL: "loud" })))
      assert.include(String(failure), "LOG_LEVEL")
    })
  )
})
