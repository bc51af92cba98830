import { assert, describe, it } from "@effect/vitest"
import { showAnswer, type TextBounds } from "../../../src/http/mcp/answerText.ts"

const answerText = (given: unknown, bounds: TextBounds) => showAnswer(given, bounds).text

const row = (n: number) => ({
  n,
  volumeUsd: { value: n % 3 === 0 ? null : "1.5", status: n % 3 === 0 ? "unavailable" : "known" }
})
const answer = { data: Array.from({ length: 100 }, (_, n) => row(n)), meta: { requestId: "r" } }

const whole = { maxBytes: 100_000, fromElement: 0 }

const head = (given: unknown) => answerText(given, whole).split("\n")[0]

describe("the text of an answer", () => {
  it("is the whole JSON where it fits, after the states of its numbers", () => {
    const text = answerText(answer, whole)
    assert.strictEqual(text, `Numbers: 66 known, 34 unavailable.\n${JSON.stringify(answer)}`)
    assert.strictEqual(answerText({ a: 1 }, whole), '{"a":1}')
  })

  it("begins with the state of the whole, of its numbers and of its rows", () => {
    const meta = { requestId: "r", status: "partial", coverage: { complete: false, reason: "backfill_running" } }
    assert.strictEqual(head({ data: { bars: [] }, meta }), "Answer: partial (backfill_running).")
    assert.strictEqual(
      head({ ...answer, meta: { status: "known", coverage: { complete: true, reason: null } } }),
      "Answer: known. Numbers: 66 known, 34 unavailable."
    )
    assert.strictEqual(head({ wallets: [{ status: "partial", pnl: "1" }, { status: "active" }] }), "Parts: 1 partial.")
  })

  it("shows the longest list by parts that join to the whole", () => {
    const seen: Array<number> = []
    for (let from = 0; from < 100;) {
      const text = answerText(answer, { maxBytes: 1500, fromElement: from })
      assert.isAtMost(Buffer.byteLength(text), 1500)
      const [, json = "", note = ""] = text.split("\n")
      const shown = JSON.parse(json) as typeof answer
      assert.strictEqual(shown.meta.requestId, "r")
      seen.push(...shown.data.map(({ n }) => n))
      const next = /fromElement (\d+)/u.exec(note)?.[1]
      assert.include(note, "of 100 of data")
      from = next === undefined ? 100 : Number(next)
    }
    assert.deepStrictEqual(
      seen,
      answer.data.map(({ n }) => n)
    )
  })

  it("never exceeds its bound, whatever the shape", () => {
    const long = "ä".repeat(5000)
    const shapes = [
      long,
      [long, long],
      { a: { b: [{ c: long }] } },
      { list: [], text: long },
      [[1, 2], [[long]]],
      null,
      7
    ]
    for (const shape of shapes) {
      for (const fromElement of [0, 1, 50]) {
        assert.isAtMost(Buffer.byteLength(answerText(shape, { maxBytes: 1000, fromElement })), 1000)
      }
    }
  })

  it("has the same parts beside the text, and no answer where even one element had to be cut", () => {
    assert.deepStrictEqual(showAnswer({ a: 1 }, whole), {
      known: "",
      shown: { answer: { a: 1 } },
      leftOut: "",
      text: '{"a":1}'
    })
    const page = showAnswer(answer, { maxBytes: 1500, fromElement: 10 })
    const [known, json = "", leftOut] = page.text.split("\n")
    assert.deepStrictEqual(page.shown, { answer: JSON.parse(json) })
    assert.deepStrictEqual([page.known, page.leftOut], [known, leftOut])
    const long = showAnswer(["x".repeat(5000)], { maxBytes: 1000, fromElement: 0 })
    assert.isNull(long.shown)
    assert.match(long.leftOut, /^The answer is longer than maxBytes\./u)
  })
})
