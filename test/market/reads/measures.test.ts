import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decimalText } from "../../../src/domain/rational.ts"
import { COMPLETE, incomplete, Scalar } from "../../../src/domain/Scalar.ts"
import {
  changed,
  changeOf,
  lifetimeAt,
  measured,
  priceRational,
  volumeScalar
} from "../../../src/market/reads/measures.ts"
import { isAtLeast } from "../../../src/market/reads/tokenMeasures.ts"

const life = lifetimeAt(1000)
const isScalar = Schema.is(Scalar)

const text = (price: number | null) => {
  const rational = priceRational(price)
  return rational === null ? null : decimalText(rational)
}

const percent = (before: bigint, after: bigint) => {
  const change = changeOf({ numerator: before, denominator: 10n }, { numerator: after, denominator: 10n })
  return change === null ? null : decimalText(change)
}

describe("measures", () => {
  it("turn a double into the shortest text that reads back as the same double", () => {
    assert.deepStrictEqual([0.1, 1, 150.25, 1e-9, 6.1e-9, 1.5e21, null, 0].map(text), [
      "0.1",
      "1",
      "150.25",
      "0.000000001",
      "0.0000000061",
      "1500000000000000000000",
      null,
      null
    ])
  })

  it("change by an exact percentage", () => {
    assert.deepStrictEqual(
      [percent(1n, 2n), percent(3n, 1n), percent(2n, 2n), percent(0n, 2n)],
      ["100", "-66.6666666666667", "0", null]
    )
  })

  it("are always scalars that follow their own rules", () => {
    const scalars = [
      measured("usd", "1", COMPLETE, life),
      measured("usd", "1", incomplete("source_gap"), life),
      measured("usd", null, COMPLETE, life),
      measured("usd", "1", COMPLETE, life, "mark_unknown"),
      changed(0n, 1n, COMPLETE, life),
      volumeScalar({ nanos: 0n, trades: 2, unpriced: 2 }, COMPLETE, life),
      volumeScalar({ nanos: 5n, trades: 3, unpriced: 2 }, COMPLETE, life),
      volumeScalar({ nanos: 0n, trades: 0, unpriced: 0 }, COMPLETE, life)
    ]
    assert.isTrue(scalars.every(isScalar))
    assert.deepStrictEqual(
      scalars.map(({ status, value }) => `${status} ${String(value)}`),
      [
        "known 1",
        "unavailable null",
        "unavailable null",
        "partial 1",
        "unavailable null",
        "unavailable null",
        "partial 0.000000005",
        "known 0"
      ]
    )
  })

  it("compare without rounding, and not at all when unknown", () => {
    const least = { numerator: 10_001n, denominator: 10n }
    const value = (text: string | null) => isAtLeast(measured("usd", text, COMPLETE, life), least)
    assert.deepStrictEqual(
      [value("1000.1"), value("1000.0999999999999999"), value("2000"), value("-5"), value(null)],
      [true, false, true, false, null]
    )
  })
})
