import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { runInNewContext } from "node:vm"
import { ownTurn } from "../../../src/domain/loopTime.ts"
import { layerWith } from "../../../src/market/tape/collectAfterBlocks.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { youngBytes, youngCollector } from "../../../src/operations/youngGarbage.ts"
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

/** Young bytes in use right after some garbage was made. */
const usedWithGarbage = (): number => {
  const made = Array.from({ length: 2_000 }, (_, n) => ({ n }))
  return made.length === 0 ? 0 : youngBytes()
}

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

  it("is gone once it is collected, and no other context gets the function for it", () => {
    const collect = youngCollector()
    // V8 may collect between two of them.
    const most = Math.max(...Array.from({ length: 5 }, usedWithGarbage))
    // What is alive is old after two collections.
    collect()
    collect()
    assert.isBelow(youngBytes(), most / 2)
    assert.strictEqual(runInNewContext("typeof gc"), "undefined")
  })
})
