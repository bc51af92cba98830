import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { fixedText } from "../../src/perps/exact.ts"
import { compare } from "../../src/perps/compare.ts"
import { PerpsVenues } from "../../src/perps/PerpsVenues.ts"
import { marketRows, namelessOf } from "../../src/perps/marketRows.ts"
import { inCoins, symbolAt, venueName } from "../../src/perps/symbols.ts"
import { NoMarket, type Venue } from "../../src/perps/Venue.ts"
import { fixed, levels, market, steady } from "./readings.ts"

/** A venue's list. */
const listed = (...names: ReadonlyArray<string>) => ({ names, unreadable: 0, readAtMs: 0 })

/** A venue with one market of this name. */
const only = (venue: Venue, name: string): Venue => ({
  ...venue,
  read: (asked) => (asked === name ? venue.read(asked) : Effect.fail(new NoMarket({ symbol: asked })))
})

const byThousand = market({
  bids: levels(["0.011999", "100"]),
  asks: levels(["0.012001", "50"]),
  lots: { step: fixed("1"), least: fixed("10"), leastValue: fixed("10") }
})
const byOne = market({ bids: levels(["0.000011999", "100000"]), asks: levels(["0.000012001", "50000"]) })

const named = (venue: Parameters<typeof venueName>[0]) => {
  const { multiplier, name } = venueName(venue, "PEPE")
  return `${name} ${multiplier}`
}

describe("a symbol", () => {
  it("has a name at each venue, for the number of coins that the venue lists together", () => {
    assert.deepStrictEqual((["hl", "paradex", "lighter", "aster", "velocity", "dydx"] as const).map(named), [
      "kPEPE 1000",
      "kPEPE 1000",
      "1000PEPE 1000",
      "1000PEPE 1000",
      "1MPEPE 1000000",
      "PEPE 1"
    ])
    assert.deepStrictEqual(venueName("hl", "BTC"), { name: "BTC", multiplier: 1n })
  })

  it("is found by its name at a venue", () => {
    assert.deepStrictEqual(symbolAt("hl", "kPEPE"), { symbol: "PEPE", multiplier: 1000n })
    assert.deepStrictEqual(symbolAt("aster", "1MBABYDOGE"), { symbol: "BABYDOGE", multiplier: 1_000_000n })
    assert.deepStrictEqual(symbolAt("hl", "BTC"), { symbol: "BTC", multiplier: 1n })
    // The symbol PEPE reads kPEPE at this venue.
    assert.isNull(symbolAt("hl", "PEPE"))
  })

  it("has a row with the venues that list it, and names that are no symbols are counted", () => {
    const readings = [
      { venue: "hl", listed: listed("SOL", "kPEPE", "xyz:TSLA", "kODD", "PEPE"), fault: null },
      { venue: "dydx", listed: listed("PEPE", "FART,RAYDIUM,9BB6", "SOL"), fault: null },
      { venue: "aster", listed: null, fault: new NoMarket({ symbol: "" }) }
    ] as const
    assert.deepStrictEqual(
      marketRows(readings).map(({ builder, symbol, venues }) => [
        symbol,
        builder,
        venues.map(({ coinsPerUnit, venue, venueSymbol }) => `${venue} ${venueSymbol} ${coinsPerUnit}`)
      ]),
      [
        ["PEPE", null, ["hl kPEPE 1000", "dydx PEPE 1"]],
        ["SOL", null, ["hl SOL 1", "dydx SOL 1"]],
        ["xyz:TSLA", "xyz", ["hl xyz:TSLA 1"]]
      ]
    )
    assert.deepStrictEqual(readings.map(namelessOf), [2, 1, null])
  })

  it("is priced and sized by the single coin wherever it is listed, to the last digit", () => {
    const coins = inCoins(byThousand, 1000n) ?? assert.fail()
    assert.deepStrictEqual(
      [...coins.bids, ...coins.asks].map(({ price, size }) => [fixedText(price), fixedText(size)]),
      [
        ["0.000011999", "100000"],
        ["0.000012001", "50000"]
      ]
    )
    assert.deepStrictEqual(
      [coins.lots.step, coins.lots.least, coins.lots.leastValue].map((value) => fixedText(value ?? 0n)),
      ["1000", "10000", "10"]
    )
    assert.isNull(inCoins(market({ asks: levels([`0.${"0".repeat(29)}1`, "1"]) }), 1000n))
  })

  it.effect("is compared across venues that list it by the thousand and by one", () =>
    Effect.gen(function* () {
      const { read, venues } = yield* PerpsVenues
      const readings = yield* read("PEPE", venues)
      assert.isTrue(readings.every(({ outcome }) => Result.isSuccess(outcome)))
      const order = { symbol: "PEPE", side: "buy", size: fixed("40000"), holdHours: 0n } as const
      const { perVenue } = compare({ ...order, size: fixed("40000000") }, readings, 0n)
      assert.isTrue(perVenue.every(({ reason }) => reason === "thin_book"))
      const fitting = compare(order, readings, 0n).perVenue
      assert.deepStrictEqual(
        fitting.map(({ ask, coinsPerUnit, impactBps, reason, venueSymbol }) => [
          venueSymbol,
          coinsPerUnit,
          ask,
          impactBps,
          reason
        ]),
        [
          ["PEPE", 1, 0.000_012_001, 0.833_333, null],
          // Forty units of twelve cents are below its least value.
          ["kPEPE", 1000, 0.000_012_001, null, "unsupported_size"]
        ]
      )
    }).pipe(
      Effect.provide(PerpsVenues.layer([only(steady("hl", byThousand), "kPEPE"), only(steady("dydx", byOne), "PEPE")]))
    )
  )
})
