import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ownTurn } from "../../../src/domain/loopTime.ts"
import { layerWith } from "../../../src/market/tape/collectAfterBlocks.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { youngBytes, youngCollector } from "../../../src/operations/youngGarbage.ts"
import { MONDAY } from "./tape.ts"

const block = {
  slot: 1,
  timeMs: MONDAY * 1000,
  trades: [],
  transactions: [],
  launches: [],
  afterGap: false
}

/** How often garbage was collected in the half second after a block. */
const collectionsAfterBlock = (leastBytes: number) => {
  let count = 0
  const collecting = layerWith(leastBytes, () => void (count += 1))
  return Effect.gen(function* () {
    const { apply } = yield* Tape
    yield* TestClock.adjust("1 seconds")
    assert.strictEqual(count, 0)
    yield* apply(block)
    yield* ownTurn
    yield* TestClock.adjust("500 millis")
    return count
  }).pipe(Effect.provide(Layer.provideMerge(collecting, Market.layerManual())))
}

/** Young bytes in use right after some garbage was made. */
const usedWithGarbage = (): number => {
  const made = Array.from({ length: 2_000 }, (_, n) => ({ n }))
  return made.length === 0 ? 0 : youngBytes()
}

describe("young garbage", () => {
  it.effect("is collected at quiet moments after a block, where there is enough of it", () =>
    Effect.gen(function* () {
      assert.isAbove(yield* collectionsAfterBlock(0), 4)
      assert.strictEqual(yield* collectionsAfterBlock(Number.POSITIVE_INFINITY), 0)
    })
  )

  it("is gone once it is collected", () => {
    const collect = youngCollector()
    collect()
    const most = Math.max(...Array.from({ length: 5 }, usedWithGarbage))
    collect()
    collect()
    assert.isBelow(youngBytes(), most / 2)
    assert.isUndefined(globalThis.gc)
  })
})
