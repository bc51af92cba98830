import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { fixedNumber, fixedText, roundAt } from "../../src/perps/exact.ts"
import { aprPct } from "../../src/perps/fundingRates.ts"
import { allPerpMetas } from "./hyperliquidAnswers.ts"
import { json, type Override, recordedClient, recordings } from "./recorded.ts"
import { RECORDED_MS, type Recording } from "./recording.ts"

const read = (recording: Recording, override?: Override, symbol = "BTC") =>
  recording.make.pipe(
    Effect.flatMap((venue) => venue.read(symbol)),
    Effect.provide(recordedClient(recording.answers, override)),
    Effect.scoped
  )

const faultOf = (recording: Recording, override: Override, symbol?: string) =>
  Effect.map(Effect.flip(read(recording, override, symbol)), (fault) =>
    fault._tag === "VenueUnreadable" ? fault.why : fault._tag
  )

const instead =
  (path: string, answer: () => ReturnType<Override>): Override =>
  (asked) =>
    asked === path ? answer() : undefined

const gone =
  (absent: Recording["absent"]): Override =>
  (asked) =>
    asked in absent ? new Response("{}", { status: absent[asked] ?? 404 }) : undefined

const bytes = (count: number) => new Response(`"${"x".repeat(count)}"`)

const openInterests: Readonly<Record<string, string>> = {
  hl: "688.11",
  dydx: "228.1848",
  paradex: "150.1",
  lighter: "3955.9",
  velocity: "0.335"
}
const margins: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  hl: [
    ["0", "0.025", "0.0125"],
    ["150000000", "0.05", "0.025"]
  ],
  dydx: [["0", "0.02", "0.012"]]
}

