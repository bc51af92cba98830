import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ChartAnswer } from "../../../src/api/Market.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, trade } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"

type Query = Record<string, string>

const TOKEN = mintOf(1)
/** A token that traded and never at a known price. */
const UNPRICED = mintOf(2)
/** Known to the chain, and never traded. */
const IDLE = mintOf(3)
const ABSENT = mintOf(4)
const COLD = mintOf(5)
const BROKEN = mintOf(6)
/** A token whose launch was seen. */
const FRESH = mintOf(7)

const chart = (token: string, query: Query = {}, key = "a") =>
  call(`/api/v1/market/chart/${token}?${new URLSearchParams(query)}`, { key })

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
}

const bars = (answer: Answer): ReadonlyArray<unknown> => [answer.json("data.bars")].flat()
const coverage = (answer: Answer) => answer.json("meta.coverage")

/** A trade so many seconds after `MONDAY`. */
const at = (second: number, given: Partial<TapeTrade> = {}) =>
  trade({ mint: TOKEN, timeMs: (MONDAY + second) * 1000, slot: 1000 + second, ...given })

/** A bar in which one wallet bought so many times, and nothing changed after it closed. */
const bought = (volume: number, trades: number) => ({
  v: volume,
  n: trades,
  buys: trades,
  sells: 0,
  buyVolume: volume,
  sellVolume: 0,
  traders: 1,
  outliers: 0,
  isWhole: true,
  revision: 0
})

const HOUR = 3600
const DOLLAR = 1_000_000_000n

const books = makeBooks()
books.tokens.set(TOKEN, minted(2_000_000_000_000n, 6))
books.tokens.set(IDLE, minted(5n, 0))
books.tokens.set(ABSENT, { _tag: "NoToken", observation: { slot: 1, observedAtMs: 1000 } })
books.tokens.set(BROKEN, { _tag: "Malformed", detail: "odd", observation: { slot: 1, observedAtMs: 1000 } })

const keys = "abcdefg".split("").map((letter) => keyOf(letter))

