/** Past funding of every venue that publishes it, from answers in their documented form. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { shownRate } from "../../src/perps/fundingPage.ts"
import { HOUR_MS } from "../../src/perps/pastRates.ts"
import type { PastRate } from "../../src/perps/Venue.ts"
import { recordedAster } from "./asterAnswers.ts"
import { recordedParadex } from "./paradexAnswers.ts"
import { recordedVelocity } from "./velocityAnswers.ts"
import { json, type Override, recordedClient, recordings } from "./recorded.ts"
import { RECORDED_MS, type Recording } from "./recording.ts"

const SECOND = RECORDED_MS / 1000
const iso = (atMs: number) => new Date(atMs).toISOString()

interface Past {
  readonly key: Recording["key"]
  /** The request of past funding, and its answer. */
  readonly asked: string
  readonly answer: unknown
  readonly kind: "settlement" | "hourly"
  /** What the answer means, oldest first. */
  readonly means: ReadonlyArray<{
    readonly hoursAgo: number
    readonly rate: string
    readonly hours: number | null
    readonly aprPct: string | null
    readonly index?: string
  }>
}

const pasts: ReadonlyArray<Past> = [
  {
    key: "hl",
    asked: "POST /info fundingHistory",
    answer: [
      { coin: "BTC", fundingRate: "0.0000125", premium: "0.0003", time: RECORDED_MS - 2 * HOUR_MS },
      { coin: "BTC", fundingRate: "-0.000001", premium: "-0.0001", time: RECORDED_MS - HOUR_MS }
    ],
    kind: "settlement",
    means: [
      { hoursAgo: 2, rate: "0.0000125", hours: 1, aprPct: "10.95" },
      { hoursAgo: 1, rate: "-0.000001", hours: 1, aprPct: "-0.876" }
    ]
  },
  {
    key: "dydx",
    asked: "GET /v4/historicalFunding/BTC-USD",
    answer: {
      historicalFunding: [
        {
          ticker: "BTC-USD",
          rate: "-0.00000258536585365854",
          price: "65000.1",
          effectiveAt: iso(RECORDED_MS - HOUR_MS),
          effectiveAtHeight: "61234567"
        },
        {
          ticker: "BTC-USD",
          rate: "1E-7",
          price: "65000.1",
          effectiveAt: iso(RECORDED_MS - 2 * HOUR_MS),
          effectiveAtHeight: "61230567"
        }
      ]
    },
    kind: "settlement",
    means: [
      { hoursAgo: 2, rate: "0.0000001", hours: 1, aprPct: "0.0876" },
      { hoursAgo: 1, rate: "-0.00000258536585365854", hours: 1, aprPct: "-2.264780487805" }
    ]
  },
  {
    // The venue has a rate for each second. The first one after a full hour stands for it.
    key: "paradex",
    asked: "GET /funding/data",
    answer: {
      next: null,
      prev: null,
      results: [2000, 1000].map((afterMs) => ({
        market: "BTC-USD-PERP",
        created_at: RECORDED_MS - HOUR_MS + afterMs,
        funding_rate: afterMs === 1000 ? "0.0001" : "0.9",
        funding_rate_8h: "0.0001",
        funding_period_hours: 8,
        funding_premium: "6.5",
        funding_index: "-1234.5678"
      }))
    },
    kind: "hourly",
    means: [{ hoursAgo: 1 - 1 / 3600, rate: "0.0001", hours: 8, aprPct: "10.95", index: "-1234.5678" }]
  },
  {
    // Percent of one hour, with the side that pays.
    key: "lighter",
    asked: "GET /api/v1/fundings",
    answer: {
      code: 200,
      resolution: "1h",
      fundings: [
        { timestamp: SECOND - 7200, value: "0.78000", rate: "0.0012", direction: "long" },
        { timestamp: SECOND - 3600, value: "0.06500", rate: "0.0001", direction: "short" }
      ]
    },
    kind: "settlement",
    means: [
      { hoursAgo: 2, rate: "0.000012", hours: 1, aprPct: "10.512" },
      { hoursAgo: 1, rate: "-0.000001", hours: 1, aprPct: "-0.876" }
    ]
  },
  {
    // The distance to the rate before is its interval where a neighbour has the same, or the venue states it (4 hours).
    key: "aster",
    asked: "GET /fapi/v1/fundingRate",
    answer: [
      { symbol: "BTCUSDT", fundingRate: "0.00010000", fundingTime: RECORDED_MS - 22 * HOUR_MS },
      { symbol: "BTCUSDT", fundingRate: "0.00020000", fundingTime: RECORDED_MS - 14 * HOUR_MS },
      { symbol: "BTCUSDT", fundingRate: "-0.03750000", fundingTime: RECORDED_MS - 6 * HOUR_MS + 7 },
      { symbol: "BTCUSDT", fundingRate: "0.00020000", fundingTime: RECORDED_MS - 2 * HOUR_MS }
    ],
    kind: "settlement",
    means: [
      { hoursAgo: 22, rate: "0.0001", hours: null, aprPct: null },
      { hoursAgo: 14, rate: "0.0002", hours: 8, aprPct: "21.9" },
      { hoursAgo: 6 - 7 / HOUR_MS, rate: "-0.0375", hours: 8, aprPct: "-4106.25" },
      { hoursAgo: 2, rate: "0.0002", hours: 4, aprPct: "43.8" }
    ]
  },
  {
    // USDT of one coin and hour over the oracle's average price, newest first.
    key: "velocity",
    asked: "GET /market/BTC-PERP/fundingRates",
    answer: {
      success: true,
      records: [
        { ts: SECOND - 3540, fundingRate: "0.650000000", oraclePriceTwap: "65000.000000" },
        { ts: SECOND - 7140, fundingRate: "-1.000000000", oraclePriceTwap: "60000.000000" }
      ],
      meta: { nextPage: null }
    },
    kind: "settlement",
    means: [
      { hoursAgo: 7140 / 3600, rate: "-0.000016666666666667", hours: 1, aprPct: "-14.6" },
      { hoursAgo: 3540 / 3600, rate: "0.00001", hours: 1, aprPct: "8.76" }
    ]
  }
]

