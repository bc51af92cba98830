import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { PerpsFunding, PerpsMarkets, PerpsQuote } from "../../../src/api/Perps.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { PerpsVenues } from "../../../src/perps/PerpsVenues.ts"
import { type FundingPast, NoMarket, type Venue, VenueUnreadable } from "../../../src/perps/Venue.ts"
import { hourlyRate } from "../../../src/perps/pastRates.ts"
import { fixed, levels, market, steady, venueOf } from "../../perps/readings.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"

const PATH = "/api/v1/perps/quote"
const order = { symbol: "BTC", side: "buy", size: "0.5" }

const quote = (query: Record<string, string> = order, key: string | null = "p") =>
  call(`${PATH}?${new URLSearchParams(query)}`, { key })

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(PerpsQuote))

/** State that every test may change. */
const world: { isDown: boolean; defect: Error | undefined } = { isDown: false, defect: undefined }

const flaky = (venue: Venue): Venue => ({
  ...venue,
  read: (symbol) => {
    if (world.defect !== undefined) {
      return Effect.die(world.defect)
    }
    if (symbol === "GONE") {
      return Effect.fail(new NoMarket({ symbol }))
    }
    return world.isDown ? Effect.fail(new VenueUnreadable({ why: "down", detail: "hunter2" })) : venue.read(symbol)
  }
})

const deep = market({ bids: levels(["64994.8", "9"]), asks: levels(["65005.2", "9"]) })
const cheap = market({
  bids: levels(["64990", "9"]),
  asks: levels(["65010", "9"]),
  fees: { taker: 0n, maker: 0n },
  openInterest: null
})
const thin = market({
  asks: levels(["65000", "0.1"]),
  bids: levels(["64999", "0.1"]),
  lots: { step: fixed("0.001") },
  openInterest: fixed("150.5"),
  margin: [{ from: 0n, initial: fixed("0.02"), maintenance: fixed("0.012") }]
})

const venues = PerpsVenues.layer(
  [flaky(steady("hl", deep)), flaky(steady("lighter", cheap)), flaky(steady("dydx", thin))],
  { ourBps: 1_000_000n, failures: 1000 }
)

const keys = [
  ..."pqrst".split("").map((letter) => keyOf(letter, { scopes: ["perps.read"] })),
  keyOf("a"),
  keyOf("d", { disabledAtMs: 0, scopes: ["perps.read"] }),
  keyOf("i", { ipPolicy: ["10.0.0.0/8"], scopes: ["perps.read"] })
]

const refusals: ReadonlyArray<readonly [string, Record<string, string>, string, string]> = [
  ["no symbol", { side: "buy", size: "1" }, "symbol", "missing"],
  ["an empty symbol", { ...order, symbol: "" }, "symbol", "format"],
  ["a symbol in lower case", { ...order, symbol: "btc" }, "symbol", "format"],
  ["a pair", { ...order, symbol: "BTC-USD" }, "symbol", "format"],
  ["a builder in capitals", { ...order, symbol: "XYZ:TSLA" }, "symbol", "format"],
  ["a builder without a market", { ...order, symbol: "xyz:" }, "symbol", "format"],
  ["a symbol of 65 characters", { ...order, symbol: "A".repeat(65) }, "symbol", "too_long"],
  ["no side", { symbol: "BTC", size: "1" }, "side", "missing"],
  ["another side", { ...order, side: "long" }, "side", "format"],
  ["no size", { symbol: "BTC", side: "buy" }, "size", "missing"],
  ["a size of nothing", { ...order, size: "0.000" }, "size", "out_of_range"],
  ["a size above a trillion", { ...order, size: "1000000000000.0000001" }, "size", "out_of_range"],
  ["a negative size", { ...order, size: "-1" }, "size", "format"],
  ["a size with an exponent", { ...order, size: "1e3" }, "size", "format"],
  ["a size with a plus", { ...order, size: "+1" }, "size", "format"],
  ["a size finer than can be", { ...order, size: `0.${"1".repeat(31)}` }, "size", "format"],
  ["a size of many digits", { ...order, size: "1".repeat(65) }, "size", "too_long"],
  ["a leverage below one", { ...order, leverage: "0.9" }, "leverage", "out_of_range"],
  ["a leverage above a thousand", { ...order, leverage: "1000.1" }, "leverage", "out_of_range"],
  ["a leverage with an exponent", { ...order, leverage: "1e1" }, "leverage", "format"],
  ["a hold of more than a year", { ...order, holdHours: "8760.1" }, "holdHours", "out_of_range"],
  ["a negative hold", { ...order, holdHours: "-1" }, "holdHours", "format"],
  ["a hold that is no number", { ...order, holdHours: "eight" }, "holdHours", "format"],
  ["no venues", { ...order, venues: "" }, "venues", "format"],
  ["an unknown venue", { ...order, venues: "hl,nyse" }, "venues", "unknown"],
  ["a venue twice", { ...order, venues: "hl,hl" }, "venues", "duplicate"],
  ["an empty venue", { ...order, venues: "hl,,dydx" }, "venues", "format"],
  ["257 characters of venues", { ...order, venues: "a".repeat(257) }, "venues", "too_long"],
  ["a wallet", { ...order, wallet: "x" }, "wallet", "unknown"]
]

