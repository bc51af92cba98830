import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { impactBps, isCrossed, type Level, type Side, walk } from "../../src/perps/bookWalk.ts"
import { fixedNumber, ONE, parseFixed, roundAt } from "../../src/perps/exact.ts"

const fixed = (text: string) => parseFixed(text) ?? assert.fail(text)
const level = (price: string, size: string): Level => ({ price: fixed(price), size: fixed(size) })
const bpsOf = (side: Side, levels: ReadonlyArray<Level>, size: string, bid: string, ask: string) => {
  const impact = impactBps(side, walk(levels, fixed(size)), fixed(bid), fixed(ask))
  return impact === null ? null : fixedNumber(roundAt(impact, 6), 6)
}

const Units = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 36n }))
const Steps = Schema.Array(Schema.Struct({ step: Units, size: Units })).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(20)
)

/** Asks that rise from level to level. */
const asksOf = (steps: typeof Steps.Type): ReadonlyArray<Level> => {
  let price = ONE
  return steps.map(({ size, step }) => ({ price: (price += step), size }))
}

const sizeOf = (levels: ReadonlyArray<Level>) => levels.reduce((sum, { size }) => sum + size, 0n)

describe("walking a book", () => {
  it("pays the average of the levels it takes", () => {
    const asks = [level("65010", "0.3"), level("65020", "2")]
    const { filled, paid } = walk(asks, fixed("0.5"))
    assert.strictEqual(filled, fixed("0.5"))
    // 0.3 at 65,010 and 0.2 at 65,020 are 65,014 on average.
    assert.strictEqual(paid, filled * fixed("65014"))
  })

  it("costs half the spread when the best level is enough, on either side", () => {
    assert.strictEqual(bpsOf("buy", [level("65010", "1")], "1", "64990", "65010"), 1.538462)
    assert.strictEqual(bpsOf("sell", [level("64990", "1")], "1", "64990", "65010"), 1.538462)
  })

  it("costs more on top of that, the deeper it goes", () => {
    const bids = [level("100", "1"), level("90", "1")]
    assert.strictEqual(bpsOf("sell", bids, "1", "100", "100"), 0)
    assert.strictEqual(bpsOf("sell", bids, "2", "100", "100"), 500)
  })

  it("has an unknown cost when nothing is filled", () => {
    assert.isNull(bpsOf("buy", [], "1", "1", "2"))
  })

  it.prop("fills the whole size, or everything there is", [Steps, Units], ([steps, size]) => {
    const asks = asksOf(steps)
    const total = sizeOf(asks)
    assert.strictEqual(walk(asks, size).filled, size < total ? size : total)
  })

  it.prop("pays at least the best price and at most the worst", [Steps, Units], ([steps, size]) => {
    const asks = asksOf(steps)
    const { filled, paid } = walk(asks, size)
    assert.isTrue(paid >= filled * (asks[0]?.price ?? 0n))
    assert.isTrue(paid <= filled * (asks.at(-1)?.price ?? 0n))
  })

  it.prop("pays a worse average for a larger size", [Steps, Units, Units], ([steps, size, more]) => {
    const asks = asksOf(steps)
    const small = walk(asks, size)
    const large = walk(asks, size + more)
    assert.isTrue(small.paid * large.filled <= large.paid * small.filled)
  })

  it.prop("costs a seller what a buyer pays in the mirrored book", [Steps, Units], ([steps, size]) => {
    const asks = asksOf(steps)
    const top = (asks.at(-1)?.price ?? 0n) + ONE
    const bids = asks.map((ask) => ({ price: 2n * top - ask.price, size: ask.size }))
    const bought = impactBps("buy", walk(asks, size), top, top)
    const sold = impactBps("sell", walk(bids, size), top, top)
    assert.deepStrictEqual(sold, bought)
  })
})

describe("a crossed book", () => {
  it("is one whose best bid is above its best ask", () => {
    assert.isTrue(isCrossed({ bids: [level("2", "1")], asks: [level("1", "1")] }))
    assert.isFalse(isCrossed({ bids: [level("1", "1")], asks: [level("1", "1")] }))
    assert.isFalse(isCrossed({ bids: [], asks: [level("1", "1")] }))
  })
})
