import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Result } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { joinBooks } from "../../src/perps/bookWalk.ts"
import { PerpsVenues, type VenueReading } from "../../src/perps/PerpsVenues.ts"
import { VenueBudget, type VenueLimit, venueLimits } from "../../src/perps/VenueBudget.ts"
import { score } from "../../src/perps/venueEntry.ts"
import { recordedHyperliquid } from "./hyperliquidAnswers.ts"
import { recordedLighter } from "./lighterAnswers.ts"
import { json, type Override, recordedClient } from "./recorded.ts"
import { fixed, levels } from "./readings.ts"
import { RECORDED_MS, type Recording } from "./recording.ts"

/** The most units that were taken within a minute, when as many as possible are taken at each of the times. */
const mostInMinute = (limit: VenueLimit, timesMs: ReadonlyArray<number>): number => {
  const budget = new VenueBudget(limit)
  const taken: Array<number> = []
  for (const nowMs of timesMs) {
    while (budget.take(1, 0, nowMs)) {
      taken.push(nowMs)
    }
  }
  return Math.max(...taken.map((fromMs) => taken.filter((atMs) => atMs >= fromMs && atMs < fromMs + 60_000).length))
}

describe("the budget of a venue", () => {
  it.each(Object.entries(venueLimits))("of %s is never exceeded in any minute", (_, limit) => {
    const steps = Array.from({ length: 300 }, (_, i) => i * 997)
    assert.isAtMost(mostInMinute(limit, steps), limit.perMinute)
  })

  it("keeps a reserve, and takes nothing while it rests", () => {
    const budget = new VenueBudget({ perMinute: 60, burst: 4 })
    assert.isTrue(budget.take(2, 2, 0))
    assert.isFalse(budget.take(1, 2, 0))
    assert.isTrue(budget.take(1, 0, 0))
    budget.restUntil(5000)
    assert.isFalse(budget.take(1, 0, 4999))
    assert.isTrue(budget.take(1, 0, 5000))
  })
})

/** The dearest request of the past of each venue. */
const pastUnits: Readonly<Record<string, number>> = { hl: 45 }

describe("reads of past funding", () => {
  it.each(Object.entries(venueLimits))("alone never make the books of %s scarce", (key, limit) => {
    const budget = new VenueBudget(limit)
    const { [key]: units = 1 } = pastUnits
    let taken = 0
    for (let nowMs = 0; nowMs < 600_000; nowMs += 100) {
      while (budget.takePast(units, nowMs)) {
        taken++
      }
      assert.strictEqual(budget.scarcity(nowMs), 0)
    }
    assert.isAbove(taken, 100)
  })

  it.each(Object.entries(venueLimits))("go on while the books of %s take all that they can", (key, limit) => {
    const budget = new VenueBudget(limit)
    const { [key]: units = 1 } = pastUnits
    const takenMs: Array<number> = []
    for (let nowMs = 0; nowMs < 600_000; nowMs += 100) {
      while (budget.take(1, budget.kept, nowMs)) {}
      if (budget.takePast(units, nowMs)) {
        takenMs.push(nowMs)
      }
    }
    const waits = takenMs.slice(1).map((atMs, i) => atMs - (takenMs[i] ?? 0))
    assert.isAtMost(Math.max(...waits, 600_000 - (takenMs.at(-1) ?? 0)), 35_000)
    assert.isAtMost(takenMs.length * units, 1 + units + limit.perMinute)
  })

  it.effect("of Lighter are answered while a book is read each second", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const asked: Array<string> = []
      const clock = yield* Clock.Clock
      const answers = { ...recordedLighter.answers, "GET /api/v1/fundings": { fundings: [] } }
      const now: Override = (name) =>
        new Response(JSON.stringify(Object(answers)[name]), dated(clock.currentTimeMillisUnsafe()))
      const venue = yield* recordedLighter.make.pipe(Effect.provide(recordedClient(answers, now, asked)))
      yield* Effect.gen(function* () {
        const { funding, read } = yield* PerpsVenues
        for (let second = 0; second < 120; second++) {
          const [reading] = yield* read("BTC", ["lighter"])
          assert.strictEqual(reading && outcomeOf(reading), "fresh")
          const beforeMs = (second + 1) * 480 * 3_600_000
          yield* Effect.ignore(funding("lighter", { symbol: "BTC", fromMs: beforeMs - 1000, beforeMs, limit: 1 }))
          yield* TestClock.adjust("1 second")
        }
      }).pipe(Effect.provide(PerpsVenues.layer([venue])))
      assert.isAtLeast(asked.filter((name) => name.endsWith("fundings")).length, 8)
    })
  )

  it.effect("leave three quarters of the budget to books", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const asked: Array<string> = []
      const answers = { ...recordedHyperliquid.answers, "POST /info fundingHistory": [] }
      const { past, read } = yield* recordedHyperliquid.make.pipe(
        Effect.provide(recordedClient(answers, undefined, asked))
      )
      const history = past ?? assert.fail("Hyperliquid publishes past funding")
      const outcomes = yield* Effect.forEach([1, 2, 3, 4, 5], (span) =>
        Effect.match(history.read("BTC", 0, span * 3_600_000), {
          onSuccess: () => "read",
          onFailure: (fault) => (fault._tag === "VenueUnreadable" ? fault.why : fault._tag)
        })
      )
      // 240 units at once: 20 for the list of markets and about 45 for a read. A second read would leave half.
      assert.deepStrictEqual(outcomes, ["read", "paced", "paced", "paced", "paced"])
      assert.isNotEmpty((yield* read("BTC")).bids)
      assert.strictEqual(asked.filter((name) => name.endsWith("fundingHistory")).length, 1)
    })
  )
})

