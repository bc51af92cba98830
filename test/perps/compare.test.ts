import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type PerpsVenue, PerpsVenue as PerpsVenues } from "../../src/api/schemas/Perps.ts"
import { compare, hasAnswer } from "../../src/perps/compare.ts"
import { isSupported, type PerpsOrder } from "../../src/perps/venueEntry.ts"
import { ONE } from "../../src/perps/exact.ts"
import type { VenueMarket } from "../../src/perps/Venue.ts"
import { NoMarket, StaleBook, VenueUnreadable } from "../../src/perps/Venue.ts"
import { answers, fails, fixed, levels, market } from "./readings.ts"

const OUR = 1_000_000n

const order = (change: Partial<PerpsOrder> = {}): PerpsOrder => ({
  symbol: "BTC",
  side: "buy",
  size: fixed("0.5"),
  holdHours: fixed("24"),
  leverage: null,
  ...change
})

const entryOf = (reading: VenueMarket, change: Partial<PerpsOrder> = {}) =>
  compare(order(change), [answers("hl", reading)], OUR).perVenue[0] ?? assert.fail("no entry")

const late = new VenueUnreadable({ why: "late", detail: "" })

describe("one venue", () => {
  it("costs the sum of the taker fee, the service's fee, the impact of the book and the hold", () => {
    // The example of the API: 4.5 + 1.0 + 0.8 + 3.0, where the impact is 5.2 dollars on 65,000.
    const reading = market({ bids: levels(["64994.8", "9"]), asks: levels(["65005.2", "9"]) })
    const entry = entryOf(reading)
    assert.deepInclude(entry, {
      venue: "hl",
      symbol: "BTC",
      takerBps: 4.5,
      makerBps: 1.5,
      ourBps: 1,
      impactBps: 0.8,
      fundingAprPct: 10.95,
      fundingBps: 3,
      fundingIntervalHours: 1,
      allInBps: 9.3,
      bid: 64_994.8,
      ask: 65_005.2,
      mid: 65_000,
      filledPct: 100,
      healthy: true,
      asOfMs: 1000,
      reason: null
    })
  })

  it("pays a seller the funding that a buyer would pay, and walks the bids", () => {
    const entry = entryOf(market({ bids: levels(["64990", "0.25"], ["64980", "0.25"]) }), { side: "sell" })
    assert.strictEqual(entry.fundingBps, -3)
    assert.strictEqual(entry.impactBps, 2.307692)
    assert.strictEqual(entry.allInBps, 4.807_692)
  })

  it("is thin when its book ends before the order does, and then prices nothing", () => {
    const entry = entryOf(market({ asks: levels(["65010", "0.1"], ["65020", "0.05"]) }))
    assert.deepInclude(entry, { healthy: false, reason: "thin_book", filledPct: 30, impactBps: null, allInBps: null })
    assert.deepInclude(entry, { bid: 64_990, ask: 65_010, mid: 65_000, fundingBps: 3 })
  })

  it("never rounds an order up to filled", () => {
    const asks = levels(["65010", "0.499999999999"])
    assert.strictEqual(entryOf(market({ asks })).filledPct, 99.999999)
  })

  it("is thin when a side is empty", () => {
    const entry = entryOf(market({ asks: [] }))
    assert.deepInclude(entry, { reason: "thin_book", ask: null, mid: null, bid: 64_990, filledPct: 0 })
    const sold = entryOf(market({ asks: [] }), { side: "sell" })
    assert.deepInclude(sold, { reason: "thin_book", filledPct: 100, impactBps: null, allInBps: null })
  })

  it("does not accept a size between its steps", () => {
    const entry = entryOf(market({ lots: { step: fixed("0.2") } }))
    assert.deepInclude(entry, {
      healthy: false,
      reason: "unsupported_size",
      allInBps: null,
      filledPct: null,
      ask: 65_010
    })
  })

  it("states why it is unhealthy, its fees, and no other figures", () => {
    const faults = [
      [new NoMarket({ symbol: "BTC" }), "no_market", null],
      [new StaleBook({ asOfMs: 77 }), "stale_book", 77],
      [late, "timeout", null],
      [new VenueUnreadable({ why: "down", detail: "" }), "unavailable", null],
      [new VenueUnreadable({ why: "limited", detail: "" }), "unavailable", null],
      [new VenueUnreadable({ why: "resting", detail: "" }), "unavailable", null],
      [new VenueUnreadable({ why: "malformed", detail: "" }), "unreadable", null]
    ] as const
    for (const [fault, reason, asOfMs] of faults) {
      const [entry] = compare(order(), [fails("dydx", fault)], OUR).perVenue
      assert.deepStrictEqual(
        { ...entry },
        {
          venue: "dydx",
          symbol: "BTC",
          venueSymbol: "BTC",
          coinsPerUnit: 1,
          unreadableMarkets: null,
          takerBps: 5,
          makerBps: 2,
          ourBps: 1,
          impactBps: null,
          fundingAprPct: null,
          fundingBps: null,
          fundingIntervalHours: null,
          reliability: 0.2,
          allInBps: null,
          bid: null,
          ask: null,
          mid: null,
          filledPct: null,
          openInterest: null,
          openInterestReason: null,
          marginTiers: null,
          maxLeverage: null,
          maintenanceMarginPct: null,
          liquidationPrice: null,
          healthy: false,
          asOfMs,
          reason
        }
      )
    }
  })
})