layer(running({ keys, perps: venues }))("GET /api/v1/perps/quote", (it) => {
  it.effect("compares every venue for the order, cheapest first", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...order, holdHours: "24" })
      assert.strictEqual(answer.status, 200, answer.text)
      const { asOfMs, bestPick, perVenue, query, reasonBps, requestId } = yield* decode(answer.text)
      assert.deepStrictEqual(query, {
        symbol: "BTC",
        side: "buy",
        size: "0.5",
        holdHours: 24,
        leverage: null,
        venues: null
      })
      assert.deepStrictEqual(
        perVenue.map(({ allInBps, reason, venue }) => [venue, allInBps, reason]),
        [
          ["lighter", 5.538_462, null],
          ["hl", 9.3, null],
          ["dydx", null, "thin_book"]
        ]
      )
      assert.deepStrictEqual(bestPick, perVenue[0] ?? null)
      assert.deepStrictEqual(reasonBps, {
        takerBps: 0,
        ourBps: 1,
        impactBps: 1.538_462,
        fundingBps: 3,
        totalBps: 5.538_462,
        vsNextBps: 3.761_538
      })
      assert.strictEqual(asOfMs, 0)
      assert.strictEqual(requestId, answer.headers.get("x-request-id"))
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.json("perVenue.0.reliability"), 1)
    })
  )

  it.effect("answers every documented field, null where the value is unknown", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...order, size: "0.0005", venues: "dydx" })
      assert.deepStrictEqual(answer.json("perVenue.0"), {
        venue: "dydx",
        symbol: "BTC",
        venueSymbol: "BTC",
        coinsPerUnit: 1,
        unreadableMarkets: 0,
        takerBps: 4.5,
        makerBps: 1.5,
        ourBps: 1,
        impactBps: null,
        fundingAprPct: 10.95,
        fundingBps: 1,
        fundingIntervalHours: 1,
        reliability: 1,
        allInBps: null,
        bid: 64_999,
        ask: 65_000,
        mid: 64_999.5,
        filledPct: null,
        openInterest: 150.5,
        openInterestReason: null,
        marginTiers: [{ fromUsd: 0, maxLeverage: 50, maintenanceMarginPct: 1.2 }],
        maxLeverage: null,
        maintenanceMarginPct: null,
        liquidationPrice: null,
        healthy: false,
        asOfMs: 0,
        reason: "unsupported_size"
      })
      assert.isNull(answer.json("bestPick"))
      assert.isNull(answer.json("reasonBps"))
    })
  )

  it.effect("says why an open interest is missing", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...order, venues: "hl,lighter" })
      const reasons = [0, 1].map((place) => [
        answer.json(`perVenue.${place}.venue`),
        answer.json(`perVenue.${place}.openInterest`),
        answer.json(`perVenue.${place}.openInterestReason`)
      ])
      assert.deepStrictEqual(reasons, [
        ["lighter", null, "unreadable"],
        ["hl", null, "not_published"]
      ])
    })
  )

  it.effect("tells the margin of the order, and with a leverage the price at which it is liquidated", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...order, size: "0.1", leverage: "10", venues: "dydx" })
      assert.strictEqual(answer.json("query.leverage"), 10)
      assert.deepInclude(answer.json("perVenue.0"), {
        maxLeverage: 50,
        maintenanceMarginPct: 1.2,
        // 65,000 less a tenth, over 98.8 percent.
        liquidationPrice: 1_125_000 / 19
      })
      const sold = yield* quote({ ...order, side: "sell", size: "0.1", leverage: "51", venues: "dydx" })
      assert.deepInclude(sold.json("perVenue.0"), { maxLeverage: 50, liquidationPrice: null })
    })
  )

  it.effect("takes a market of a builder on Hyperliquid, and asks no other venue for it", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...order, symbol: "xyz:TSLA" })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude(answer.json("bestPick"), { venue: "hl", symbol: "xyz:TSLA", venueSymbol: "xyz:TSLA" })
      // The venues of this test have every symbol, so these were not asked.
      for (const place of [1, 2]) {
        assert.deepInclude(answer.json(`perVenue.${place}`), { reason: "no_market", bid: null })
      }
    })
  )

  it.effect("holds for eight hours by default, and echoes the order exactly", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...order, side: "sell", size: "0.250", venues: "hl,lighter" })
      assert.deepStrictEqual(answer.json("query"), {
        symbol: "BTC",
        side: "sell",
        size: "0.25",
        holdHours: 8,
        leverage: null,
        venues: ["hl", "lighter"]
      })
      assert.strictEqual(answer.json("perVenue.0.fundingBps"), -1)
    })
  )

  it.effect("takes the whole range", () =>
    Effect.gen(function* () {
      for (const query of [
        { ...order, size: "1000000000000" },
        { ...order, size: `0.${"0".repeat(29)}1` },
        { ...order, holdHours: "0" },
        { ...order, holdHours: "8760" },
        { ...order, holdHours: "0.5" }
      ]) {
        const { status, text } = yield* quote(query, "t")
        assert.strictEqual(status, 200, text)
      }
    })
  )

  it.effect("answers 200 while any venue answers, even if it lacks the market", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...order, symbol: "GONE" })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.json("perVenue.2.reason"), "no_market")
      assert.isNull(answer.json("bestPick"))
      assert.isNull(answer.json("asOfMs"))
    })
  )

  it.effect("costs one unit of the REST budget", () =>
    Effect.gen(function* () {
      const { headers } = yield* quote(order, "q")
      assert.strictEqual(headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(headers.get("x-ratelimit-cost"), "1")
      assert.strictEqual(headers.get("x-ratelimit-remaining"), "119")
    })
  )

  for (const [what, query, field, issue] of refusals) {
    it.effect(`refuses ${what} at ${field} as ${issue}`, () =>
      Effect.gen(function* () {
        const answer = yield* quote(query, "r")
        assertRefused(answer, 400, "invalid_request")
        assert.deepInclude([answer.json("error.details")].flat(), { in: "query", field, issue })
      })
    )
  }

  it.effect("refuses a parameter sent twice", () =>
    Effect.gen(function* () {
      const answer = yield* call(`${PATH}?${new URLSearchParams(order)}&size=1`, { key: "r" })
      assertRefused(answer, 400, "invalid_request")
      assert.deepInclude([answer.json("error.details")].flat(), { in: "query", field: "size", issue: "repeated" })
    })
  )

  it.effect("needs a key with the scope perps.read, which is granted explicitly", () =>
    Effect.gen(function* () {
      assertRefused(yield* quote(order, null), 401, "missing_api_key")
      assertRefused(yield* quote(order, "x"), 401, "invalid_api_key")
      assertRefused(yield* quote(order, "a"), 403, "missing_scope")
      assertRefused(yield* quote(order, "d"), 403, "key_disabled")
      assertRefused(yield* quote(order, "i"), 403, "ip_not_allowed")
    })
  )

  it.effect("accepts only GET, and URLs of at most 8 KiB", () =>
    Effect.gen(function* () {
      const answer = yield* call(PATH, { key: "p", method: "POST" })
      assert.strictEqual(answer.status, 405)
      const long = yield* quote({ ...order, venues: "a".repeat(8192) })
      assert.strictEqual(`${long.status} ${String(long.json("error.code"))}`, "414 uri_too_long")
    })
  )

  it.effect("answers 503 perps_unavailable when no venue can be read, charges nothing and reveals nothing", () =>
    Effect.gen(function* () {
      world.isDown = true
      const answer = yield* quote({ ...order, symbol: "ETH" }, "q").pipe(
        Effect.ensuring(Effect.sync(() => (world.isDown = false)))
      )
      assertRefused(answer, 503, "perps_unavailable")
      assert.strictEqual(answer.headers.get("retry-after"), "1")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
      assert.notInclude(answer.text, "hunter2")
    })
  )

  it.effect("answers 429 once the budget is spent", () =>
    Effect.gen(function* () {
      yield* Effect.repeat(quote(order, "s"), { times: 119 })
      assertRefused(yield* quote(order, "s"), 429, "rate_limited")
    })
  )

  it.effect("answers 500 for a defect, without details", () =>
    Effect.gen(function* () {
      world.defect = new Error("hunter2")
      const answer = yield* quote({ ...order, symbol: "BUG" }).pipe(
        Effect.ensuring(Effect.sync(() => (world.defect = undefined)))
      )
      assertRefused(answer, 500, "internal_error")
      assert.notInclude(answer.text, "hunter2")
    })
  )
})

