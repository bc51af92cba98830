/** Past funding of every venue that publishes it, from answers in their documented form. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { shownRate } from "../../src/perps/fundingPage.ts"
import { HOUR_MS } from "../../src/perps/pastRates.ts"
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
    // The interval of the past is the time since the rate before. The first rate has none before it.
    key: "aster",
    asked: "GET /fapi/v1/fundingRate",
    answer: [
      { symbol: "BTCUSDT", fundingRate: "0.00010000", fundingTime: RECORDED_MS - 12 * HOUR_MS },
      { symbol: "BTCUSDT", fundingRate: "-0.03750000", fundingTime: RECORDED_MS - 4 * HOUR_MS + 7 },
      { symbol: "BTCUSDT", fundingRate: "0.00020000", fundingTime: RECORDED_MS - 0.5 * HOUR_MS }
    ],
    kind: "settlement",
    means: [
      { hoursAgo: 12, rate: "0.0001", hours: null, aprPct: null },
      { hoursAgo: 4 - 7 / HOUR_MS, rate: "-0.0375", hours: 8, aprPct: "-4106.25" },
      { hoursAgo: 0.5, rate: "0.0002", hours: 3, aprPct: "58.4" }
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
})
