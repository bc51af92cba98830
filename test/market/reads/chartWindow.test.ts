import { assert, describe, it } from "@effect/vitest"
import { chartKnowledge } from "../../../src/market/reads/chartWindow.ts"

const MINUTE = 60
const bar = { t: 120_000, o: 1, h: 1, l: 1, c: 1, v: 1, n: 1 }

/** Start of the open bar of a one-minute chart whose last bar ends at 180 s. */
const openBar = ({ observedAtMs, nowMs }: { readonly observedAtMs: number | null; readonly nowMs: number }) =>
  chartKnowledge(
    { resolution: "1m", from: null, to: null, limit: 10 },
    {
      bars: [bar],
      prevTo: null,
      truncated: false,
      sourceFrom: 0,
      missingBars: 0,
      lacking: null,
      status: "known",
      slot: 1,
      observedAtMs,
      supply: null,
      nowMs
    }
  ).openBarMs

describe("the open bar of a chart", () => {
  it("stays open after the clock has passed its end, until its source was read past it", () => {
    assert.strictEqual(openBar({ observedAtMs: 179_000, nowMs: 185_000 }), 2 * MINUTE * 1000)
    assert.isNull(openBar({ observedAtMs: 180_000, nowMs: 185_000 }))
  })

  it("is judged by the clock when blocks are ahead of the clock or the source has no time", () => {
    assert.strictEqual(openBar({ observedAtMs: 190_000, nowMs: 170_000 }), 2 * MINUTE * 1000)
    assert.isNull(openBar({ observedAtMs: null, nowMs: 180_000 }))
  })
})