const frozen = PerpsVenues.layer([steady("hl", deep), venueOf("velocity", () => Effect.never)])

layer(running({ keys, perps: frozen }))("a dead venue", (it) => {
  it.effect("is listed with the others, at the deadline", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(quote())
      yield* TestClock.adjust("1200 millis").pipe(
        Effect.andThen(Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))),
        Effect.repeat({ until: () => fiber.pollUnsafe() !== undefined })
      )
      const answer = yield* Fiber.join(fiber)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.json("bestPick.venue"), "hl")
      assert.strictEqual(answer.json("perVenue.1.reason"), "timeout")
      assert.strictEqual(answer.json("perVenue.1.takerBps"), 5)
    })
  )
})

const stuck = Layer.succeed(RateLimiter, {
  isImmediate: true,
  admit: () => Effect.fail(new LimiterUnavailable({ cause: "stuck" })),
  refund: () => Effect.fail(new LimiterUnavailable({ cause: "stuck" })),
  peek: () => Effect.fail(new LimiterUnavailable({ cause: "stuck" }))
})

layer(running({ keys, perps: venues, limiter: stuck }))("without a limiter", (it) => {
  it.effect("every call answers 503 limiter_unavailable", () =>
    Effect.gen(function* () {
      assertRefused(yield* quote(), 503, "limiter_unavailable")
    })
  )
})