describe.each(recordings)("the adapter of $key", (recording) => {
  const { absent, answers, book, crossed, key, meaning } = recording
  const failing = (path: string, answer: () => ReturnType<Override>) => faultOf(recording, instead(path, answer))

  it.effect("reads a market from documented answers, to the last digit", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS + 400)
      const market = yield* read(recording)
      const plain = ({ price, size }: (typeof market.bids)[number]) => [fixedText(price), fixedText(size)] as const
      assert.deepStrictEqual(market.bids.map(plain), meaning.bids)
      assert.deepStrictEqual(market.asks.map(plain), meaning.asks)
      assert.strictEqual(market.asOfMs, RECORDED_MS)
      assert.strictEqual(fixedText(market.lots.step), meaning.step)
      assert.strictEqual(fixedNumber(market.fees.taker, 6), meaning.takerBps)
      assert.strictEqual(fixedNumber(market.fees.maker, 6), meaning.makerBps)
    })
  )

  it.effect("annualises funding by the venue's own interval and sign", () =>
    Effect.gen(function* () {
      const { funding } = yield* read(recording)
      assert.strictEqual(fixedNumber(roundAt(aprPct(funding), 12), 12), meaning.fundingAprPct)
      assert.strictEqual(funding.intervalHours, meaning.fundingIntervalHours)
    })
  )

  it.effect("reads open interest and margin where the venue states them", () =>
    Effect.gen(function* () {
      const { margin = null, openInterest = null } = yield* read(recording)
      assert.strictEqual(openInterest === null ? null : fixedText(openInterest), openInterests[key] ?? null)
      const tiers = margin?.map((tier) => [tier.from, tier.initial, tier.maintenance].map((each) => fixedText(each)))
      assert.deepStrictEqual(tiers ?? null, margins[key] ?? null)
    })
  )

  it.effect("recognises a market that the venue does not have", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* faultOf(recording, gone(absent), "NOPE"), "NoMarket")
    })
  )

  for (const path of Object.keys(answers)) {
    it.effect(`tells apart the failures of ${path}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* failing(path, () => new Response("", { status: 503 })), "down")
        assert.strictEqual(yield* failing(path, () => new Response("", { status: 429 })), "limited")
        assert.strictEqual(yield* failing(path, () => new Response("", { status: 418 })), "malformed")
        assert.strictEqual(yield* failing(path, () => "unreachable"), "down")
        assert.strictEqual(
          yield* failing(path, () => new Response(JSON.stringify(answers[path]).slice(0, -2))),
          "malformed"
        )
        assert.strictEqual(yield* failing(path, () => json({ surprise: [] })), "malformed")
        assert.strictEqual(yield* failing(path, () => bytes(5 * 1024 * 1024)), "malformed")
      })
    )
  }

  it.effect("rejects a book in which bids and asks overlap", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* faultOf(
          recording,
          instead(book, () => json(crossed))
        ),
        "malformed"
      )
    })
  )

  it.effect("rejects invalid numbers and zero prices", () =>
    Effect.gen(function* () {
      const text = JSON.stringify(answers[book])
      const price = /"(?:px|price)":"([0-9.]+)"|\["([0-9.]+)"/u.exec(text)
      const written = price?.[1] ?? price?.[2] ?? ""
      assert.notStrictEqual(written, "", key)
      for (const wrong of ["NaN", "1e5", "", "-1", "0", "9".repeat(5000)]) {
        const answer = text.replace(`"${written}"`, `"${wrong}"`)
        assert.strictEqual(
          yield* faultOf(
            recording,
            instead(book, () => new Response(answer))
          ),
          "malformed",
          wrong
        )
      }
    })
  )
})

describe("markets that are listed but closed", () => {
  it.effect.each([
    ["hl", "FTT"],
    ["dydx", "OLD"],
    ["lighter", "OLD"],
    ["lighter", "NEW"],
    ["velocity", "OLD"],
    ["aster", "OLD"]
  ] as const)("%s does not trade %s", ([key, symbol]) =>
    Effect.gen(function* () {
      const recording = recordings.find((one) => one.key === key) ?? assert.fail()
      assert.strictEqual(yield* faultOf(recording, () => undefined, symbol), "NoMarket")
    })
  )
})

/** The requests that list the markets of each venue. */
const lists: Readonly<Record<string, ReadonlyArray<string>>> = {
  hl: ["POST /info allPerpMetas"],
  velocity: ["GET /stats/markets"],
  dydx: ["GET /v4/perpetualMarkets"],
  paradex: ["GET /markets"],
  lighter: ["GET /api/v1/orderBookDetails", "GET /api/v1/funding-rates"],
  aster: ["GET /fapi/v1/exchangeInfo"]
}

describe.each(recordings)("the list of markets of $key", ({ answers, key, make }) => {
  const requests = lists[key] ?? []
  const all = { ...answers, "POST /info allPerpMetas": allPerpMetas }
  const list = (override?: Override, asked: Array<string> = []) =>
    make.pipe(
      Effect.flatMap(({ markets }) => markets),
      Effect.provide(recordedClient(all, override, asked)),
      Effect.scoped
    )

  it.effect("has the bases of what is traded, and is asked for once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const asked: Array<string> = []
      const listed = yield* list(undefined, asked)
      assert.deepStrictEqual([listed.names, listed.readAtMs, asked], [["BTC"], RECORDED_MS, requests])
    })
  )

  it.effect("is a fault, and never empty, where the venue does not answer or answers something else", () =>
    Effect.gen(function* () {
      for (const request of requests) {
        const whyOf = (answer: () => ReturnType<Override>) =>
          Effect.map(Effect.flip(list(instead(request, answer))), (fault) =>
            fault._tag === "VenueUnreadable" ? fault.why : fault._tag
          )
        assert.strictEqual(yield* whyOf(() => "unreachable"), "down")
        assert.strictEqual(yield* whyOf(() => json({ surprise: [] })), "malformed")
        assert.strictEqual(yield* whyOf(() => new Response("", { status: 503 })), "down")
        assert.strictEqual(yield* whyOf(() => new Response("", { status: 429 })), "limited")
      }
    })
  )
})

/**
 * The listing of each venue, and how to change its text into a listing that also has unreadable markets, one of them
 * `ODD`.
 */
const oddities: ReadonlyArray<readonly [key: string, path: string, changes: ReadonlyArray<readonly [string, string]>]> =
  [
    [
      "hl",
      "POST /info metaAndAssetCtxs",
      [
        ['"universe":[', '"universe":[{"name":"ODD","szDecimals":2},{"szDecimals":"x"},null,'],
        ["]},[", ']},[{"funding":null},{},{},']
      ]
    ],
    [
      "dydx",
      "GET /v4/perpetualMarkets",
      [
        [
          '"markets":{',
          '"markets":{"ODD-USD":{"ticker":"ODD-USD","status":"ACTIVE","nextFundingRate":null,"stepSize":"1"},'
        ]
      ]
    ],
    [
      "lighter",
      "GET /api/v1/orderBookDetails",
      [
        [
          '"order_book_details":[',
          '"order_book_details":[{"symbol":"ODD","market_id":9,"status":"active","taker_fee":null},'
        ]
      ]
    ],
    ["velocity", "GET /stats/markets", []],
    ["aster", "GET /fapi/v1/exchangeInfo", []]
  ]

describe("an unreadable market", () => {
  it.effect.each(oddities)("leaves the others of %s readable, and is counted", ([key, path, changes]) =>
    Effect.gen(function* () {
      const recording = recordings.find((one) => one.key === key) ?? assert.fail()
      const plain = JSON.stringify(recording.answers[path])
      const text = changes.reduce((changed, [from, to]) => changed.replace(from, to), plain)
      const override = instead(path, () => new Response(text))
      const venue = yield* recording.make.pipe(Effect.provide(recordedClient(recording.answers, override)))
      assert.isNull(venue.unreadable())
      assert.isNotEmpty((yield* venue.read("BTC")).bids)
      assert.strictEqual(venue.unreadable(), key === "hl" ? 3 : 1)
      const fault = yield* Effect.flip(venue.read("ODD"))
      assert.strictEqual(fault._tag === "VenueUnreadable" && fault.why, "malformed")
    })
  )

  it.effect("of Paradex, which is read by market, is counted until it can be read", () =>
    Effect.gen(function* () {
      const { answers, make } = recordings.find(({ key }) => key === "paradex") ?? assert.fail()
      const text = JSON.stringify(answers["GET /markets"]).replace("fee_config", "fees")
      const venue = yield* make.pipe(
        Effect.provide(
          recordedClient(answers, (asked, times) =>
            asked === "GET /markets" && times === 0 ? new Response(text) : undefined
          )
        )
      )
      const fault = yield* Effect.flip(venue.read("BTC"))
      assert.deepStrictEqual([fault._tag === "VenueUnreadable" && fault.why, venue.unreadable()], ["malformed", 1])
      assert.isNotEmpty((yield* venue.read("BTC")).bids)
      assert.strictEqual(venue.unreadable(), 0)
    })
  )

  it.effect("is not one whose rate has an exponent", () =>
    Effect.gen(function* () {
      const recording = recordings.find(({ key }) => key === "dydx") ?? assert.fail()
      const path = "GET /v4/perpetualMarkets"
      const text = JSON.stringify(recording.answers[path]).replaceAll("-0.00000258536585365854", "-1E-7")
      const { funding } = yield* read(
        recording,
        instead(path, () => new Response(text))
      )
      assert.strictEqual(fixedText(funding.rate.numerator), "-0.0000001")
    })
  )
})

describe("a zero step", () => {
  it.effect.each([
    ["dydx", "GET /v4/perpetualMarkets", '"stepSize":"0.0001"', '"stepSize":"0"'],
    ["paradex", "GET /markets", '"order_size_increment":"0.00001"', '"order_size_increment":"0.0"']
  ] as const)("is malformed at %s", ([key, path, step, none]) =>
    Effect.gen(function* () {
      const recording = recordings.find((one) => one.key === key) ?? assert.fail()
      const text = JSON.stringify(recording.answers[path])
      assert.include(text, step)
      const answer = () => new Response(text.replaceAll(step, none))
      assert.strictEqual(yield* faultOf(recording, instead(path, answer)), "malformed")
    })
  )
})

describe("requests", () => {
  it.effect.each(recordings)(
    "list the markets of $key once for many reads, within seconds",
    ({ answers, book, key, make }) =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const venue = yield* make.pipe(Effect.provide(recordedClient(answers, undefined, asked)))
        yield* Effect.all([venue.read("BTC"), venue.read("BTC"), venue.read("BTC")])
        yield* venue.read("BTC")
        const times = (path: string) => asked.filter((one) => one === path).length
        assert.strictEqual(times(book), 4, key)
        assert.isTrue(Object.keys(answers).some((path) => times(path) === 1))
      })
  )
})
