import { assert, describe, it } from "@effect/vitest"
import { positionsAfter, eventsOf } from "../../src/wallets/ledger.ts"
import { walletResults } from "../../src/wallets/walletResults.ts"
import { tradeOf, usd, walletOf } from "../wallets/trades.ts"

/** A purchase for 10 dollars and a sale of all of it for so many; null when the price of the sale is unknown. */
const roundTrip = (n: number, proceeds: number | null) => [
  tradeOf({ mint: walletOf(n), slot: n * 10, volumeUsdNanos: usd(10) }),
  tradeOf({
    mint: walletOf(n),
    slot: n * 10 + n,
    side: "sell",
    volumeUsdNanos: proceeds === null ? null : usd(proceeds)
  })
]

const resultsOf = (...proceeds: ReadonlyArray<number | null>) => {
  const trades = proceeds.flatMap((each, i) => roundTrip(i + 1, each))
  return walletResults(Array.from(positionsAfter(eventsOf(trades)).values()), [])
}

const fallOf = (...realized: ReadonlyArray<string | null>) =>
  walletResults(
    [],
    realized.map((each, i) => ({ day: `day ${i}`, realized: each }))
  ).drawdown

describe("the results of a wallet", () => {
  it("count closed positions of known result in the win rate, and no others", () => {
    const open = tradeOf({ mint: walletOf(90), slot: 900 })
    const trades = [roundTrip(1, 12), roundTrip(2, 7), roundTrip(3, null), roundTrip(4, 10), roundTrip(5, 11)].flat()
    const results = walletResults(Array.from(positionsAfter(eventsOf([...trades, open])).values()), [])
    const { closed, known, lost, positions, winRatePct, won } = results
    assert.deepStrictEqual(
      { positions, closed, known, won, lost, winRatePct },
      {
        positions: 6,
        closed: 5,
        known: 4,
        won: 2,
        lost: 1,
        winRatePct: "50"
      }
    )
    assert.deepStrictEqual(results.best, { mint: walletOf(1), realized: "2", roiPct: "20" })
    assert.deepStrictEqual(results.worst, { mint: walletOf(2), realized: "-3", roiPct: "-30" })
    // A block takes 400 ms, and the nth position is held for n blocks.
    assert.deepStrictEqual(results.holdMs, { shortest: 400, median: 1200, longest: 2000 })
  })

  it("have no win rate without a closed position of known result", () => {
    const { best, holdMs, winRatePct } = resultsOf(null)
    assert.deepStrictEqual([winRatePct, best, holdMs.median], [null, null, 400])
    assert.isNull(resultsOf().holdMs.longest)
  })

  it("have rows that an unknown or an even result ends", () => {
    assert.deepStrictEqual(resultsOf(11, 12, 9, 8, 7).streaks, { longestWon: 2, longestLost: 3, current: -3 })
    assert.deepStrictEqual(resultsOf(11, null, 12).streaks, { longestWon: 1, longestLost: 0, current: 1 })
    assert.deepStrictEqual(resultsOf(9, 9, 10).streaks, { longestWon: 0, longestLost: 2, current: 0 })
  })

  it("have the largest fall between the ends of days, and none once a day is unknown", () => {
    assert.deepStrictEqual(fallOf("5", "-2.5", "1", "-3", "9", "-4"), {
      usd: "4.5",
      fromDay: "day 0",
      throughDay: "day 3"
    })
    assert.deepStrictEqual(fallOf("-1", "-0.000000001"), { usd: "1.000000001", fromDay: null, throughDay: "day 1" })
    assert.deepStrictEqual(fallOf("1", "2"), { usd: "0", fromDay: null, throughDay: null })
    assert.isNull(fallOf("1", null))
  })
})