layer(running({ keys, perps: PerpsVenues.layer([steady("hl", deep), steady("velocity", deep)]) }))(
  "a venue by its former name",
  (it) => {
    it.effect("is accepted in requests, and answered under its present name", () =>
      Effect.gen(function* () {
        const answer = yield* quote({ ...order, venues: "drift" })
        assert.deepStrictEqual(answer.json("query.venues"), ["velocity"])
        assert.strictEqual(answer.json("perVenue.0.venue"), "velocity")
      })
    )
  }
)

const FUNDING = "/api/v1/perps/funding"
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** The test clock begins here, so that there is a past. */
const NOW_MS = 400 * DAY_MS

const funded = (key: "hl" | "dydx", past: Partial<FundingPast> = {}): Venue => ({
  ...steady(key, deep),
  past: {
    kind: "settlement",
    spanMs: 480 * HOUR_MS,
    read: (symbol, fromMs, toMs) =>
      symbol === "GONE"
        ? Effect.fail(new NoMarket({ symbol }))
        : Effect.succeed({
            isWhole: true,
            rates: Array.from({ length: symbol === "EMPTY" ? 0 : 480 }, (_, hour) =>
              hourlyRate(fromMs + hour * HOUR_MS, fixed(hour % 2 === 0 ? "0.0000125" : "-0.000001"))
            ).filter(({ atMs }) => atMs < toMs)
          }),
    ...past
  }
})

