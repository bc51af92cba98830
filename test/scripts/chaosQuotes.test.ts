import { describe, expect, it } from "@effect/vitest"
import { hidesGap } from "../../scripts/chaos/cluster/hiddenGaps.ts"
import { isQuoteSince } from "../../scripts/chaos/cluster/recovery.ts"
import { differences, stateQuestionsOf } from "../../scripts/chaos/repair/answers.ts"
import { SOL } from "../../src/domain/Address.ts"

const quoteAt = (stateSlot: unknown, status = 200) => ({ status, content: { stateSlot } })

describe("a quote", () => {
  it("shows account state of a later slot than the fault", () => {
    expect(isQuoteSince(7, quoteAt(8))).toBe(true)
    for (const answer of [
      quoteAt(7),
      quoteAt(8, 503),
      quoteAt(undefined),
      quoteAt("8"),
      { status: 0, content: "no answer" }
    ]) {
      expect(isQuoteSince(7, answer)).toBe(false)
    }
  })
})

const quoteOf = (change: object = {}) => ({
  status: 200,
  content: { route: [{ pool: "a" }], outAmount: "10", stateSlot: 90, contextSlot: 91, ...change }
})
const other = quoteOf({ outAmount: "11", stateSlot: 100, contextSlot: 101 })

describe("a quote after missed writes", () => {
  it("hides them where it knows of the slot and is made of older state", () => {
    expect(hidesGap(quoteOf({ contextSlot: 102 }), other)).toBe(true)
    expect(hidesGap(quoteOf({ contextSlot: 500 }), other)).toBe(true)
  })

  it("reports or has none of them otherwise", () => {
    const honest = [
      quoteOf(),
      // The writes of a slot come after the slot.
      quoteOf({ contextSlot: 101 }),
      // Read again without a write, or written since.
      quoteOf({ contextSlot: 102, outAmount: "11" }),
      quoteOf({ contextSlot: 102, stateSlot: 100 }),
      quoteOf({ contextSlot: 102, route: [{ pool: "b" }] }),
      { status: 503, content: {} },
      { status: 0, content: "no answer" }
    ]
    expect(honest.filter((quote) => hidesGap(quote, other))).toEqual([])
    expect(hidesGap(quoteOf({ contextSlot: 102 }), { status: 503, content: {} })).toBe(false)
  })
})

describe("answers of two processes", () => {
  const quote = {
    outAmount: "1000",
    stateSlot: 7,
    contextSlot: 8,
    stateAgeMs: 5,
    engineTimeMs: 0.1,
    quotedAtMs: 1,
    requestId: "a"
  }

  it("that are made of the same account state are equal, whenever they were made", () => {
    const other = { ...quote, contextSlot: 9, stateAgeMs: 400, engineTimeMs: 0.2, quotedAtMs: 2, requestId: "b" }
    expect(differences("/quote", quote, other)).toEqual([])
  })

  it("differ by the amounts of older account state", () => {
    const found = differences("/quote", quote, { ...quote, outAmount: "999", stateSlot: 6 })
    expect(found.map(({ at }) => at)).toEqual(["/outAmount"])
  })

  it("differ by warnings, but not by those of a process that has read an account again", () => {
    const [mixed, clamped] = ["mixed_slots: far apart.", "clamped_rung: clamped."]
    expect(differences("/exit", { warnings: [clamped] }, { warnings: [mixed, clamped] })).toEqual([])
    expect(differences("/exit", { warnings: [clamped] }, { warnings: [mixed] })).toHaveLength(1)
  })

  it("include quotes in both directions, liquidity and exits of every token but SOL", () => {
    const paths = stateQuestionsOf([SOL, "token"]).map(({ path }) => path.split("?")[0])
    expect(paths).toEqual([
      "/api/v1/spot/quote",
      "/api/v1/spot/quote",
      "/api/v1/tokens/solana/token/liquidity",
      "/api/v1/spot/exit-check"
    ])
  })
})