const recordingOf = (key: Recording["key"]) => recordings.find((one) => one.key === key) ?? assert.fail()

/** The past funding of the day before the recording. */
const read = ({ answer, asked, key }: Past, override?: Override, seen?: Array<string>, symbol = "BTC") => {
  const recording = recordingOf(key)
  return recording.make.pipe(
    Effect.flatMap(({ past }) => {
      const funding = past ?? assert.fail(`${key} has no past`)
      // Paradex is asked by the hour, so one hour is read there.
      const fromMs = RECORDED_MS - (funding.kind === "hourly" ? 1 : 24) * HOUR_MS
      return Effect.map(funding.read(symbol, fromMs, RECORDED_MS), (rates) => ({ kind: funding.kind, ...rates }))
    }),
    Effect.provide(recordedClient({ ...recording.answers, [asked]: answer }, override, seen)),
    Effect.scoped
  )
}

describe.each(pasts)("the past funding of $key", (past) => {
  const { answer, asked, kind, means } = past

  const faultOf = (instead: () => ReturnType<Override>) =>
    Effect.map(Effect.flip(read(past, (name) => (name === asked ? instead() : undefined))), (fault) =>
      fault._tag === "VenueUnreadable" ? fault.why : fault._tag
    )

  it.effect("is read from documented answers, to the last digit", () =>
    Effect.gen(function* () {
      const { isWhole, kind: read1, rates } = yield* read(past)
      assert.strictEqual(read1, kind)
      assert.isTrue(isWhole)
      const shown = rates.toSorted((a, b) => a.atMs - b.atMs).map(shownRate)
      assert.deepStrictEqual(
        shown,
        means.map(({ hoursAgo, index = null, ...rate }) => ({
          atMs: Math.round(RECORDED_MS - hoursAgo * HOUR_MS),
          index,
          ...rate
        }))
      )
    })
  )

  it.effect("has a gap where a record cannot be read, and keeps the others", () =>
    Effect.gen(function* () {
      const text = JSON.stringify(answer)
      const odd = text.replace(/"(fundingRate|rate|funding_rate)":"[^"]+"/u, '"$1":null')
      assert.notStrictEqual(odd, text)
      const { isWhole, rates } = yield* read(past, (name) => (name === asked ? new Response(odd) : undefined))
      assert.isFalse(isWhole)
      assert.isAtMost(rates.length, means.length)
      assert.isTrue(rates.length >= means.length - 1)
    })
  )

  it.effect("tells apart the failures", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* faultOf(() => new Response("", { status: 503 })), "down")
      assert.strictEqual(yield* faultOf(() => new Response("", { status: 429 })), "limited")
      assert.strictEqual(yield* faultOf(() => "unreachable"), "down")
      assert.strictEqual(yield* faultOf(() => json({ surprise: 1 })), "malformed")
    })
  )

  it.effect("is not asked for a market that the venue does not list", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const fault = yield* Effect.flip(
        read(past, (name) => (name === "GET /markets" ? new Response("{}", { status: 400 }) : undefined), seen, "NOPE")
      )
      assert.strictEqual(fault._tag, "NoMarket")
      assert.notInclude(seen, asked)
    })
  )
})