layer(reading({ books, world: { keys } }))("GET /api/v1/market/chart/{token}", (it) => {
  it.effect("is warming before the first block", () =>
    Effect.gen(function* () {
      yield* setSecond(0)
      const answer = yield* chart(TOKEN)
      assertRefused(answer, 503, "chart_warming")
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
    })
  )

  it.effect("draws the newest bars that traded, and nothing for bars without trades", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(HOUR)
      yield* tape.apply(block(0))
      yield* tape.apply(
        block(HOUR, {
          trades: [
            at(10, { priceUsd: 1, volumeUsdNanos: 3n * DOLLAR }),
            at(20, { priceUsd: 4 }),
            at(30, { priceUsd: 0.5 }),
            at(50, { priceUsd: 2 }),

            at(HOUR - 1, { priceUsd: 6, volumeUsdNanos: 7n * DOLLAR }),

            at(40, { mint: UNPRICED, priceUsd: null, volumeUsdNanos: null }),
            at(HOUR - 30, { mint: FRESH })
          ].toSorted((a, b) => a.slot - b.slot)
        })
      )
      const answer = yield* chart(TOKEN)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      const body = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(ChartAnswer))(answer.text)
      assert.deepStrictEqual(body.data, {
        token: { chain: "solana", address: TOKEN, symbol: "XMPL", name: "Example", decimals: 6, imageUrl: null },
        resolution: "1m",
        resolutionMs: 60_000,
        denom: "usd",
        mode: "price",
        bars: [
          // The first block that was read is in it.
          { ...bought(6, 4), t: MONDAY * 1000, isWhole: false, o: 1, h: 4, l: 0.5, c: 2 },
          { ...bought(7, 1), t: (MONDAY + HOUR - 60) * 1000, o: 6, h: 6, l: 6, c: 6 }
        ]
      })
      const { requestId, ...meta } = body.meta
      assert.strictEqual(requestId, answer.headers.get("x-request-id"))
      assert.deepStrictEqual(meta, {
        methodVersion: "public-chart-v1",
        chain: "solana",
        tradersBasis: "pool_swaps",
        slot: 1000 + HOUR,
        observedAtMs: (MONDAY + HOUR) * 1000,
        status: "partial",
        coverage: {
          complete: false,
          reason: "not_captured",
          requestedFromMs: null,
          requestedToMs: null,
          coveredFromMs: (MONDAY + 1) * 1000,
          coveredToMs: (MONDAY + HOUR) * 1000,
          missingBars: 0
        },
        truncated: false,
        prevTo: null,
        openBarMs: null,
        supply: null
      })
    })
  )

  it.effect("pages back through the bars, each page ending where the next began", () =>
    Effect.gen(function* () {
      const first = yield* chart(TOKEN, { limit: "1" }, "b")
      assert.strictEqual(first.json("meta.truncated"), true)
      assert.strictEqual(first.json("meta.prevTo"), MONDAY + HOUR - 60)
      assert.strictEqual(first.json("meta.status"), "known")
      const second = yield* chart(TOKEN, { limit: "1", to: String(first.json("meta.prevTo")) }, "b")
      assert.strictEqual(bars(second).length, 1)
      assert.strictEqual(second.json("data.bars.0.t"), MONDAY * 1000)
      assert.strictEqual(second.json("meta.truncated"), false)
      assert.strictEqual(second.json("meta.prevTo"), null)
    })
  )

  it.effect("floors the beginning and ceils the end to a bucket", () =>
    Effect.gen(function* () {
      const answer = yield* chart(TOKEN, { from: String(MONDAY + 59), to: String(MONDAY + 61) }, "b")
      assert.deepInclude(coverage(answer), {
        requestedFromMs: MONDAY * 1000,
        requestedToMs: (MONDAY + 120) * 1000,
        coveredToMs: (MONDAY + 60) * 1000
      })
      assert.strictEqual(bars(answer).length, 1)
      const empty = yield* chart(TOKEN, { from: String(MONDAY + 60), to: String(MONDAY + 120) }, "b")
      assert.deepStrictEqual(bars(empty), [])
      assert.deepInclude(coverage(empty), {
        complete: true,
        coveredFromMs: (MONDAY + 60) * 1000,
        coveredToMs: (MONDAY + 120) * 1000
      })
    })
  )

  it.effect("marks the bar that is still open", () =>
    Effect.gen(function* () {
      const { json } = yield* chart(TOKEN, { resolution: "1d" }, "b")
      assert.strictEqual(json("meta.openBarMs"), MONDAY * 1000)
      assert.strictEqual(json("data.bars.0.n"), 5)
    })
  )

  it.effect("draws every resolution in buckets of UTC", () =>
    Effect.gen(function* () {
      const starts = {
        "1s": MONDAY + HOUR - 1,
        "5s": MONDAY + HOUR - 5,
        "15s": MONDAY + HOUR - 15,
        "30s": MONDAY + HOUR - 30,
        "1m": MONDAY + HOUR - 60,
        "3m": MONDAY + HOUR - 180,
        "5m": MONDAY + HOUR - 300,
        "15m": MONDAY + HOUR - 900,
        "30m": MONDAY + HOUR - 1800,
        "1h": MONDAY,
        "2h": MONDAY,
        "4h": MONDAY,
        "6h": MONDAY,
        "8h": MONDAY,
        "12h": MONDAY,
        "1d": MONDAY,
        "1w": MONDAY,
        "1mn": Date.UTC(2026, 9) / 1000
      }
      for (const [resolution, start] of Object.entries(starts)) {
        const { json } = yield* chart(TOKEN, { resolution, limit: "1" }, "c")
        assert.strictEqual(json("data.bars.0.t"), start * 1000, resolution)
        assert.strictEqual(json("data.resolution"), resolution)
      }
      assert.strictEqual((yield* chart(TOKEN, { resolution: "1mn" }, "c")).json("data.resolutionMs"), 2_592_000_000)
    })
  )

  it.effect("counts buckets that traded at no known price", () =>
    Effect.gen(function* () {
      const answer = yield* chart(UNPRICED, { from: String(MONDAY), to: String(MONDAY + HOUR) }, "d")
      assert.deepStrictEqual(bars(answer), [])
      assert.strictEqual(answer.json("meta.coverage.missingBars"), 1)
      assert.strictEqual(answer.json("data.token.decimals"), 6)
    })
  )

  it.effect("shows market values, the volume left as it is", () =>
    Effect.gen(function* () {
      const { json } = yield* chart(TOKEN, { mode: "mcap", limit: "1" }, "d")
      assert.strictEqual(json("data.bars.0.c"), 12_000_000)
      assert.strictEqual(json("data.bars.0.v"), 7)
      assert.deepStrictEqual(json("meta.supply"), {
        value: "2000000",
        basis: "total",
        applied: "current",
        observedAtMs: 1000
      })
    })
  )

  it.effect("shows no market value of a token whose supply is unknown", () =>
    Effect.gen(function* () {
      const answer = yield* chart(FRESH, { mode: "mcap" }, "d")
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(bars(answer), [])
      assert.strictEqual(answer.json("meta.status"), "unavailable")
      assert.strictEqual(answer.json("meta.coverage.reason"), "supply_unknown")
      assert.strictEqual(answer.json("meta.supply.value"), null)
      assert.include(books.warmed, FRESH)
    })
  )

  it.effect("knows all of a token that was seen to launch", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const launch = { event: "created", mint: FRESH, launchpad: "pump-fun", pool: null } as const
      yield* tape.apply(block(HOUR, { launches: [launch] }))
      assert.deepInclude(coverage(yield* chart(FRESH, {}, "e")), { complete: true, reason: null })
    })
  )

  it.effect("knows a token that never traded, and no address that is not a token", () =>
    Effect.gen(function* () {
      const idle = yield* chart(IDLE, {}, "e")
      assert.strictEqual(idle.status, 200)
      assert.deepStrictEqual(bars(idle), [])
      assertRefused(yield* chart(ABSENT, {}, "e"), 404, "token_not_found")
      assertRefused(yield* chart(BROKEN, {}, "e"), 503, "data_unavailable")
    })
  )

  it.effect("requests a token that is not loaded, and answers chart_warming", () =>
    Effect.gen(function* () {
      assertRefused(yield* chart(COLD, {}, "e"), 503, "chart_warming")
      assert.include(books.warmed, COLD)
    })
  )

  it.effect("covers nothing of a window before the record or in the future", () =>
    Effect.gen(function* () {
      yield* setSecond(HOUR)
      const range = Effect.fnUntraced(function* (from: number, to: number) {
        const { json } = yield* chart(TOKEN, { from: String(MONDAY + from), to: String(MONDAY + to) }, "f")
        return [json("meta.coverage.coveredFromMs"), json("meta.coverage.coveredToMs")]
      })
      assert.deepStrictEqual(yield* range(-7200, -3600), [null, null])
      assert.deepStrictEqual(yield* range(2 * HOUR, 3 * HOUR), [null, null])
      assert.deepStrictEqual(yield* range(HOUR, 3 * HOUR), [(MONDAY + HOUR) * 1000, (MONDAY + HOUR + 60) * 1000])
    })
  )

  it.effect("was observed when its block arrived, although the block is dated later", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(HOUR + 1)
      yield* tape.apply(block(HOUR + 1, { timeMs: (MONDAY + HOUR + 3) * 1000 }))
      const { json } = yield* chart(TOKEN, { limit: "1" }, "f")
      assert.strictEqual(json("meta.observedAtMs"), (MONDAY + HOUR + 1) * 1000)
    })
  )

  it.effect("reports missing blocks, a silent chain and expired fine bars", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(HOUR + 32)
      const silent = yield* chart(TOKEN, { limit: "1" }, "e")
      assert.strictEqual(silent.json("meta.status"), "partial")
      assert.strictEqual(silent.json("meta.coverage.reason"), "source_gap")
      const past = yield* chart(TOKEN, { from: String(MONDAY + 60), to: String(MONDAY + HOUR - 60) }, "e")
      assert.strictEqual(past.json("meta.status"), "known")

      yield* tape.apply(block(HOUR + 32, { afterGap: true }))
      const gap = yield* chart(TOKEN, { limit: "1" }, "e")
      assert.strictEqual(gap.json("meta.coverage.reason"), "source_gap")

      const WEEK = 7 * 86_400
      yield* setSecond(2 * WEEK)
      yield* tape.apply(block(2 * WEEK, { trades: [at(2 * WEEK)] }))
      const fine = yield* chart(TOKEN, { resolution: "1s", from: String(MONDAY + HOUR) }, "e")
      assert.strictEqual(fine.json("meta.coverage.reason"), "resolution_retention")
    })
  )

  it.effect("answers 500 when a reader has a bug", () =>
    Effect.gen(function* () {
      books.defect = new Error("a bug")
      assertRefused(yield* chart(TOKEN, {}, "g"), 500, "internal_error")
      books.defect = undefined
    })
  )
})
