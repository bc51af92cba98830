import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  asOf,
  CoverageReason,
  Decimal,
  known,
  partial,
  Scalar,
  ScalarUnit,
  stale,
  unavailable
} from "../../src/domain/Scalar.ts"

const Time = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))

/** Everything a producer could say. */
const Said = Schema.Struct({
  kind: Schema.Literals(["known", "partial", "unavailable", "stale"]),
  value: Schema.NullOr(Schema.Literals(["0", "1.5", "-0.25"])),
  unit: ScalarUnit,
  reason: CoverageReason,
  observedAtMs: Time,
  lifetimeMs: Schema.NullOr(Time),
  nowMs: Time
})

const make = ({ kind, lifetimeMs, observedAtMs, reason, unit, value }: typeof Said.Type): Scalar => {
  const lifetime = { observedAtMs, expiresAtMs: lifetimeMs === null ? null : observedAtMs + lifetimeMs }
  switch (kind) {
    case "known":
      return known(unit, value, lifetime)
    case "partial":
      return partial(unit, value, lifetime, reason)
    case "unavailable":
      return unavailable(unit, reason)
    case "stale":
      return stale(unit, lifetime)
  }
}

const isScalar = Schema.is(Scalar)

describe("Scalar", () => {
  it.effect.prop("keeps its promises however it is made and whenever it is read", [Said], ([said]) =>
    Effect.sync(() => {
      const scalar = asOf(make(said), said.nowMs)
      const { coverage, expiresAtMs, status, value } = scalar
      assert.isTrue(isScalar(scalar))
      assert.strictEqual(value === null, status === "stale" || status === "unavailable")
      assert.isTrue(status !== "known" || coverage.complete)
      assert.isTrue(status !== "partial" || (!coverage.complete && coverage.reason !== null))
      assert.strictEqual(coverage.complete, coverage.reason === null)
      if (expiresAtMs !== null && said.nowMs > expiresAtMs) {
        assert.deepInclude(scalar, { value: null, status: "stale" })
      }
    })
  )

  it("holds to the last millisecond of its life and no longer, and keeps when it was observed", () => {
    const scalar = known("usd", "1.5", { observedAtMs: 100, expiresAtMs: 200 })
    assert.strictEqual(asOf(scalar, 200).value, "1.5")
    assert.deepStrictEqual(asOf(scalar, 201), stale("usd", { observedAtMs: 100, expiresAtMs: 200 }))
    assert.strictEqual(asOf(known("usd", "1.5", { observedAtMs: 100, expiresAtMs: null }), 1e12).value, "1.5")
  })

  it("is invalid with a value that its status does not allow", () => {
    const scalar = known("usd", "1", { observedAtMs: 1, expiresAtMs: 2 })
    assert.isFalse(isScalar({ ...scalar, status: "stale" }))
    assert.isFalse(isScalar({ ...scalar, value: null }))
    assert.isFalse(isScalar({ ...scalar, coverage: { complete: false, reason: "not_captured" } }))
    assert.isFalse(isScalar({ ...scalar, coverage: { complete: true, reason: "not_captured" } }))
  })
})

describe("Decimal", () => {
  const isDecimal = Schema.is(Decimal)

  it.each(["0", "7", "-7", "0.1", "-0.1", "10.01", "1234567890123456789012345678901234567890", `0.${"1".repeat(30)}`])(
    "accepts %s",
    (text) => assert.isTrue(isDecimal(text))
  )

  it.each(["", "-0", "+1", "01", "1.", ".5", "1.0", "0.10", "1e3", "-0.0", "1,5", " 1", "NaN", `0.${"1".repeat(31)}`])(
    "refuses %s",
    (text) => assert.isFalse(isDecimal(text))
  )
})