const asked = "GET /funding/data"

/** Paradex, whose first rate after each hour is a second late. `hourOf` says how an hour is answered. */
const paradexWith = (seen: Array<number>, hourOf: (hoursAgo: number) => ReturnType<Override> = () => undefined) => {
  const client = recordedClient(recordedParadex.answers, (name, _, url) => {
    if (name !== asked) {
      return undefined
    }
    const hourMs = Number(url.searchParams.get("start_at"))
    const hoursAgo = (RECORDED_MS - hourMs) / HOUR_MS
    seen.push(hoursAgo)
    return hourOf(hoursAgo) ?? json({ results: [{ created_at: hourMs + 1000, funding_rate: "0.0001" }] })
  })
  return recordedParadex.make.pipe(
    Effect.map(({ past }) => past ?? assert.fail("Paradex publishes past funding")),
    Effect.provide(client)
  )
}

const DAY_AGO_MS = RECORDED_MS - 24 * HOUR_MS
const hoursAgoOf = (rates: ReadonlyArray<PastRate>) =>
  rates.map(({ atMs }) => (RECORDED_MS + 1000 - atMs) / HOUR_MS).toSorted((a, b) => a - b)
const upTo = (hours: number) => Array.from({ length: hours }, (_, i) => i + 1)

describe("the past funding of Paradex", () => {
  it.effect("is asked for once an hour of the past, however often its day is read", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS - HOUR_MS / 2)
      const seen: Array<number> = []
      const { read } = yield* paradexWith(seen)
      assert.deepStrictEqual(hoursAgoOf((yield* read("BTC", DAY_AGO_MS, RECORDED_MS)).rates), upTo(24))
      assert.sameMembers(seen, upTo(24))
      yield* TestClock.adjust("61 seconds")
      assert.deepStrictEqual(hoursAgoOf((yield* read("BTC", DAY_AGO_MS, RECORDED_MS)).rates), upTo(24))
      // The rate of the last hour may still change.
      assert.deepStrictEqual(seen.slice(24), [1])
      yield* TestClock.adjust("5 days")
      yield* read("BTC", DAY_AGO_MS, RECORDED_MS)
      assert.deepStrictEqual(seen.slice(25), [1])
    })
  )

  it.effect("is without the hours that the venue fails to send", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const { read } = yield* paradexWith([], (hoursAgo) =>
        hoursAgo === 7 ? new Response("", { status: 500 }) : undefined
      )
      const { isWhole, rates, unread } = yield* read("BTC", DAY_AGO_MS, RECORDED_MS)
      assert.isFalse(isWhole)
      assert.isUndefined(unread)
      assert.deepStrictEqual(
        hoursAgoOf(rates),
        upTo(24).filter((hour) => hour !== 7)
      )
    })
  )

  it.effect("goes on later where the venue refuses more requests, with the hours that were read", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      let isLimited = true
      const seen: Array<number> = []
      const { read } = yield* paradexWith(seen, (hoursAgo) =>
        isLimited && hoursAgo === 13 ? new Response("", { status: 429 }) : undefined
      )
      const part = yield* read("BTC", DAY_AGO_MS, RECORDED_MS)
      assert.deepStrictEqual(hoursAgoOf(part.rates), upTo(12))
      assert.isTrue(part.isWhole)
      assert.strictEqual(part.unread?.beforeMs, RECORDED_MS - 12 * HOUR_MS)
      assert.strictEqual(part.unread?.fault._tag === "VenueUnreadable" && part.unread.fault.why, "limited")
      isLimited = false
      const count = seen.length
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(hoursAgoOf((yield* read("BTC", DAY_AGO_MS, RECORDED_MS)).rates), upTo(24))
      assert.isAtLeast(Math.min(...seen.slice(count)), 13)
    })
  )

  it.effect("is what has come when the time is up", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const { read } = yield* paradexWith([], (hoursAgo) => (hoursAgo === 13 ? "never" : undefined))
      const reading = yield* Effect.forkChild(read("BTC", DAY_AGO_MS, RECORDED_MS, Duration.seconds(3)))
      yield* TestClock.adjust("3 seconds")
      const { rates, unread } = yield* Fiber.join(reading)
      assert.deepStrictEqual(hoursAgoOf(rates), upTo(12))
      assert.strictEqual(unread?.fault._tag === "VenueUnreadable" && unread.fault.why, "late")
    })
  )

  it.effect("fails after a few failures in a row, without a request for each hour", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const seen: Array<number> = []
      const { read } = yield* paradexWith(seen, () => new Response("", { status: 503 }))
      const fault = yield* Effect.flip(read("BTC", DAY_AGO_MS, RECORDED_MS))
      assert.strictEqual(fault._tag === "VenueUnreadable" && fault.why, "down")
      assert.isAtMost(seen.length, 6)
    })
  )
})

