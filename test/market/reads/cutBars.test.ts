import { assert, describe, it } from "@effect/vitest"
import { cutBars, type BarRecord } from "../../../src/market/reads/cutBars.ts"
import type { MissingBlocks } from "../../../src/market/model/Gaps.ts"

const START = 1_800_000_000
const starts = Array.from({ length: 6 }, (_, n) => START + n * 60)

/** The places of the bars that are cut. */
const cut = (given: Partial<BarRecord>): ReadonlyArray<number> => {
  const record = { firstRead: 0, gaps: [], keptFrom: Number.NEGATIVE_INFINITY, created: null, ...given }
  const found = cutBars(starts, "1m", record)
  return starts.flatMap((start, place) => (found.has(start) ? [place] : []))
}

const gap = (fromSecond: number, toSecond: number): MissingBlocks => ({
  fromSlot: 1,
  toSlot: 2,
  fromSecond: START + fromSecond,
  toSecond: START + toSecond,
  state: "open",
  tries: 0,
  nextTryAtMs: 0
})

describe("bars of a record", () => {
  it("are cut where the record begins, unless it begins with the bar", () => {
    assert.deepStrictEqual(cut({}), [])
    assert.deepStrictEqual(cut({ firstRead: START + 60 }), [0])
    assert.deepStrictEqual(cut({ firstRead: START + 61 }), [0, 1])
    assert.deepStrictEqual(cut({ firstRead: Number.POSITIVE_INFINITY }), [0, 1, 2, 3, 4, 5])
  })

  it("are cut by every gap that touches them", () => {
    assert.deepStrictEqual(cut({ gaps: [gap(70, 80), gap(119, 120), gap(240, 600)] }), [1, 2, 4, 5])
    assert.deepStrictEqual(cut({ gaps: [gap(-60, -1), gap(360, 400)] }), [])
    assert.deepStrictEqual(cut({ gaps: [gap(-60, 200)] }), [0, 1, 2, 3])
  })

  it("are whole from the creation of the token on", () => {
    const begun = { created: START + 30, firstRead: START + 31 }
    assert.deepStrictEqual(cut(begun), [])
    assert.deepStrictEqual(cut({ ...begun, firstRead: START + 40 }), [0])
    assert.deepStrictEqual(cut({ ...begun, gaps: [gap(0, 20)] }), [])
    assert.deepStrictEqual(cut({ ...begun, gaps: [gap(0, 30)] }), [0])
  })

  it("are cut where trades behind them are no longer kept", () => {
    assert.deepStrictEqual(cut({ keptFrom: START + 90 }), [0, 1])
  })
})
