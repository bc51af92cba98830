import { assert, describe, it } from "@effect/vitest"
import { custodies, type Custody, type ImpactBuffer } from "../../src/programs/jupiter/perpetuals.ts"
import { compare } from "../../src/perps/compare.ts"
import { fixedText, roundAt } from "../../src/perps/exact.ts"
import {
  hasRate,
  hourlyBorrowRate,
  impactFeeBps,
  isExact,
  openable,
  type OpenFee
} from "../../src/perps/jupiterCosts.ts"
import { answers, fixed, levels, market } from "./readings.ts"

const DOLLAR = 1_000_000n
const MINUTE = Array.from({ length: 60 }, () => 0n)

const calm: ImpactBuffer = {
  openInterest: MINUTE,
  updatedAt: 0,
  feeFactor: 0n,
  exponent: 0,
  threshold: 0n,
  maxFeeBps: 0n
}
/** Above a million dollars in a minute: the square of the excess, a hundredth of that in basis points, up to 50. */
const busy: ImpactBuffer = {
  ...calm,
  updatedAt: 1000,
  feeFactor: 2n,
  exponent: 2,
  threshold: 1_000_000n * DOLLAR,
  maxFeeBps: 50n
}

const fee = (change: Partial<OpenFee> = {}): OpenFee => ({
  baseBps: 6n,
  scalar: 1_250_000_000n * DOLLAR,
  buffer: calm,
  nowSecond: 1000,
  ...change
})

const shown = (open: OpenFee, dollars: bigint) => {
  const ratio = impactFeeBps(open, dollars * DOLLAR)
  return ratio === null ? null : fixedText(roundAt(ratio, 6), 6)
}

const custody = (change: Partial<Custody> = {}): Custody => ({
  decimals: 9,
  canIncrease: true,
  tradeImpactFeeScalar: 0n,
  increasePositionBps: 6n,
  maxPositionSizeUsd: 0n,
  maxGlobalLongSizes: 1000n * DOLLAR,
  maxGlobalShortSizes: 500n * DOLLAR,
  guaranteedUsd: 0n,
  globalShortSizes: 100n * DOLLAR,
  owned: 1000n,
  locked: 400n,
  debt: 0n,
  interestsAccrued: 0n,
  hourlyFundingDbps: 0n,
  minRateBps: 1000n,
  maxRateBps: 15_000n,
  targetRateBps: 3500n,
  targetUtilizationRate: 800_000_000n,
  dovesAgOracle: custodies.SOL,
  impact: calm,
  ...change
})

/** A busy minute. This was added in one second. */
const added = (dollars: bigint, updatedAt = 1000) => ({
  ...busy,
  updatedAt,
  openInterest: MINUTE.map((_, second) => (second === updatedAt % 60 ? dollars * DOLLAR : 0n))
})

describe("the fee on an opening", () => {
  it("grows with the size in whole basis points, rounded up", () => {
    // 1,000 dollars of 1.25 billion are 0.008 bps, which the program charges as one.
    assert.strictEqual(shown(fee(), 1000n), "1")
    assert.strictEqual(shown(fee(), 125_000n), "1")
    assert.strictEqual(shown(fee(), 125_001n), "2")
    assert.strictEqual(shown(fee({ scalar: 0n }), 125_001n), "0")
    assert.isNull(shown(fee(), 0n))
  })

  it("is paid in whole millionths of a dollar, rounded up", () => {
    // Seven basis points of eleven millionths round up to one millionth.
    const ratio = impactFeeBps(fee(), 11n)
    assert.deepStrictEqual(ratio, { numerator: 10_000n - 66n, denominator: 11n })
  })

  it("adds the imbalance of the last minute once it exceeds the threshold, up to the cap", () => {
    // 125,000 dollars are one basis point for size. With 900,000 before them the imbalance is 1,025,000. Its square is
    // two: one bps more.
    assert.strictEqual(shown(fee({ buffer: added(875_000n) }), 125_000n), "1")
    assert.strictEqual(shown(fee({ buffer: added(900_000n) }), 125_000n), "2")
    assert.strictEqual(shown(fee({ buffer: added(2_875_000n) }), 125_000n), "6")
    assert.strictEqual(shown(fee({ buffer: added(50_000_000n) }), 125_000n), "44")
    // A short before makes it cheaper. What is a minute old no longer counts.
    assert.strictEqual(shown(fee({ buffer: added(-50_000n) }), 125_000n), "1")
    assert.strictEqual(shown(fee({ buffer: added(50_000_000n), nowSecond: 1059 }), 125_000n), "44")
    assert.strictEqual(shown(fee({ buffer: added(50_000_000n), nowSecond: 1060 }), 125_000n), "1")
  })

  it("forgets the seconds of the previous minute", () => {
    // Last written at second 58 of a minute, and now it is second 2. Seconds 59 to 1 belong to the minute before; 3 and
    // 58 do not.
    const openInterest = MINUTE.map((_, second) => ([59, 0, 1, 2].includes(second) ? 90_000_000n * DOLLAR : 0n))
    const buffer = { ...busy, openInterest, updatedAt: 58 }
    assert.strictEqual(shown(fee({ buffer, nowSecond: 62 }), 125_000n), "1")
    const kept = { ...buffer, openInterest: MINUTE.map((_, second) => (second === 3 ? 90_000_000n * DOLLAR : 0n)) }
    assert.strictEqual(shown(fee({ buffer: kept, nowSecond: 62 }), 125_000n), "44")
  })

  it("is only exact when the exponent is a whole number", () => {
    assert.isTrue(isExact(calm))
    assert.isTrue(isExact(busy))
    assert.isFalse(isExact({ ...busy, exponent: 1.5 }))
    assert.isFalse(isExact({ ...busy, threshold: 0n }))
  })
})