/** Why the reads of dYdX fail; it publishes all the same. */
const fault: { why: VenueUnreadable["why"] } = { why: "down" }

const history = PerpsVenues.layer(
  [
    funded("hl"),
    funded("dydx", {
      read: () => Effect.suspend(() => Effect.fail(new VenueUnreadable({ why: fault.why, detail: "hunter2" })))
    }),
    steady("velocity", deep)
  ],
  { failures: 1000 }
)

const funding = (query: Record<string, string> = {}, key = "p") =>
  Effect.andThen(
    TestClock.setTime(NOW_MS),
    call(`${FUNDING}?${new URLSearchParams({ venue: "hl", symbol: "BTC", ...query })}`, { key })
  )

const decodeFunding = Schema.decodeUnknownEffect(Schema.fromJsonString(PerpsFunding))

layer(running({ keys, perps: history }))("GET /api/v1/perps/funding", (it) => {
  it.effect("answers the rates of the last week, newest first, and where the next page begins", () =>
    Effect.gen(function* () {
      const answer = yield* funding({ limit: "2" })
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta, nextCursor } = yield* decodeFunding(answer.text)
      assert.deepStrictEqual(data, [
        { atMs: NOW_MS - HOUR_MS, rate: "-0.000001", hours: 1, aprPct: "-0.876", index: null },
        { atMs: NOW_MS - 2 * HOUR_MS, rate: "0.0000125", hours: 1, aprPct: "10.95", index: null }
      ])
      assert.deepStrictEqual(meta, {
        requestId: answer.headers.get("x-request-id") ?? "",
        methodVersion: "public-perps-funding-v1",
        venue: "hl",
        symbol: "BTC",
        venueSymbol: "BTC",
        from: NOW_MS / 1000 - 7 * 86_400,
        to: NOW_MS / 1000,
        kind: "settlement",
        reason: null,
        observedAtMs: NOW_MS,
        status: "known",
        coverage: { complete: true, reason: null }
      })
      assert.isNotNull(nextCursor)
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("pages through a range without a gap or a repetition", () =>
    Effect.gen(function* () {
      const range = { from: String(NOW_MS / 1000 - 40 * 86_400), to: String(NOW_MS / 1000 - 86_400), limit: "400" }
      const seen: Array<number> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const answer: Answer = yield* funding({ ...range, ...(cursor !== "" && { cursor }) }, "t")
        const { data, nextCursor }: typeof PerpsFunding.Type = yield* decodeFunding(answer.text)
        seen.push(...data.map(({ atMs }) => atMs))
        cursor = nextCursor
      }
      assert.deepStrictEqual(
        seen,
        Array.from({ length: 39 * 24 }, (_, hour) => NOW_MS - DAY_MS - (hour + 1) * HOUR_MS)
      )
    })
  )

  it.effect("says that a venue publishes none, or has no such market, instead of an empty history", () =>
    Effect.gen(function* () {
      const nothing = { kind: null, observedAtMs: null, status: "unavailable" }
      for (const [query, reason] of [
        [{ venue: "velocity" }, "not_published"],
        [{ venue: "drift" }, "not_published"],
        [{ symbol: "GONE" }, "no_market"],
        [{ venue: "velocity", symbol: "xyz:TSLA" }, "no_market"]
      ] as const) {
        const answer = yield* funding(query)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual([answer.json("data"), answer.json("nextCursor")], [[], null])
        assert.deepInclude(answer.json("meta"), { ...nothing, reason })
        assert.isFalse(answer.json("meta.coverage.complete"))
      }
    })
  )

  it.effect("answers 503 while the venue gives no answer, charges nothing and reveals nothing", () =>
    Effect.gen(function* () {
      for (const [why, code] of [
        ["down", "upstream_unavailable"],
        ["late", "upstream_timeout"],
        ["limited", "upstream_rate_limited"],
        ["paced", "upstream_rate_limited"],
        ["malformed", "upstream_invalid"]
      ] as const) {
        fault.why = why
        const answer = yield* funding({ venue: "dydx" }, "q")
        assertRefused(answer, 503, code)
        assert.isNotNull(answer.headers.get("retry-after"), code)
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        assert.notInclude(answer.text, "hunter2")
      }
      assertRefused(yield* funding({ venue: "aster" }, "q"), 503, "perps_unavailable")
    })
  )

  const second = NOW_MS / 1000
  for (const [what, query, field, issue] of [
    ["an unknown venue", { venue: "nyse" }, "venue", "format"],
    ["a symbol in lower case", { symbol: "btc" }, "symbol", "format"],
    ["a time that is no second", { from: "1.5" }, "from", "format"],
    ["a beginning after the end", { from: "200", to: "100" }, "to", "conflict"],
    ["more than a year", { from: String(second - 367 * 86_400) }, "from", "out_of_range"],
    ["a beginning in the future", { from: String(second + 60) }, "from", "out_of_range"],
    ["a page of nothing", { limit: "0" }, "limit", "out_of_range"],
    ["a page of 501", { limit: "501" }, "limit", "out_of_range"],
    ["a cursor of another list", { cursor: "AAAA" }, "cursor", "format"],
    ["a size", { size: "1" }, "size", "unknown"]
  ] as const) {
    it.effect(`refuses ${what} at ${field}`, () =>
      Effect.gen(function* () {
        const answer = yield* funding(query, "r")
        assert.strictEqual(answer.status, 400, answer.text)
        assert.deepInclude([answer.json("error.details")].flat(), { in: "query", field, issue })
      })
    )
  }

  it.effect("needs a key with the scope perps.read", () =>
    Effect.gen(function* () {
      assertRefused(yield* funding({}, "a"), 403, "missing_scope")
    })
  )

  it.effect("does not take an empty answer of the venue for a week without funding", () =>
    Effect.gen(function* () {
      const answer = yield* funding({ symbol: "EMPTY" })
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta, nextCursor } = yield* decodeFunding(answer.text)
      assert.deepStrictEqual([data, nextCursor], [[], null])
      assert.deepInclude(meta, {
        kind: null,
        reason: null,
        status: "partial",
        coverage: { complete: false, reason: "source_gap" }
      })
    })
  )

  it.effect("says until when the venue was read, which is not now while the read is kept", () =>
    Effect.gen(function* () {
      for (const seconds of [10, 50]) {
        yield* TestClock.setTime(NOW_MS + seconds * 1000)
        const query = new URLSearchParams({ venue: "hl", symbol: "LATER" })
        const { meta } = yield* decodeFunding((yield* call(`${FUNDING}?${query}`, { key: "p" })).text)
        assert.strictEqual(meta.to, NOW_MS / 1000 + 10)
        assert.isTrue(meta.coverage.complete)
      }
    })
  )
})

