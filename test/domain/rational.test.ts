import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { compare, decimalText, divide, multiply, type Rational, reduce } from "../../src/domain/rational.ts"
import { Decimal } from "../../src/domain/Scalar.ts"

const Integer = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(10n ** 60n), maximum: 10n ** 60n }))
const Positive = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 60n }))

const of = (numerator: bigint, denominator = 1n): Rational => ({ numerator, denominator })

const isDecimal = Schema.is(Decimal)

/** The fraction that decimal text spells. */
const read = (text: string): Rational => {
  const [integer = "", fraction = ""] = text.split(".")
  return of(BigInt(integer + fraction), 10n ** BigInt(fraction.length))
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)

describe("decimalText", () => {
  it.effect.prop(
    "is off by half a unit of its last digit at most, and has fifteen digits or all of them",
    [Integer, Positive],
    ([numerator, denominator]) =>
      Effect.sync(() => {
        const text = decimalText(of(numerator, denominator))
        if (text === null) {
          assert.isTrue(2n * magnitude(numerator) * 10n ** 30n < denominator)
          return
        }
        assert.isTrue(isDecimal(text), text)
        const { denominator: unit, numerator: digits } = read(text)
        const error = magnitude(digits * denominator - numerator * unit)
        const significant = magnitude(digits).toString().length
        // Trailing zeros are gone, so the error is measured against the fifteenth digit or the thirtieth after the point.
        const whole = text.replace("-", "").split(".")[0] ?? ""
        const leading = whole === "0" ? (text.split(".")[1] ?? "").search(/[1-9]/u) : -whole.length
        const places = BigInt(Math.min(30, Math.max(0, 15 + leading)))
        assert.isTrue(2n * error * 10n ** places <= denominator * unit || significant > 15, text)
      })
  )

  it.effect.prop(
    "writes values with a finite expansion exactly",
    [
      Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(10n ** 14n), maximum: 10n ** 14n })),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 16 }))
    ],
    ([digits, scale]) =>
      Effect.sync(() => {
        const value = of(digits, 10n ** BigInt(scale))
        assert.strictEqual(compare(read(decimalText(value) ?? ""), value), 0)
      })
  )

  const worked: ReadonlyArray<readonly [Rational, string | null]> = [
    [of(0n), "0"],
    [of(1n, 3n), "0.333333333333333"],
    [of(2n, 3n), "0.666666666666667"],
    [of(-2n, 3n), "-0.666666666666667"],
    [of(1n, 8n), "0.125"],
    [of(10n ** 16n - 1n, 10n ** 15n), "10"],
    [of(123_456_789_012_345_678n, 10n), "12345678901234568"],
    [of(1n, 10n ** 30n), "0.000000000000000000000000000001"],
    [of(1n, 3n * 10n ** 30n), null]
  ]

  for (const [value, text] of worked) {
    it(`spells ${value.numerator}/${value.denominator} as ${String(text)}`, () => {
      assert.strictEqual(decimalText(value), text)
    })
  }
})

describe("fractions", () => {
  it.effect.prop(
    "multiply and divide back, compare and reduce",
    [Positive, Positive, Positive, Positive],
    ([a, b, c, d]) =>
      Effect.sync(() => {
        const [x, y] = [of(a, b), of(c, d)]
        assert.strictEqual(compare(divide(multiply(x, y), y), x), 0)
        assert.strictEqual(compare(x, y), -compare(y, x))
        const reduced = reduce(multiply(x, of(c, c)))
        assert.strictEqual(compare(reduced, x), 0)
        assert.isTrue(reduced.denominator <= b)
      })
  )
})
