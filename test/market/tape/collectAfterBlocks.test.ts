import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { constants, PerformanceObserver } from "node:perf_hooks"
import { runInNewContext } from "node:vm"
import { ownTurn } from "../../../src/domain/loopTime.ts"
import { layerWith } from "../../../src/market/tape/collectAfterBlocks.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { youngCollector } from "../../../src/operations/youngGarbage.ts"
import { MONDAY } from "./tape.ts"

const blockAt = (slot: number) => ({
  slot,
  timeMs: (MONDAY + slot) * 1000,
  trades: [],
  transactions: [],
  launches: [],
  afterGap: false
})

/** Checks that follow the newest block. */
const CHECKS = 12

/** A market whose garbage is collected, and how often it was. */
const scene = (leastBytes: number, use: (count: () => number) => Effect.Effect<void, never, Tape>) => {
  let count = 0
  const collecting = layerWith(leastBytes, () => void (count += 1))
  return use(() => count).pipe(Effect.provide(Layer.provideMerge(collecting, Market.layerManual())))
}

const apply = Effect.fnUntraced(function* (slot: number) {
  yield* (yield* Tape).apply(blockAt(slot))
  yield* ownTurn
})

/** True for the details of a minor collection. */
const isMinor = (detail: unknown): boolean =>
  typeof detail === "object" &&
  detail !== null &&
  "kind" in detail &&
  detail.kind === constants.NODE_PERFORMANCE_GC_MINOR

describe("young garbage", () => {
  it.effect("is collected at quiet moments after a block, where there is enough of it", () =>
    Effect.andThen(
      scene(0, (count) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("1 seconds")
          assert.strictEqual(count(), 0)
          yield* apply(1)
          yield* TestClock.adjust("1 seconds")
          assert.strictEqual(count(), CHECKS)
        })
      ),
      scene(Number.POSITIVE_INFINITY, (count) =>
        Effect.gen(function* () {
          yield* apply(1)
          yield* TestClock.adjust("1 seconds")
          assert.strictEqual(count(), 0)
        })
      )
    )
  )

  it.effect("is checked for no longer after many blocks than after one", () =>
    scene(0, (count) =>
      Effect.gen(function* () {
        for (let slot = 1; slot <= 50; slot++) {
          yield* apply(slot)
        }
        yield* TestClock.adjust("1 minute")
        assert.isAtMost(count(), CHECKS)
      })
    )
  )

  it.effect("is left alone while work waits for a turn", () =>
    scene(0, (count) =>
      Effect.gen(function* () {
        yield* apply(1)
        yield* Effect.forkChild(Effect.forever(ownTurn), { startImmediately: true })
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual(count(), 0)
      })
    )
  )

  it.live("is collected by a minor collection, for which no other context gets the function", () =>
    Effect.gen(function* () {
      const collect = youngCollector()
      const kinds: Array<unknown> = []
      const observer = new PerformanceObserver((list) => {
        kinds.push(...list.getEntries().map((entry) => ("detail" in entry ? entry.detail : undefined)))
      })
      observer.observe({ entryTypes: ["gc"] })
      collect()
      collect()
      yield* Effect.sleep("50 millis")
      observer.disconnect()
      assert.isAtLeast(kinds.filter(isMinor).length, 2)
      assert.strictEqual(runInNewContext("typeof gc"), "undefined")
    })
  )
})