const record = (hour: number) => ({ ts: SECOND - hour * 3600, fundingRate: "0.1", oraclePriceTwap: "100" })

describe("the past funding of Velocity", () => {
  it.effect("is read page by page, and says since when the venue keeps it", () =>
    Effect.gen(function* () {
      const past = pasts.find(({ key }) => key === "velocity") ?? assert.fail()
      const pages = [
        { success: true, records: [record(1), record(2)], meta: { nextPage: "2" } },
        { success: true, records: [record(3)], meta: { nextPage: null } }
      ]
      const { keptFromMs, rates } = yield* read(past, (name, times) =>
        name === past.asked ? json(pages[times]) : undefined
      )
      assert.deepStrictEqual(
        rates.map(({ atMs }) => (RECORDED_MS - atMs) / HOUR_MS),
        [1, 2, 3]
      )
      assert.strictEqual(keptFromMs, RECORDED_MS - 3 * HOUR_MS)
    })
  )

  it.effect("ends before a page that fails, and goes on there later", () =>
    Effect.gen(function* () {
      const past = pasts.find(({ key }) => key === "velocity") ?? assert.fail()
      const first = { success: true, records: [record(1), record(2)], meta: { nextPage: "2" } }
      const { isWhole, keptFromMs, rates, unread } = yield* read(past, (name, times) =>
        name === past.asked ? (times === 0 ? json(first) : new Response("", { status: 503 })) : undefined
      )
      assert.strictEqual(rates.length, 2)
      assert.isTrue(isWhole)
      assert.isUndefined(keptFromMs)
      assert.strictEqual(unread?.beforeMs, RECORDED_MS - 2 * HOUR_MS)
      assert.strictEqual(unread?.fault._tag === "VenueUnreadable" && unread.fault.why, "down")
    })
  )

  it.effect("is without a record whose time is no whole millisecond", () =>
    Effect.gen(function* () {
      const past = pasts.find(({ key }) => key === "velocity") ?? assert.fail()
      const odd = [1e-4, 1e300].map((ts) => ({ ...record(2), ts: record(2).ts + ts }))
      const { isWhole, rates } = yield* read(past, (name) =>
        name === past.asked ? json({ success: true, records: [record(1), ...odd], meta: {} }) : undefined
      )
      assert.isFalse(isWhole)
      assert.deepStrictEqual(
        rates.map(({ atMs }) => (RECORDED_MS - atMs) / HOUR_MS),
        [1]
      )
    })
  )

  it.effect("keeps no more records than were asked for", () =>
    Effect.gen(function* () {
      const past = pasts.find(({ key }) => key === "velocity") ?? assert.fail()
      const records = Array.from({ length: 2000 }, (_, hour) => record(hour))
      const { isWhole, rates } = yield* read(past, (name) =>
        name === past.asked ? json({ success: true, records, meta: {} }) : undefined
      )
      assert.strictEqual(rates.length, 750)
      assert.isFalse(isWhole)
    })
  )

  it.effect("has the time of the read that is kept, not of the read that finds it", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const past = (yield* recordedVelocity.make).past ?? assert.fail()
      yield* past.read("BTC", RECORDED_MS - HOUR_MS, RECORDED_MS)
      yield* TestClock.adjust("40 seconds")
      const { readAtMs } = yield* past.read("BTC", RECORDED_MS - 2 * HOUR_MS, RECORDED_MS)
      assert.strictEqual(readAtMs, RECORDED_MS)
      yield* TestClock.adjust("40 seconds")
      const later = yield* past.read("BTC", RECORDED_MS - 2 * HOUR_MS, RECORDED_MS)
      assert.strictEqual(later.readAtMs, RECORDED_MS + 80_000)
    }).pipe(
      Effect.provide(
        recordedClient({
          ...recordedVelocity.answers,
          "GET /market/BTC-PERP/fundingRates": { success: true, records: [record(1)] }
        })
      ),
      Effect.scoped
    )
  )
})