const dated = (nowMs: number) => ({ headers: { date: new Date(nowMs).toUTCString() } })

/** Reads symbols each second, and returns the seconds of all requests with the outcome of each read. */
const polled = Effect.fnUntraced(function* (recording: Recording, symbols: ReadonlyArray<string>, seconds: number) {
  const asked: Array<string> = []
  const clock = yield* Clock.Clock
  const now: Override = (name) =>
    new Response(JSON.stringify(recording.answers[name]), dated(clock.currentTimeMillisUnsafe()))
  return yield* Effect.gen(function* () {
    const venue = yield* recording.make
    return yield* Effect.gen(function* () {
      const { read } = yield* PerpsVenues
      const outcomes = new Set<string>()
      const atSeconds: Array<number> = []
      for (let second = 0; second < seconds; second++) {
        for (const symbol of symbols) {
          const before = asked.length
          const [reading] = yield* read(symbol, [recording.key])
          atSeconds.push(...asked.slice(before).map(() => second))
          outcomes.add(reading === undefined ? "none" : outcomeOf(reading))
        }
        yield* TestClock.adjust("1 second")
      }
      return { atSeconds, outcomes: Array.from(outcomes) }
    }).pipe(Effect.provide(PerpsVenues.layer([venue])))
  }).pipe(Effect.provide(recordedClient(recording.answers, now, asked)))
})

const outcomeOf = ({ outcome }: VenueReading): string =>
  Result.isSuccess(outcome)
    ? "fresh"
    : outcome.failure._tag === "VenueUnreadable"
      ? outcome.failure.why
      : outcome.failure._tag

const mostInAnyMinute = (atSeconds: ReadonlyArray<number>): number =>
  Math.max(...atSeconds.map((from) => atSeconds.filter((at) => at >= from && at < from + 60).length))