describe("the hourly borrow rate", () => {
  it("follows the curve, and is steeper beyond its knee", () => {
    // 40 % of use is half of the way: 22.5 % a year. 90 % is half of the way from 35 % to 150 %.
    assert.strictEqual(hourlyBorrowRate(custody()), 225_000_000n / 8760n)
    assert.strictEqual(hourlyBorrowRate(custody({ locked: 900n })), 925_000_000n / 8760n)
    assert.strictEqual(hourlyBorrowRate(custody({ locked: 0n })), 100_000_000n / 8760n)
  })

  it("is linear in the use when the custody has an hourly rate, and counts loans on both sides", () => {
    // 5 in 100,000 of 40 %: 0.00002 an hour.
    assert.strictEqual(hourlyBorrowRate(custody({ hourlyFundingDbps: 5n })), 20_000n)
    const lent = { hourlyFundingDbps: 5n, debt: 700n * 1_000_000_000n, interestsAccrued: 100n * 1_000_000_000n }
    assert.strictEqual(hourlyBorrowRate(custody(lent)), 31_250n)
    assert.strictEqual(hourlyBorrowRate(custody({ hourlyFundingDbps: 5n, owned: 0n })), 0n)
  })

  it("has no value when the knee is at full use", () => {
    assert.isTrue(hasRate(custody()))
    assert.isFalse(hasRate(custody({ targetUtilizationRate: 1_000_000_000n })))
  })
})

describe("what can be opened", () => {
  it("is bounded by the limit of the side, and by what is free to cover it", () => {
    const sol = custody({ owned: 10_000_000_000n, locked: 4_000_000_000n })
    const usdc = custody({ decimals: 6, owned: 1000n * DOLLAR, locked: 700n * DOLLAR })
    const at = (change: Partial<Custody>, price: string) => {
      const { long, short } = openable({ ...sol, ...change }, usdc, fixed(price))
      return [fixedText(long), fixedText(short)]
    }
    assert.deepStrictEqual(at({}, "100"), ["6", "3"])
    assert.deepStrictEqual(at({}, "250"), ["4", "1.2"])
    assert.deepStrictEqual(at({ guaranteedUsd: 2000n * DOLLAR, globalShortSizes: 400n * DOLLAR }, "100"), ["0", "1"])
  })
})

describe("an order at a pool", () => {
  const pool = market({
    bids: levels(["100", "2000"]),
    asks: levels(["100", "3000"]),
    funding: {
      rate: { numerator: 20n, denominator: 1_000_000n },
      shortRate: { numerator: 10n, denominator: 1_000_000n },
      rateHours: 1,
      intervalHours: 1
    },
    fees: { taker: 6_000_000n, maker: 6_000_000n },
    openFee: fee()
  })
  const entry = (side: "buy" | "sell", size: string) =>
    compare({ symbol: "SOL", side, size: fixed(size), holdHours: fixed("10") }, [answers("jupiter", pool)], 0n)
      .perVenue[0] ?? assert.fail()

  it("costs the base fee, the price impact fee and the borrow rate of its side", () => {
    assert.deepInclude(entry("buy", "1250"), {
      takerBps: 6,
      impactBps: 1,
      fundingBps: 2,
      fundingAprPct: 17.52,
      allInBps: 9,
      bid: 100,
      ask: 100,
      healthy: true
    })
    assert.deepInclude(entry("sell", "1251"), { impactBps: 2, fundingBps: 1, fundingAprPct: 8.76, allInBps: 9 })
  })

  it("is thin beyond what can be opened", () => {
    assert.deepInclude(entry("sell", "2500"), { impactBps: null, filledPct: 80, reason: "thin_book" })
  })
})
