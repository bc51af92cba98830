import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { unitsOf } from "../../src/web/data/amounts.ts"
import { gather, GATHER_MS } from "../../src/web/data/gather.ts"
import {
  alignedDecimal,
  changePctOf,
  compareDecimals,
  currentPrice,
  type ScalarJson,
  separatorsOf,
  shiftedBy,
  pricedDecimal,
  shortDecimal,
  sumOf,
  tidyDecimal,
  written
} from "../../src/web/parts/numbers.ts"
import { type Firing, newFirings } from "../../src/web/data/useFirings.ts"
import { withToken } from "../../src/web/data/watched.ts"
import { inHeldOrder, type Line, rankOf, sorted, statisticOf } from "../../src/web/market/ranking.ts"
import { tilesOf } from "../../src/web/market/tiles.ts"
import { isolated } from "../../src/web/parts/words.ts"
import { hourWords, shareWords } from "../../src/web/status/decoding.ts"
import { extrasOf, nameOf, noteOf, stateWords } from "../../src/web/status/sources.ts"
import { stagesOf } from "../../src/web/token/stages.ts"
import { type Bar, continuous, mergedBars, withBar } from "../../src/web/token/bars.ts"
import { daysDrawn } from "../../src/web/wallet/days.ts"
import { knownPart } from "../../src/web/wallet/knownPart.ts"

const MINUTE = 60_000

const bar = (minute: number, c: number, more: Partial<Bar> = {}): Bar => ({
  t: minute * MINUTE,
  o: c,
  h: c,
  l: c,
  c,
  v: 10,
  n: 2,
  buys: 1,
  sells: 1,
  buyVolume: 5,
  sellVolume: 5,
  traders: null,
  outliers: 0,
  isWhole: true,
  revision: 0,
  ...more
})

describe("a typed amount", () => {
  it.each([
    ["1", 9, 1_000_000_000n],
    ["0.1", 9, 100_000_000n],
    [".5", 6, 500_000n],
    ["12 345.678901", 6, 12_345_678_901n],
    ["90071992547409.930000001", 9, 90_071_992_547_409_930_000_001n],
    ["1.500", 1, 15n],
    ["7", 0, 7n]
  ] as const)("%s with %d decimals is exact", (text, decimals, units) => {
    assert.deepStrictEqual(unitsOf(text, decimals), { units, fault: null })
  })

  it.each(["", ".", "1,5", "1e9", "-1", "0x10", "1.0000000001", "one"])("%s is rejected with a reason", (text) => {
    const { fault, units } = unitsOf(text, 9)
    assert.isNull(units)
    assert.match(fault ?? "", /\.$/u)
  })
})

