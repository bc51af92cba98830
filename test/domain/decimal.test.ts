import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  fromAtomic,
  numberText,
  quotient,
  shareOf,
  shortfallPct,
  toAtomic,
  uiNumber
} from "../../src/domain/decimal.ts"

const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 64n - 1n }))
const Decimals = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 18 }))
const Positive = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n ** 200n }))

describe("toAtomic", () => {
  it.each([
    ["1", 0, 1n],
    ["0.1", 9, 100_000_000n],
    ["18446744073709.551615", 6, 18446744073709551615n],
    ["1.5", 18, 1_500_000_000_000_000_000n],
    ["0.000000000", 9, 0n]
  ])("reads %s at %i decimals", (text, decimals, units) => {
    assert.strictEqual(toAtomic(text, decimals), units)
  })

  it.each(["", "-1", "+1", "01", "1.", ".5", "1e3", "0x10", " 1", "1 ", "1,5", "NaN", "Infinity", "1.2.3", "１"])(
    "refuses %j as no decimal",
    (text) => {
      assert.strictEqual(toAtomic(text, 6), "format")
    }
  )

  it("refuses more fraction digits than the token has", () => {
    assert.strictEqual(toAtomic("0.10", 1), "too_fine")
    assert.strictEqual(toAtomic("1.0", 0), "too_fine")
  })

  it.prop("reads back what fromAtomic writes", [Amount, Decimals], ([amount, decimals]) => {
    const text = fromAtomic(amount, decimals)
    assert.strictEqual(toAtomic(text, decimals), amount)
    assert.match(text, /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/u)
  })
})

describe("numbers of JSON", () => {
  it("are the nearest to the exact decimal", () => {
    assert.strictEqual(uiNumber(1498000000n, 9), 1.498)
    assert.strictEqual(uiNumber(1n, 18), 1e-18)
    assert.strictEqual(uiNumber(2n ** 64n - 1n, 0), 2 ** 64)
  })

  it.each([
    [0.1, "0.1"],
    [1, "1"],
    [1e-7, "0.0000001"],
    [1.25e-9, "0.00000000125"],
    [1e21, "1000000000000000000000"],
    [1.5e300, `15${"0".repeat(299)}`]
  ])("spells %d without an exponent", (value, text) => {
    assert.strictEqual(numberText(value), text)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])("does not spell %d", (value) => {
    assert.isNull(numberText(value))
  })

  const PositiveNumber = Schema.Finite.check(Schema.isGreaterThan(0))
  it.prop("are spelled so that they read back the same", [PositiveNumber], ([value]) => {
    assert.strictEqual(Number(numberText(value)), value)
  })
})

describe("shareOf", () => {
  it("rounds down", () => {
    assert.strictEqual(shareOf(999n, "0.1"), 99n)
    assert.strictEqual(shareOf(2n ** 64n - 1n, "1"), 2n ** 64n - 1n)
    assert.strictEqual(shareOf(100n, "0.001"), 0n)
  })

  it("is exact where a float is not", () => {
    assert.strictEqual(shareOf(10n ** 19n, "0.07"), 7n * 10n ** 17n)
  })

  it("refuses what is no decimal", () => {
    assert.isNull(shareOf(1n, "1e-3"))
  })
})

describe("quotient", () => {
  it.each([
    [1n, 3n, 1 / 3],
    [0n, 5n, 0],
    [10n ** 40n, 10n ** 40n, 1],
    [1n, 10n ** 40n, 1e-40],
    [10n ** 15n, 3n, 1e15 / 3]
  ])("of %d by %d is the nearest number", (dividend, divisor, value) => {
    assert.strictEqual(quotient(dividend, divisor), value)
  })

  it.prop("is within one part in 10^15", [Positive, Positive], ([dividend, divisor]) => {
    const value = quotient(dividend, divisor)
    const scale = 10n ** 40n
    const exact = (dividend * scale) / divisor
    const off = BigInt(Math.round(value * 2 ** 20)) * (scale / 2n ** 20n) - exact
    assert.isTrue((off < 0n ? -off : off) * 10n ** 15n <= exact * 2n + scale * 10n ** 10n)
  })
})

describe("shortfallPct", () => {
  it.each([
    [99n, 100n, 1],
    [100n, 100n, 0],
    [1n, 3n, 66.666667],
    [2n, 3n, 33.333333],
    [101n, 100n, -1],
    [0n, 7n, 100],
    // Half of the sixth decimal goes away from zero.
    [199_999_999n, 200_000_000n, 0.000001],
    [200_000_001n, 200_000_000n, -0.000001]
  ])("of %d against %d", (numerator, denominator, pct) => {
    assert.strictEqual(shortfallPct(numerator, denominator), pct)
  })
})
