import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { fixedNumber, fixedOfNumber, fixedText, ONE, parseFixed, roundAt } from "../../src/perps/exact.ts"

const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(10n ** 60n), maximum: 10n ** 60n }))
const Positive = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 40n }))
const Digits = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))

describe("exact decimals", () => {
  it.prop("survive being written and read", [Amount], ([value]) => {
    assert.strictEqual(parseFixed(fixedText(value)), value)
  })

  it.prop(
    "keep the digits that a JSON number was written with",
    [Schema.Finite.check(Schema.isBetween({ minimum: -1e9, maximum: 1e9 }))],
    ([value]) => {
      const exact = fixedOfNumber(value)
      assert.isTrue(exact === null || fixedNumber(exact) === value + 0)
    }
  )

  it("reject text that is not a decimal", () => {
    for (const text of ["", ".", "1.", ".5", "+1", "1e5", "NaN", "0x1", " 1", "1 ", "1,0", `0.${"1".repeat(31)}`]) {
      assert.isNull(parseFixed(text), text)
    }
  })

  it("may be small and negative", () => {
    assert.strictEqual(parseFixed("-0.5"), -ONE / 2n)
    assert.strictEqual(fixedText(-1n), `-0.${"0".repeat(29)}1`)
    assert.strictEqual(fixedOfNumber(4.8e-7), 480_000_000_000_000_000_000_000n)
    assert.strictEqual(fixedOfNumber(-0.000_048), parseFixed("-0.000048"))
  })
})

describe("rounding a quotient", () => {
  it.prop("is never off by more than half a unit, and goes away from zero", [Amount, Positive, Digits], (given) => {
    const [numerator, denominator, digits] = given
    const rounded = roundAt({ numerator, denominator }, digits)
    const off = 2n * (rounded * denominator - numerator * 10n ** BigInt(digits))
    const distance = off < 0n ? -off : off
    assert.isTrue(distance <= denominator)
    assert.isTrue(distance < denominator || off < 0n === numerator < 0n)
  })
})
