import { assert, describe, it } from "@effect/vitest"
import { joinProgress, progressUntil } from "../../../src/market/model/TradeProgress.ts"
import { Continuity } from "../../../src/market/model/Continuity.ts"
import {
  forkedSince,
  type ForkReport,
  gapBetween,
  type Gaps,
  gapStartMs,
  type MissingBlocks,
  MOST_GAPS,
  missingSeconds,
  reportsAfter,
  withGap,
  withGaps,
  withGapsBefore,
  withReports
} from "../../../src/market/model/Gaps.ts"

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

describe("blocks of another fork", () => {
  const forked = { ...block(13, 13, true), forkedFrom: 11 }

  it("are missing for good, beside the blocks after them that can be read again", () => {
    const [fork, unread] = withGapsBefore([], block(11, 12), forked)
    assert.deepInclude(fork, { fromSlot: 11, toSlot: 11, fromSecond: 11, toSecond: 13, state: "unavailable" })
    assert.deepInclude(unread, { fromSlot: 12, toSlot: 12, state: "open" })
  })

  it("end an earlier gap that reaches into them", () => {
    const gaps = withGapsBefore([gapOf(5, 11)], block(12, 12), forked)
    assert.deepStrictEqual(
      gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state]),
      [
        [5, 10, "open"],
        [11, 12, "unavailable"]
      ]
    )
  })

  it("are a source gap in memory and in the progress that is stored", () => {
    const continuity = new Continuity()
    const blocks = [block(1, -1), block(12, 12), forked, block(60, 60)]
    blocks.forEach((each) => continuity.read(each))
    assert.strictEqual(continuity.coverage(0, 60).reason, "source_gap")
    assert.strictEqual(continuity.since, 14)
    const stored = joinProgress(
      null,
      blocks.map((each) => ({ ...each, trades: [], launches: [] }))
    )
    assert.deepStrictEqual(stored?.gaps, continuity.gaps)
  })
})

describe("blocks of another fork whose report was lost", () => {
  const reports = [
    { slot: 11, from: 8 },
    { slot: 13, from: 12 }
  ]

  it("are known to a reader by the next block, and only once", () => {
    const next = { ...block(14, 14, true), earlierForks: reports }
    const continuity = new Continuity()
    const blocks = [block(1, -1), block(10, 10), next, { ...block(20, 20, true), earlierForks: reports }]
    blocks.forEach((each) => continuity.read(each))
    assert.deepStrictEqual(slotsOf(continuity.gaps), [
      [8, 10, "unavailable"],
      [11, 13, "open"],
      [15, 19, "open"]
    ])
    assert.isAtMost(gapStartMs(block(10, 10), next), 8000)
    assert.strictEqual(gapStartMs(block(11, 11), next), 11_000)
    assert.isAtMost(gapStartMs(block(12, 12), next), 12_000 - 1000)
  })

  it("are repeated with those of later blocks, of which the oldest are joined", () => {
    assert.deepStrictEqual(reportsAfter({ slot: 20, earlierForks: reports, forkedFrom: 18 }), [
      ...reports,
      { slot: 20, from: 18 }
    ])
    let known: ReadonlyArray<ForkReport> = []
    for (let slot = 100; slot < 200; slot += 10) {
      known = reportsAfter({ slot, earlierForks: known, forkedFrom: slot - 3 })
      known = reportsAfter({ slot: slot + 5, earlierForks: known, forkedFrom: slot + 3 })
    }
    assert.isBelow(known.length, 20)
    assert.strictEqual(forkedSince({ earlierForks: known }, { slot: 100 }), 97)
    assert.strictEqual(forkedSince({ earlierForks: known }, { slot: 190 }), 193)
    assert.strictEqual(forkedSince({ earlierForks: known }, { slot: 195 }), Number.POSITIVE_INFINITY)
    assert.deepStrictEqual(withReports({ slot: 12, earlierForks: [] }, reports).earlierForks, reports.slice(0, 1))
  })
})

const gapOf = (fromSlot: number, toSlot: number, state: MissingBlocks["state"] = "open"): MissingBlocks => ({
  ...(gapBetween(block(fromSlot - 1, fromSlot - 1), block(toSlot + 1, toSlot + 1)) ?? assert.fail("no gap")),
  state
})
const slotsOf = (gaps: Gaps) => gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state])

describe("gaps of the store", () => {
  it("join those that they overlap with, which are open when one of them is", () => {
    const gaps = [gapOf(10, 19, "unavailable"), gapOf(30, 39)]
    assert.strictEqual(withGaps(gaps, [gapOf(12, 15, "unavailable"), gapOf(30, 39)]), gaps)
    assert.deepStrictEqual(slotsOf(withGaps(gaps, [gapOf(2, 4), gapOf(15, 24), gapOf(31, 32, "unavailable")])), [
      [2, 4, "open"],
      [10, 24, "open"],
      [30, 39, "open"]
    ])
  })

  it("count as missing although their blocks were read", () => {
    const continuity = read()
    continuity.note([gapOf(50, 59)])
    assert.deepStrictEqual(slotsOf(continuity.gaps), [
      [11, 19, "open"],
      [50, 59, "open"]
    ])
    assert.deepStrictEqual(slotsOf(continuity.unread), [[11, 19, "open"]])
    assert.isFalse(continuity.coverage(40, 70).complete)
  })
})

describe("progress of a store that has lost blocks", () => {
  const known = { slot: 100, timeMs: 100_000, firstSlot: 1, readFrom: 1, gaps: [], repairs: 3 }

  it("ends with the last block that is left, and keeps the part before it of a gap around it", () => {
    const gaps = [gapOf(10, 12), gapOf(30, 59), gapOf(70, 80)]
    const left = progressUntil({ ...known, gaps }, { slot: 50, timeMs: 50_000 })
    assert.deepInclude(left, { slot: 50, timeMs: 50_000, repairs: 3 })
    assert.deepStrictEqual(
      left.gaps.map(({ fromSlot, toSecond, toSlot }) => [fromSlot, toSlot, toSecond]),
      [
        [10, 12, 13],
        [30, 49, 50]
      ]
    )
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
