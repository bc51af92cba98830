import { assert, describe, it } from "@effect/vitest"
import { Continuity } from "../../../src/market/model/Continuity.ts"
import { gapBetween, type Gaps, MOST_GAPS, missingSeconds, withGap } from "../../../src/market/model/Gaps.ts"

const block = (slot: number, second: number, afterGap = false) => ({ slot, timeMs: second * 1000, afterGap })

/** Ten seconds of blocks from second 0 on, a gap from second 9 to 20, then blocks to second 99. */
const read = () => {
  const continuity = new Continuity()
  for (const each of [block(1, -1), block(10, 9), block(20, 20, true), block(99, 99)]) {
    continuity.read(each)
  }
  return continuity
}

describe("gaps", () => {
  it("are the slots between two blocks; there is none when no slot lies between them", () => {
    assert.isNull(gapBetween(block(5, 1), block(6, 9)))
    assert.deepInclude(gapBetween(block(5, 1), block(9, 3)), { fromSlot: 6, toSlot: 8, fromSecond: 1, toSecond: 3 })
  })

  it("count every second once", () => {
    const gaps = [gapBetween(block(1, 10), block(5, 20)), gapBetween(block(5, 20), block(9, 30))].filter(
      (gap) => gap !== null
    )
    assert.strictEqual(missingSeconds(gaps, 0, 100), 21)
    assert.strictEqual(missingSeconds(gaps, 15, 22), 8)
    assert.strictEqual(missingSeconds(gaps, 31, 100), 0)
  })

  it("are joined, oldest first, when there are too many", () => {
    let gaps: Gaps = []
    for (let n = 0; n <= MOST_GAPS; n++) {
      gaps = withGap(gaps, gapBetween(block(10 * n, 10 * n), block(10 * n + 5, 10 * n + 2)))
    }
    assert.lengthOf(gaps, MOST_GAPS)
    assert.deepInclude(gaps[0], { fromSlot: 1, toSlot: 14, fromSecond: 0, toSecond: 12 })
  })
})

describe("coverage", () => {
  it("is the share of the time without a missing block", () => {
    assert.deepStrictEqual(read().coverage(21, 99), { complete: true, reason: null })
    assert.deepStrictEqual(read().coverage(0, 99), { complete: false, reason: "source_gap", share: 0.88 })
    assert.deepStrictEqual(read().coverage(-100, 99), { complete: false, reason: "not_captured", share: 0.44 })
    assert.deepStrictEqual(read().coverage(0, 8), { complete: true, reason: null })
    assert.deepStrictEqual(read().coverage(9, 20), { complete: false, reason: "source_gap", share: 0 })
  })

  it("is complete since the last gap, and nothing before the first block", () => {
    assert.strictEqual(read().since, 21)
    assert.strictEqual(read().firstRead, 0)
    assert.deepStrictEqual(new Continuity().coverage(0, 9), { complete: false, reason: "not_captured", share: 0 })
  })
})