describe("live events of a page", () => {
  it("are handed over together: the first at once, the others after a pause, and none after the page left", () => {
    vi.useFakeTimers()
    try {
      const taken: Array<ReadonlyArray<number>> = []
      const events = gather<number>((values) => taken.push(values))
      for (let event = 0; event < 5_000; event++) {
        events.push(event)
      }
      assert.deepStrictEqual(taken, [[0]])
      vi.advanceTimersByTime(GATHER_MS)
      assert.deepStrictEqual(
        taken.map(({ length }) => length),
        [1, 4_999]
      )
      vi.advanceTimersByTime(10 * GATHER_MS)
      events.push(5_000)
      assert.deepStrictEqual(taken.at(-1), [5_000])
      events.push(5_001)
      events.stop()
      vi.advanceTimersByTime(10 * GATHER_MS)
      assert.deepStrictEqual(taken.at(-1), [5_000])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe("a short number", () => {
  it.each([
    ["48608959.467613097", "48.60M"],
    ["-12345.6", "-12.34K"],
    ["1234.56", "1.23K"],
    ["999.999", "999.99"],
    ["15.7142857", "15.71"],
    ["0.0486547", "0.04"],
    ["0.00486547", "0.0048"],
    ["-0.5", "-0.50"],
    ["0.00000712", "0.0₅71"],
    ["0", "0"],
    ["7", "7.00"],
    ["1000000", "1.00M"],
    ["999999999999999999", "999,999.99T"]
  ])("%s is %s, cut and not rounded", (exact, shown) => {
    assert.strictEqual(shortDecimal(exact, false, separatorsOf("en")), shown)
  })

  it("stays whole below a thousand where it is a count", () => {
    assert.deepStrictEqual(
      ["7", "999", "1000", "0.5"].map((text) => shortDecimal(text, true)),
      ["7", "999", "1.00K", "0.50"]
    )
  })
})

describe("a number", () => {
  it.each([
    ["1234567.891", "en", "1,234,567.89"],
    ["1234567.891", "de", "1.234.567,89"],
    ["1234567.891", "en-IN", "12,34,567.89"],
    ["-0.00012345678", "en", "-0.000123456"],
    ["0.000012345678", "en", "0.0₄1234"],
    ["0.000000000000012345", "en", "0.0₁₃1234"],
    ["0", "de", "0"]
  ])("%s is written in the locale %s as %s", (exact, locale, shown) => {
    assert.strictEqual(tidyDecimal(exact, separatorsOf(locale)), shown)
  })

  it.each([
    ["841.408", "841.40"],
    ["3219.2", "3,219.20"],
    ["12", "12.00"],
    ["-7.999", "-7.99"],
    ["0.5", "0.5"],
    ["0", "0.00"]
  ])("have their points below one another in a column: %s", (exact, shown) => {
    assert.strictEqual(alignedDecimal(exact, separatorsOf("en")), shown)
  })

  it.each([
    ["0.88564", "0.885640"],
    ["0.884137123", "0.884137"],
    ["150.7", "150.700"],
    ["0.00002645", "0.0₄2645"],
    ["0", "0"]
  ])("are prices of six digits, also where the last ones are zeros: %s", (exact, shown) => {
    assert.strictEqual(pricedDecimal(exact, separatorsOf("en")), shown)
  })

  it("is a level at a distance in percent, cut to about four digits", () => {
    assert.strictEqual(shiftedBy("0.889211", 10), "0.9781")
    assert.strictEqual(shiftedBy("0.0000012345678", -25), "0.0000009259")
    assert.strictEqual(shiftedBy("150", 5), "157.5")
    assert.strictEqual(shiftedBy("748460000.5", -10), "673614000.45")
    assert.strictEqual(shiftedBy("100", 0), "100")
  })

  it("has a change in percent from another number", () => {
    assert.strictEqual(changePctOf("0.8", "1"), "25")
    assert.strictEqual(changePctOf("0.00003", "0.00002"), "-33.33")
    assert.strictEqual(changePctOf("0", "1"), null)
  })

  it("adds up exactly", () => {
    assert.strictEqual(sumOf(["0.1", "0.2", "12345678901234567890", "-0.05"]), "12345678901234567890.25")
    assert.strictEqual(sumOf(["-1.5", "1.5"]), "0")
    assert.strictEqual(sumOf([]), "0")
  })

  it("has its place by its exact value", () => {
    const numbers = ["10", "-1.5", "0.1", "9.99999999999999999999", "-20", "0", "0.09", "-1.25"]
    assert.deepStrictEqual(numbers.toSorted(compareDecimals), [
      "-20",
      "-1.5",
      "-1.25",
      "0",
      "0.09",
      "0.1",
      "9.99999999999999999999",
      "10"
    ])
  })

  it("has a sign where it is a change, and only there", () => {
    const change = { short: true, signed: true }
    assert.deepStrictEqual(
      ["1.5", "-1.5", "0", "-0.00011"].map((text) => written(text, "percent", change)),
      ["+1.50 %", "-1.50 %", "0 %", "-0.00 %"]
    )
    assert.strictEqual(written("1.5", "usd"), "$1.5")
    assert.strictEqual(written("-2500", "usd", change), "-$2.50K")
  })
})

describe("bars of a chart", () => {
  it("replace older bars with newer ones", () => {
    const merged = mergedBars([bar(1, 1), bar(2, 2), bar(3, 3)], [bar(3, 4), bar(5, 5)])
    assert.deepStrictEqual(
      merged.map(({ c, t }) => [t / MINUTE, c]),
      [
        [1, 1],
        [2, 2],
        [3, 4],
        [5, 5]
      ]
    )
    assert.strictEqual(mergedBars(merged, []).length, 4)
  })
})

describe("a source", () => {
  it("shows its other keys in words", () => {
    const source = {
      source: "blocks",
      observedAtMs: 1,
      lagMs: 2,
      status: "known",
      openGaps: 3,
      backfill: { donePct: 40, leftMs: 120_000, since: null },
      missing: [1, 2]
    }
    assert.deepStrictEqual(extrasOf(source), [
      ["open gaps", "3"],
      ["backfill: done", "40 %"],
      ["backfill: left", "2 min"],
      ["backfill: since", "–"],
      ["missing", "2"]
    ])
  })

  it("says where it is and what it lacks in words, and nothing that is usual", () => {
    const source = { source: "blocks", observedAtMs: 1, lagMs: 2, status: "known" } as const
    assert.deepStrictEqual(noteOf({ ...source, failedAtMs: null, reason: null }), [])
    const late = { ...source, slot: 528_715_973, head: 528_715_973, gapsOpen: 1, share: 0.404, leftMs: 120_000 }
    assert.deepStrictEqual(noteOf({ ...late, reason: "source_gap" }), [
      `at slot ${tidyDecimal("528715973")}`,
      "40 % read, about 2 min left",
      "1 gap open",
      "some blocks of the chain are missing"
    ])
    assert.deepStrictEqual(nameOf("block_feed"), ["Block feed", "the node that blocks are read from"])
    assert.deepStrictEqual(nameOf("new_source"), ["New source", null])
  })

  it("counts as not asked yet while no request has needed it", () => {
    const venue = { source: "perps_hl", observedAtMs: null, lagMs: null, status: "unavailable" } as const
    assert.strictEqual(stateWords({ ...venue, failedAtMs: null }), "Not asked yet")
    assert.strictEqual(stateWords({ ...venue, failedAtMs: 7 }), "Unavailable")
    assert.strictEqual(stateWords(venue), "Unavailable")
  })
})

describe("text from other people", () => {
  it("keeps its direction marks to itself", () => {
    assert.strictEqual(`${isolated("a\u202E")} 12`, "\u2068a\u2069 12")
    assert.strictEqual(isolated("a\u2069\u2067b"), "\u2068ab\u2069")
    assert.strictEqual(isolated("\u05D0\u200F1"), "\u2068\u05D0\u200F1\u2069")
  })

  it("is cut between characters when it is long", () => {
    assert.strictEqual(isolated("😀".repeat(65)), `\u2068${"😀".repeat(64)}…\u2069`)
  })
})

describe("the known part of a figure", () => {
  it("is none rather than zero", () => {
    assert.deepStrictEqual(["-1.5", "0", "0.00", null].map(knownPart), ["-1.5", null, null, null])
  })
})

describe("days of a wallet", () => {
  it("stand above or hang below one zero line, and leave unknown days out", () => {
    assert.deepStrictEqual(daysDrawn(["3", "-1", null, "0"], 100), {
      zero: 75,
      top: 3,
      bottom: -1,
      bars: [{ y: 0, height: 75 }, { y: 75, height: 25 }, null, { y: 75, height: 0 }]
    })
  })

  it("stand on the bottom when nothing was lost, and hang from the top when nothing was won", () => {
    assert.strictEqual(daysDrawn(["2", "1"], 100).zero, 100)
    assert.strictEqual(daysDrawn(["-2"], 100).zero, 0)
    assert.deepStrictEqual(daysDrawn([null, "0"], 100), {
      zero: 100,
      top: 0,
      bottom: 0,
      bars: [null, { y: 100, height: 0 }]
    })
  })
})

describe("the decoding of a program", () => {
  it("has a share that is 100 % only when every swap is confirmed", () => {
    assert.deepStrictEqual([1, 0.99999, 0.71, 0, null].map(shareWords), ["100 %", "99.9 %", "71 %", "0 %", "–"])
  })

  it("names what was not confirmed, and only that", () => {
    const hour = {
      startMs: 0,
      seen: 10,
      confirmed: 10,
      contradicted: 0,
      unchecked: 0,
      leftOut: { oneSided: 0, unmoved: 0 },
      unknown: 0,
      unknownInstructions: {}
    }
    assert.strictEqual(hourWords(hour), "all 10 confirmed")
    assert.strictEqual(
      hourWords({ ...hour, confirmed: 5, leftOut: { oneSided: 1, unmoved: 1 }, unknown: 3 }),
      "10 seen, 5 confirmed, 2 left out, 3 of unknown instructions"
    )
  })
})

describe("the bars of a chart", () => {
  it("are continuous: a minute without a trade has the close before it, and is marked", () => {
    const drawn = continuous([bar(1, 5), bar(4, 7)], MINUTE, 6 * MINUTE)
    assert.deepStrictEqual(
      drawn.map(({ c, isEmpty, o, t, v }) => [t / MINUTE, o, c, v, isEmpty]),
      [
        [1, 5, 5, 10, false],
        [2, 5, 5, 0, true],
        [3, 5, 5, 0, true],
        [4, 7, 7, 10, false],
        [5, 7, 7, 0, true]
      ]
    )
  })

  it("stay open beside a bar that lacks blocks, because trades may be missing there", () => {
    const drawn = continuous([bar(1, 5), bar(4, 7, { isWhole: false }), bar(8, 9)], MINUTE, 0)
    assert.deepStrictEqual(
      drawn.map(({ t }) => t / MINUTE),
      [1, 4, 8]
    )
  })

  it("take a frame as a new bar, as the newest bar again, and as a bar before it", () => {
    const [one, two, three] = [bar(1, 5), bar(2, 6), bar(3, 7)]
    assert.deepStrictEqual(withBar([one, two], three), [one, two, three])
    assert.deepStrictEqual(withBar([one, two], bar(2, 9)), [one, bar(2, 9)])
    assert.deepStrictEqual(withBar([one, three], two), [one, two, three])
    assert.deepStrictEqual(withBar([], one), [one])
  })
})

const figure = (value: string | null) => ({
  value,
  unit: "usd",
  status: "known" as const,
  observedAtMs: null,
  expiresAtMs: null,
  coverage: { complete: true, reason: null }
})
const line = (symbol: string, volume: string | null) =>
  ({ token: { symbol }, volumeUsd: figure(volume), changes: {} }) as unknown as Line
const symbols = (of: ReadonlyArray<Line>) => of.map(({ token }) => token.symbol).join("")

describe("lines of the market", () => {
  const lines = [line("A", "2"), line("B", null), line("C", "10")]
  it("are sorted by a figure, those of unknown value last", () => {
    assert.strictEqual(symbols(sorted(lines, { key: "volume", isDown: true })), "CAB")
    assert.strictEqual(symbols(sorted(lines, { key: "volume", isDown: false })), "ACB")
  })

  it("keep their places while they are held, and new ones come last", () => {
    assert.deepStrictEqual(
      inHeldOrder(["c", "x", "a", "b"], (key) => key, ["a", "b", "c"]),
      ["a", "b", "c", "x"]
    )
  })

  it("come from the ranking that has the top of a column", () => {
    assert.strictEqual(rankOf({ key: "1h", isDown: true }, "1h"), "gainers")
    assert.strictEqual(rankOf({ key: "1h", isDown: false }, "1h"), "losers")
    assert.strictEqual(rankOf({ key: "trades", isDown: true }, "1h"), "trades")
  })

  it("are screened in the order of a column that no ranking has", () => {
    const orders = [
      ["24h", true, "changePct.24h"],
      ["trades", false, "trades.1h"],
      ["cap", true, "marketCapUsd"],
      ["holders", true, "holders"],
      ["buys", true, "buySharePct.1h"]
    ] as const
    for (const [key, isDown, statistic] of orders) {
      assert.isNull(rankOf({ key, isDown }, "1h"))
      assert.strictEqual(statisticOf(key, "1h"), statistic)
    }
  })
})

describe("a heat map", () => {
  it("fills its area with tiles in proportion to their weights, none of them a thin strip", () => {
    const weights = [40, 20, 10, 10, 8, 6, 3, 2, 1]
    const tiles = tilesOf(weights, 2)
    tiles.forEach(({ height, width }, at) => {
      assert.approximately((width * height) / 100, weights[at] ?? 0, 1e-9)
      assert.isBelow(Math.max((2 * width) / height, height / (2 * width)), 4)
    })
    assert.isTrue(
      tiles.every(({ height, width, x, y }) => x >= 0 && y >= 0 && x + width < 100.001 && y + height < 100.001)
    )
    assert.deepStrictEqual(tilesOf([], 2), [])
  })
})

describe("a watchlist", () => {
  const fern = { mint: "m", symbol: "FERN" }

  it("has a token once, newest first, and other lists keep theirs apart", () => {
    const lists = [
      { name: "Watched", tokens: [{ mint: "n", symbol: "N" }] },
      { name: "Later", tokens: [] }
    ]
    const once = withToken(lists, "Watched", fern, true)
    assert.deepStrictEqual(
      once.map(({ tokens }) => tokens.map(({ mint }) => mint)),
      [["m", "n"], []]
    )
    assert.deepStrictEqual(withToken(once, "Watched", fern, true), once)
    assert.deepStrictEqual(withToken(once, "Watched", fern, false)[0]?.tokens.length, 1)
  })
})

const hop = (inputMint: string, outputMint: string, pool: string) => ({ inputMint, outputMint, pool })

describe("the drawing of a route", () => {
  it("has stages of pools that share an amount, one after the other", () => {
    const route = [hop("usdc", "fern", "d"), hop("sol", "usdc", "b"), hop("sol", "usdc", "c"), hop("sol", "fern", "a")]
    assert.deepStrictEqual(
      stagesOf(route, "sol").map(({ hops, inputMint }) => [inputMint, hops.map(({ pool }) => pool).join("")]),
      [
        ["sol", "bca"],
        ["usdc", "d"]
      ]
    )
  })

  it("leaves no pool out, and ends on a circle", () => {
    const circle = [hop("a", "b", "1"), hop("b", "a", "2"), hop("x", "y", "3")]
    assert.deepStrictEqual(
      stagesOf(circle, "a").map(({ hops }) => hops.length),
      [1, 1, 1]
    )
  })
})

describe("the price of a token", () => {
  const price: ScalarJson = {
    value: "2",
    unit: "usd",
    status: "stale",
    observedAtMs: 100 * MINUTE,
    expiresAtMs: 101 * MINUTE,
    coverage: { complete: true, reason: null }
  }

  it("is the price of the last swap, also when no other is known", () => {
    const swap = { value: "3", atMs: 100 * MINUTE - 2_000 }
    assert.deepInclude(currentPrice(price, swap, 100 * MINUTE), {
      value: "3",
      status: "known",
      observedAtMs: swap.atMs
    })
    const old = { value: "3", atMs: 0 }
    const unread: ScalarJson = { ...price, value: null, status: "unavailable" }
    assert.deepInclude(currentPrice(unread, old, 100 * MINUTE), { value: "3", status: "stale", observedAtMs: 0 })
  })

  it("is the one that was read while swaps of long ago arrive", () => {
    assert.deepStrictEqual(currentPrice(price, { value: "3", atMs: 40 * MINUTE }, 100 * MINUTE), price)
    assert.deepStrictEqual(currentPrice(price, { value: "3", atMs: null }, 100 * MINUTE), price)
  })
})

describe("fired alerts", () => {
  const firings = ["evt_2", "evt_1"].map((eventId) => ({ eventId }) as Firing)

  it("are told when they are new since the last read, and not when a page opens", () => {
    assert.deepStrictEqual(newFirings(null, firings), [])
    assert.deepStrictEqual(
      newFirings(new Set(["evt_1"]), firings).map(({ eventId }) => eventId),
      ["evt_2"]
    )
    assert.deepStrictEqual(newFirings(new Set(["evt_1", "evt_2"]), firings), [])
  })
})