interface Settled {
  /** The hours before the recording, oldest first. */
  readonly hoursAgo: ReadonlyArray<number>
  /** The hour of a record without a rate. */
  readonly odd?: number
  /** True when that record has no time either. */
  readonly isTimeless?: boolean
  /** The answer of the venue about present intervals, which says four hours when left out. */
  readonly intervals?: unknown
}

/** The hours of Aster's rates after these settlements. */
const hoursOf = Effect.fnUntraced(function* ({ hoursAgo, intervals, isTimeless = false, odd }: Settled) {
  const past = pasts.find(({ key }) => key === "aster") ?? assert.fail()
  const answer = hoursAgo.map((hour) => ({
    symbol: "BTCUSDT",
    fundingRate: hour === odd ? null : "0.0001",
    fundingTime: hour === odd && isTimeless ? null : RECORDED_MS - hour * HOUR_MS
  }))
  const { isWhole, rates } = yield* read(past, (name) =>
    name === past.asked
      ? json(answer)
      : name === "GET /fapi/v1/fundingInfo" && intervals !== undefined
        ? json(intervals)
        : undefined
  )
  assert.strictEqual(isWhole, odd === undefined)
  return rates.map(({ rateHours }) => rateHours)
})

describe("the hours of Aster's past rates", () => {
  it.effect("are not the distance over a missing settlement", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [56, 48, 40, 24, 16, 8] }), [null, 8, 8, null, 8, 8])
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [20, 16, 12, 4] }), [null, 4, 4, null])
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [40, 24, 8] }), [null, null, null])
    })
  )

  it.effect("are not the distance over a record that cannot be read", () =>
    Effect.gen(function* () {
      const settled = { hoursAgo: [40, 32, 24, 16, 8], odd: 24 }
      assert.deepStrictEqual(yield* hoursOf(settled), [null, 8, 8, 8])
      assert.deepStrictEqual(yield* hoursOf({ ...settled, isTimeless: true }), [null, null, null, null])
    })
  )

  it.effect("are whatever the neighbours confirm: any interval up to a day, also one that changes", () =>
    Effect.gen(function* () {
      for (const hours of [1, 2, 4, 8, 12, 24]) {
        const hoursAgo = [4, 3, 2, 1].map((times) => times * hours)
        assert.deepStrictEqual(yield* hoursOf({ hoursAgo }), [null, hours, hours, hours])
      }
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [28, 20, 12, 8, 4] }), [null, 8, 8, 4, 4])
    })
  )

  it.effect("are the stated interval for the newest rate, while it is stated in a known form", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [4] }), [4])
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [5, 1] }), [null, 4])
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [4], intervals: [] }), [8])
      const odd = [{ symbol: "BTCUSDT", fundingIntervalHours: "four" }]
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [4], intervals: odd }), [null])
      yield* TestClock.setTime(RECORDED_MS + 48 * HOUR_MS)
      assert.deepStrictEqual(yield* hoursOf({ hoursAgo: [4] }), [null])
    })
  )
})

describe("when a market was listed", () => {
  it.effect("is known of Aster and Paradex", () =>
    Effect.gen(function* () {
      const [listings, open] = [
        recordedAster.answers["GET /fapi/v1/exchangeInfo"],
        recordedParadex.answers["GET /markets"]
      ]
      const [listed] = Object(listings).symbols
      const [opened] = Object(open).results
      for (const [stated, listedFromMs] of [
        [RECORDED_MS, RECORDED_MS],
        ["soon", undefined],
        [0, undefined]
      ] as const) {
        const answers: Record<string, unknown> = {
          "GET /fapi/v1/exchangeInfo": { symbols: [{ ...listed, onboardDate: stated }] },
          "GET /markets": { results: [{ ...opened, open_at: stated }] }
        }
        for (const key of ["aster", "paradex"]) {
          const past = pasts.find((one) => one.key === key) ?? assert.fail()
          const known = yield* read(past, (name) => (name in answers ? json(answers[name]) : undefined))
          assert.strictEqual(known.listedFromMs, listedFromMs, key)
        }
      }
    })
  )
})