const listed = (names: ReadonlyArray<string>, unreadable = 0): Venue["markets"] =>
  Effect.succeed({ names, unreadable, readAtMs: 5000 })

/** What the venues list; null fails. */
const listWorld: { hl: ReadonlyArray<string> | null; dydx: ReadonlyArray<string> | null; unreadable: number } = {
  hl: [],
  dydx: [],
  unreadable: 0
}

const listing = (key: "dydx" | "hl"): Venue => ({
  ...steady(key, market()),
  markets: Effect.suspend(() => {
    const names = listWorld[key]
    return names === null
      ? Effect.fail(new VenueUnreadable({ why: "malformed", detail: "hunter2" }))
      : listed(names, listWorld.unreadable)
  })
})

const decodeMarkets = Schema.decodeUnknownEffect(Schema.fromJsonString(PerpsMarkets))

const askMarkets = (query: Record<string, string> = {}) =>
  call(`/api/v1/perps/markets?${new URLSearchParams(query)}`, { key: "p" })

const fresh = (world: Partial<typeof listWorld>) =>
  Effect.andThen(
    Effect.sync(() => Object.assign(listWorld, { hl: [], dydx: [], unreadable: 0, ...world })),
    TestClock.adjust("2 hours")
  )

layer(running({ keys, perps: PerpsVenues.layer([listing("hl"), listing("dydx")]) }))(
  "GET /api/v1/perps/markets",
  (it) => {
    it.effect("has the symbols of every venue, page by page", () =>
      Effect.gen(function* () {
        yield* fresh({ hl: ["SOL", "kPEPE", "xyz:TSLA", "BTC"], dydx: ["SOL", "ETH", "FART,RAYDIUM,9BB6"] })
        const symbols: Array<string> = []
        let cursor: string | null = ""
        let pages = 0
        while (cursor !== null) {
          const answer: Answer = yield* askMarkets({ limit: "2", ...(cursor !== "" && { cursor }) })
          assert.strictEqual(answer.status, 200, answer.text)
          const { data, meta, nextCursor }: PerpsMarkets = yield* decodeMarkets(answer.text)
          symbols.push(...data.map(({ symbol }) => symbol))
          assert.deepStrictEqual(
            [meta.status, meta.coverage, meta.observedAtMs],
            ["known", { complete: true, reason: null }, 5000]
          )
          assert.deepStrictEqual(
            meta.venues.map(({ markets, namelessMarkets, status, venue }) => [venue, status, markets, namelessMarkets]),
            [
              ["hl", "known", 4, 0],
              ["dydx", "known", 2, 1]
            ]
          )
          cursor = nextCursor
          pages++
        }
        assert.deepStrictEqual([symbols, pages], [["BTC", "ETH", "PEPE", "SOL", "xyz:TSLA"], 3])
        const ofBuilder = yield* decodeMarkets((yield* askMarkets({ builder: "xyz" })).text)
        assert.deepStrictEqual(ofBuilder.data, [
          {
            symbol: "xyz:TSLA",
            builder: "xyz",
            venues: [{ venue: "hl", venueSymbol: "xyz:TSLA", coinsPerUnit: 1 }]
          }
        ])
        const ofDydx = yield* decodeMarkets((yield* askMarkets({ venues: "dydx" })).text)
        assert.deepStrictEqual(
          ofDydx.data.map(({ symbol }) => symbol),
          ["ETH", "SOL"]
        )
        assert.lengthOf(ofDydx.meta.venues, 1)
      })
    )

    it.effect("says which venue cannot be read, and is a 503 when none can", () =>
      Effect.gen(function* () {
        yield* fresh({ hl: null, dydx: ["ETH"] })
        const answer = yield* askMarkets()
        assert.notInclude(answer.text, "hunter2")
        const { data, meta } = yield* decodeMarkets(answer.text)
        assert.lengthOf(data, 1)
        assert.deepStrictEqual(
          [meta.status, meta.coverage.reason, meta.observedAtMs],
          ["partial", "not_captured", 5000]
        )
        assert.deepStrictEqual(meta.venues[0], {
          venue: "hl",
          status: "unavailable",
          reason: "unreadable",
          markets: null,
          unreadableMarkets: null,
          namelessMarkets: null,
          observedAtMs: null
        })
        yield* fresh({ hl: null, dydx: null })
        assertRefused(yield* askMarkets(), 503, "perps_unavailable")
      })
    )

    it.effect("is partial when a venue lists markets in an unknown form", () =>
      Effect.gen(function* () {
        yield* fresh({ hl: ["BTC"], dydx: ["ETH"], unreadable: 3 })
        const { meta } = yield* decodeMarkets((yield* askMarkets()).text)
        assert.deepStrictEqual(
          [meta.status, meta.venues[1]?.status, meta.venues[1]?.unreadableMarkets],
          ["partial", "partial", 3]
        )
      })
    )

    it.effect("refuses what it does not know", () =>
      Effect.gen(function* () {
        yield* fresh({ hl: ["BTC"] })
        for (const [query, code] of [
          [{ venues: "nyse" }, "invalid_request"],
          [{ builder: "XYZ" }, "invalid_request"],
          [{ limit: "501" }, "invalid_request"],
          [{ cursor: "abc" }, "invalid_cursor"]
        ] as const) {
          assertRefused(yield* askMarkets(query), 400, code)
        }
        const first = yield* decodeMarkets((yield* askMarkets({ limit: "1" })).text)
        assert.isNull(first.nextCursor)
      })
    )
  }
)