describe("sizes", () => {
  const any = { step: 1n, least: null, most: null, leastValue: null }

  it("are accepted in steps, from the least to the most, and from a value on", () => {
    const lots = { step: fixed("0.01"), least: fixed("0.02"), most: fixed("5"), leastValue: fixed("10") }
    const takes = (size: string, price = "65000") => isSupported(lots, fixed(size), fixed(price))
    assert.isTrue(takes("0.02"))
    assert.isTrue(takes("5"))
    assert.isFalse(takes("0.01"))
    assert.isFalse(takes("5.01"))
    assert.isFalse(takes("0.025"))
    assert.isFalse(takes("0.02", "499.99"))
    assert.isTrue(takes("0.02", "500"))
  })

  it("are all accepted without a rule", () => {
    assert.isTrue(isSupported(any, 1n, 1n))
  })
})

const withTaker = (taker: bigint) => market({ fees: { taker, maker: 0n } })

describe("the comparison", () => {
  it("puts the cheapest first and states by how much it is cheaper", () => {
    const { bestPick, perVenue, reasonBps } = compare(
      order(),
      [
        answers("hl", withTaker(4_500_000n)),
        answers("dydx", withTaker(2_200_000n)),
        answers("lighter", withTaker(9_000_000n))
      ],
      OUR
    )
    assert.deepStrictEqual(
      perVenue.map(({ venue }) => venue),
      ["dydx", "hl", "lighter"]
    )
    assert.deepStrictEqual(bestPick, perVenue[0] ?? null)
    assert.deepStrictEqual(
      { ...reasonBps },
      { takerBps: 2.2, ourBps: 1, impactBps: 1.538462, fundingBps: 3, totalBps: 7.738462, vsNextBps: 2.3 }
    )
  })

  it("never picks a venue that cannot fill the order, however cheap it is", () => {
    const thin = market({ asks: levels(["65000", "0.1"]), fees: { taker: 0n, maker: 0n } })
    const { bestPick, perVenue, reasonBps } = compare(order(), [answers("lighter", thin), answers("hl", market())], OUR)
    assert.strictEqual(bestPick?.venue, "hl")
    assert.strictEqual(reasonBps?.vsNextBps, null)
    assert.strictEqual(perVenue[1]?.reason, "thin_book")
  })

  it("picks no venue when none is healthy", () => {
    const { asOfMs, bestPick, perVenue, reasonBps } = compare(
      order(),
      [fails("paradex", late), fails("velocity", new NoMarket({ symbol: "BTC" }))],
      OUR
    )
    assert.isNull(bestPick)
    assert.isNull(reasonBps)
    assert.isNull(asOfMs)
    assert.strictEqual(perVenue.length, 2)
  })

  it("is as new as the newest book in it", () => {
    const { asOfMs } = compare(
      order(),
      [
        answers("hl", market({ asOfMs: 5 })),
        answers("dydx", market({ asOfMs: 9 })),
        fails("velocity", new StaleBook({ asOfMs: 99 }))
      ],
      OUR
    )
    assert.strictEqual(asOfMs, 9)
  })

  it("knows whether any venue has answered", () => {
    assert.isFalse(hasAnswer([]))
    assert.isFalse(hasAnswer([fails("hl", late), fails("dydx", new VenueUnreadable({ why: "malformed", detail: "" }))]))
    assert.isTrue(hasAnswer([fails("hl", late), fails("dydx", new NoMarket({ symbol: "BTC" }))]))
    assert.isTrue(hasAnswer([fails("hl", new StaleBook({ asOfMs: 1 }))]))
    assert.isTrue(hasAnswer([answers("hl", market())]))
  })
})

const Fee = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -5_000_000n, maximum: 10_000_000n }))
const Size = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 20n * ONE }))
const Rate = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(10n ** 26n), maximum: 10n ** 26n }))
const Scripted = Schema.Array(Schema.Struct({ taker: Fee, depth: Size, rate: Rate })).check(Schema.isMaxLength(5))

describe("any comparison", () => {
  it.prop(
    "adds up as it is shown, is sorted, and picks the cheapest that fills",
    [Scripted, Size],
    ([reading, size]) => {
      const readings = reading.map(({ depth, rate, taker }, i) => {
        const venue: PerpsVenue = PerpsVenues.literals[i] ?? "hl"
        const funding = { rate: { numerator: rate, denominator: ONE }, rateHours: 1, intervalHours: 1 }
        return answers(
          venue,
          market({ asks: [{ price: fixed("65010"), size: depth }], fees: { taker, maker: 0n }, funding })
        )
      })
      const { bestPick, perVenue, reasonBps } = compare(order({ size }), readings, OUR)
      const healthy = perVenue.filter((entry) => entry.healthy)
      assert.strictEqual(perVenue.length, reading.length)
      assert.deepStrictEqual(perVenue.slice(0, healthy.length), healthy)
      const costs = healthy.map(({ allInBps }) => allInBps ?? assert.fail("a healthy venue has a cost"))
      assert.deepStrictEqual(
        costs,
        costs.toSorted((a, b) => a - b)
      )
      for (const { allInBps, filledPct, fundingBps, impactBps, ourBps, takerBps } of healthy) {
        const sum = (takerBps ?? 0) + ourBps + (impactBps ?? 0) + (fundingBps ?? 0)
        assert.closeTo(allInBps ?? 0, sum, 1e-9)
        assert.strictEqual(filledPct, 100)
      }
      assert.strictEqual(bestPick?.allInBps, costs[0])
      assert.strictEqual(reasonBps === null, healthy.length === 0)
      const next = costs[1]
      if (next === undefined) {
        assert.isNotOk(reasonBps?.vsNextBps)
      } else {
        assert.closeTo(reasonBps?.vsNextBps ?? -1, next - (costs[0] ?? 0), 1e-9)
      }
    }
  )
})
