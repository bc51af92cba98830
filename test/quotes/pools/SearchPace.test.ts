import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeSearchPace, type SearchPace } from "../../../src/quotes/pools/SearchPace.ts"

/** Starts `count` searches. Each adds its name to the list when it may start. */
const begin = (pace: SearchPace, begun: Array<string>, name: string, isRequested: boolean, count: number) =>
  Effect.forkChild(
    Effect.forEach(
      Array.from({ length: count }),
      () =>
        Effect.andThen(
          pace(isRequested),
          Effect.sync(() => begun.push(name))
        ),
      { concurrency: "unbounded", discard: true }
    ),
    { startImmediately: true }
  )

describe("the pace of searches", () => {
  it.effect("is unlimited without a rate", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      yield* begin(yield* makeSearchPace(null), begun, "new", false, 500)
      yield* TestClock.adjust(0)
      assert.lengthOf(begun, 500)
    })
  )

  it.effect("is a burst for one mint, then the rate, even after a long pause", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      yield* begin(yield* makeSearchPace(5), begun, "new", false, 100)
      yield* TestClock.adjust(0)
      assert.lengthOf(begun, 20)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(begun, 25)
      yield* TestClock.adjust("15 seconds")
      assert.lengthOf(begun, 100)
      yield* TestClock.adjust("1 hour")
    })
  )

  it.effect("lets searches for requested mints go first, whenever they arrive", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      const pace = yield* makeSearchPace(1)
      yield* begin(pace, begun, "new", false, 30)
      yield* TestClock.adjust("1500 millis")
      assert.lengthOf(begun, 21)
      yield* begin(pace, begun, "asked", true, 2)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(begun.slice(21), ["asked", "asked"])
      yield* TestClock.adjust("7 seconds")
      assert.strictEqual(begun.filter((name) => name === "new").length, 28)
    })
  )

  it.effect("spends nothing on an abandoned search", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      const pace = yield* makeSearchPace(1)
      yield* begin(pace, begun, "first", false, 20)
      const left = yield* begin(pace, begun, "left", true, 5)
      yield* Fiber.interrupt(left)
      yield* begin(pace, begun, "next", false, 1)
      yield* TestClock.adjust(0)
      assert.lengthOf(begun, 20)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(begun.slice(20), ["next"])
    })
  )
})
