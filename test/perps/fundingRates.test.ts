import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { fixedNumber, ONE, parseFixed, roundAt } from "../../src/perps/exact.ts"
import { aprPct, holdBps } from "../../src/perps/fundingRates.ts"

const fixed = (text: string) => parseFixed(text) ?? assert.fail(text)
const apr = (rate: string, rateHours: number) =>
  aprPct({ rate: { numerator: fixed(rate), denominator: ONE }, rateHours, intervalHours: rateHours })
const shown = (rate: string, rateHours: number) => fixedNumber(roundAt(apr(rate, rateHours), 12), 12)
const percent = (text: string) => ({ numerator: fixed(text), denominator: ONE })
const held = (side: "buy" | "sell", aprText: string, hours: string) =>
  fixedNumber(roundAt(holdBps(side, percent(aprText), fixed(hours)), 6), 6)

const Rate = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -ONE, maximum: ONE }))
const Hours = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 8760n * ONE }))

describe("the yearly rate", () => {
  it("follows from the venue's own interval", () => {
    // An hourly rate of 0.00125 %, the interest of Hyperliquid and of isolated markets of dYdX.
    assert.strictEqual(shown("0.0000125", 1), 10.95)
    // The same as 0.01 % for eight hours: the baseline of Paradex, and the way Lighter quotes.
    assert.strictEqual(shown("0.0001", 8), 10.95)
    // Hyperliquid's cap of 4 % an hour.
    assert.strictEqual(shown("0.04", 1), 35_040)
    assert.strictEqual(shown("-0.0000125", 1), -10.95)
  })
})

describe("the cost over a hold", () => {
  it("matches the example of the API", () => {
    assert.strictEqual(held("buy", "10.95", "24"), 3)
    assert.strictEqual(held("buy", "21.9", "24"), 6)
  })

  it("is paid to the side that the rate favours", () => {
    assert.strictEqual(held("sell", "10.95", "24"), -3)
    assert.strictEqual(held("buy", "-10.95", "24"), -3)
    assert.strictEqual(held("sell", "-10.95", "24"), 3)
  })

  it("is the whole rate in a year, and zero in no time", () => {
    assert.strictEqual(held("buy", "10.95", "8760"), 1095)
    assert.strictEqual(held("buy", "10.95", "0"), 0)
  })

  it("counts parts of an hour", () => {
    assert.strictEqual(held("buy", "87.6", "0.5"), 0.5)
  })

  it.prop("is the opposite for the other side", [Rate, Hours], ([rate, hours]) => {
    const yearly = aprPct({ rate: { numerator: rate, denominator: ONE }, rateHours: 8, intervalHours: 8 })
    assert.strictEqual(roundAt(holdBps("buy", yearly, hours), 6), -roundAt(holdBps("sell", yearly, hours), 6))
  })

  it.prop("is the rate times the periods held", [Rate, Hours], ([rate, hours]) => {
    const yearly = aprPct({ rate: { numerator: rate, denominator: ONE }, rateHours: 8, intervalHours: 1 })
    const cost = holdBps("buy", yearly, hours)
    // rate * 10^4 * hours / 8
    assert.strictEqual(cost.numerator * 8n * ONE * ONE, rate * 10_000n * hours * cost.denominator)
  })
})