describe("Lighter", () => {
  it.effect("is asked at most 60 times in any minute while one symbol is read each second, and stays fresh", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const { atSeconds, outcomes } = yield* polled(recordedLighter, ["BTC"], 200)
      assert.isAtMost(mostInAnyMinute(atSeconds), 60)
      assert.deepStrictEqual(outcomes, ["fresh"])
    })
  )

  it.effect("stays fresh for five symbols, and within its limit for forty", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const listing = recordedLighter.answers["GET /api/v1/orderBookDetails"]
      const rates = recordedLighter.answers["GET /api/v1/funding-rates"]
      const names = Array.from({ length: 40 }, (_, i) => `M${i}`)
      const [detail] = Object(listing).order_book_details
      const answers = {
        ...recordedLighter.answers,
        "GET /api/v1/orderBookDetails": {
          order_book_details: names.map((symbol, i) => ({ ...detail, symbol, market_id: i }))
        },
        "GET /api/v1/funding-rates": {
          funding_rates: names.map((_, i) => ({ ...Object(rates).funding_rates[1], market_id: i }))
        }
      }
      const five = yield* polled({ ...recordedLighter, answers }, names.slice(0, 5), 120)
      assert.deepStrictEqual(five.outcomes, ["fresh"])
      assert.isAtMost(mostInAnyMinute(five.atSeconds), 60)
      const forty = yield* polled({ ...recordedLighter, answers }, names, 120)
      assert.isAtMost(mostInAnyMinute(forty.atSeconds), 60)
      assert.includeMembers(forty.outcomes, ["fresh", "paced"])
    })
  )
})

const levelsFrom = (price: number, step: number, count: number, size: string) =>
  Array.from({ length: count }, (_, i) => ({ px: (price + step * i).toFixed(1), sz: size, n: 1 }))

describe("Hyperliquid", () => {
  const books: Readonly<Record<string, unknown>> = {
    // 20 levels of 1 coin, a dollar apart; 20 of 25 coins, 10 dollars apart; 20 of 300 coins, 100 dollars apart.
    all: [levelsFrom(64_999, -1, 20, "1"), levelsFrom(65_001, 1, 20, "1")],
    4: [levelsFrom(64_990, -10, 20, "25"), levelsFrom(65_010, 10, 20, "25")],
    3: [levelsFrom(64_900, -100, 20, "300"), levelsFrom(65_100, 100, 20, "300")]
  }

  const client = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      const sent = request.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(request.body.body)) : {}
      const levels = books[sent.nSigFigs ?? "all"]
      const answer =
        sent.type === "l2Book"
          ? { coin: "BTC", time: RECORDED_MS, levels }
          : recordedHyperliquid.answers["POST /info metaAndAssetCtxs"]
      return Effect.succeed(HttpClientResponse.fromWeb(request, json(answer)))
    })
  )

  it.effect("reads books of fewer digits for an order beyond the 20 levels, and counts nothing twice", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(RECORDED_MS)
      const venue = yield* recordedHyperliquid.make
      const entryOf = Effect.fnUntraced(function* (size: string) {
        const order = { symbol: "BTC", side: "buy", size: fixed(size), holdHours: 0n, leverage: null } as const
        const { read } = yield* PerpsVenues
        const [reading] = yield* read("BTC", ["hl"], order)
        return reading === undefined ? undefined : score(order, reading, 0n).entry
      })
      yield* Effect.gen(function* () {
        const small = yield* entryOf("20")
        assert.strictEqual(small?.reason, null)
        const large = yield* entryOf("5000")
        assert.deepStrictEqual([large?.reason, large?.filledPct], [null, 100])
        assert.isAbove(large?.impactBps ?? 0, small?.impactBps ?? 0)
        const all = yield* entryOf("6000")
        assert.strictEqual(all?.filledPct, 100)
        const beyond = yield* entryOf("6000.00001")
        assert.strictEqual(beyond?.reason, "thin_book")
      }).pipe(Effect.provide(PerpsVenues.layer([venue])))
    }).pipe(Effect.provide(client))
  )

  it("joins a coarser book by what is beyond the finer one", () => {
    const fine = { bids: levels(["99", "1"], ["98", "2"]), asks: levels(["101", "1"], ["102", "2"]) }
    const coarse = { bids: levels(["90", "10"], ["80", "5"]), asks: levels(["110", "3"], ["120", "5"]) }
    assert.deepStrictEqual(joinBooks(fine, coarse), {
      bids: levels(["99", "1"], ["98", "2"], ["90", "7"], ["80", "5"]),
      asks: levels(["101", "1"], ["102", "2"], ["120", "5"])
    })
  })
})
