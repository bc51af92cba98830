import { assert, describe, it } from "@effect/vitest"
import { ONE } from "../../src/perps/exact.ts"
import { amountOf, liquidationPrice, type MarginTier, tierAt, tierOf } from "../../src/perps/margin.ts"
import { fixed } from "./readings.ts"

const HALF = { numerator: 1n, denominator: 2n }
/** 50 times leverage up to a million dollars, 20 times beyond. */
const tiers = [tierOf(0n, 50, HALF), tierOf(fixed("1000000"), 20, HALF)]

const position = (side: "buy" | "sell", size: string, leverage: string) => ({
  side,
  size: fixed(size),
  entry: fixed("100"),
  leverage: fixed(leverage)
})

/** Margin minus what the tiers require at a price, in units of 10^-30. */
const left = (
  all: ReadonlyArray<MarginTier>,
  { entry, leverage, side, size }: ReturnType<typeof position>,
  price: bigint
) => {
  const gain = (size * (side === "buy" ? price - entry : entry - price)) / ONE
  const value = (size * price) / ONE
  const required = all.reduce((sum, { from, maintenance }, place) => {
    const end = all[place + 1]?.from ?? value
    const part = (value < end ? value : end) - from
    return part > 0n ? sum + (part * maintenance) / ONE : sum
  }, 0n)
  return (((size * entry) / ONE) * ONE) / leverage + gain - required
}

describe("the liquidation price", () => {
  it("is where the margin is what the value requires, in the tier of that value, for both sides", () => {
    for (const side of ["buy", "sell"] as const) {
      for (const [size, leverage] of [
        ["1", "10"],
        ["9000", "40"],
        ["10100", "20"],
        ["10500", "20"],
        ["50000", "7"],
        ["9990", "50"]
      ] as const) {
        const given = position(side, size, leverage)
        const price = liquidationPrice(tiers, given)
        assert.isNotNull(price, `${side} ${size} ${leverage}`)
        const rest = left(tiers, given, price ?? 0n)
        assert.isTrue(rest < fixed("0.000001") && rest > -fixed("0.000001"), `${side} ${size} ${leverage}: ${rest}`)
      }
    }
  })

  it("is the one of the example of a single tier", () => {
    // 10 dollars of margin on 100: at 90 / 0.99 the rest of the margin is one percent of the value.
    const price = liquidationPrice([tierOf(0n, 50, HALF)], position("buy", "1", "10"))
    assert.strictEqual(price, (fixed("90") * 100n) / 99n)
    assert.strictEqual(
      liquidationPrice([tierOf(0n, 50, HALF)], position("sell", "1", "10")),
      (fixed("110") * 100n) / 101n
    )
  })

  it("is unknown where the venue allows less leverage, and where a buyer has paid everything", () => {
    assert.isNull(liquidationPrice(tiers, position("buy", "1", "51")))
    assert.isNull(liquidationPrice(tiers, position("buy", "10000", "21")))
    assert.isNotNull(liquidationPrice(tiers, position("buy", "1", "50")))
    assert.isNull(liquidationPrice(tiers, position("buy", "1", "1")))
    assert.isNull(liquidationPrice([], position("buy", "1", "2")))
  })
})

describe("margin tiers", () => {
  it("begin at their least value", () => {
    assert.strictEqual(tierAt(tiers, fixed("999999.99")), tiers[0])
    assert.strictEqual(tierAt(tiers, fixed("1000000")), tiers[1])
  })

  it("take amounts as text or numbers, and nothing else", () => {
    assert.deepStrictEqual(["1.5", 1.5, 1e-7, "-1", -1, "x", null, undefined, {}].map(amountOf), [
      fixed("1.5"),
      fixed("1.5"),
      fixed("0.0000001"),
      null,
      null,
      null,
      null,
      null,
      null
    ])
  })
})
