import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { HOUR_MS, hourlyRate } from "../../src/perps/pastRates.ts"
import { PerpsVenues } from "../../src/perps/PerpsVenues.ts"
import { type FundingPast, type PastRates, VenueUnreadable } from "../../src/perps/Venue.ts"
import { market, steady } from "./readings.ts"

const NOW_MS = 1000 * HOUR_MS
const SPAN_HOURS = 10
const ALL = { symbol: "BTC", fromMs: NOW_MS - 30 * HOUR_MS, beforeMs: NOW_MS, limit: 100 }

/** A venue with a rate at each of these hours, in spans of ten hours. `asked` collects the first hours of its spans. */
const venueWith = (
  hasRate: (hour: number) => boolean,
  asked: Array<number> = [],
  failsAt: (hour: number) => boolean = () => false,
  change: Partial<Pick<FundingPast, "kind"> & PastRates> & { readonly hoursOf?: (hour: number) => number | null } = {}
) => {
  const { hoursOf: rateHours = () => 1, kind = "settlement", ...rest } = change
  const past: FundingPast = {
    kind,
    spanMs: SPAN_HOURS * HOUR_MS,
    read: (_, fromMs, toMs) =>
      Effect.suspend(() => {
        const first = fromMs / HOUR_MS
        asked.push(first)
        const hours = Array.from({ length: SPAN_HOURS }, (_, i) => first + i).filter((hour) => hour * HOUR_MS < toMs)
        return failsAt(first)
          ? Effect.fail(new VenueUnreadable({ why: "down", detail: "no" }))
          : Effect.succeed({
              rates: hours
                .filter(hasRate)
                .map((hour) => ({ ...hourlyRate(hour * HOUR_MS, BigInt(hour)), rateHours: rateHours(hour) })),
              isWhole: true,
              ...rest
            })
      })
  }
  return { ...steady("hl", market()), past }
}

const using = <A, E>(venue: ReturnType<typeof venueWith>, program: Effect.Effect<A, E, PerpsVenues>) =>
  Effect.andThen(TestClock.setTime(NOW_MS), program).pipe(Effect.provide(PerpsVenues.layer([venue])))

const page = (request: Partial<typeof ALL> = {}) =>
  PerpsVenues.use(({ funding }) => funding("hl", { ...ALL, ...request })).pipe(
    Effect.map((read) => read ?? assert.fail("the venue publishes past funding"))
  )

/** Why rates of a page between these hours may be missing. */
const missingOf = (fromHour: number, beforeHour: number, limit = 100) =>
  Effect.map(page({ fromMs: fromHour * HOUR_MS, beforeMs: beforeHour * HOUR_MS, limit }), ({ missing }) => missing)

const hoursOf = (rates: ReadonlyArray<{ readonly atMs: number }>) => rates.map(({ atMs }) => atMs / HOUR_MS)
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i)

describe("pages of past funding", () => {
  it.effect("have every rate once, newest first, over all pages", () =>
    using(
      venueWith(() => true),
      Effect.gen(function* () {
        const seen: Array<number> = []
        let beforeMs: number | null = NOW_MS - 5 * HOUR_MS
        let pages = 0
        while (beforeMs !== null) {
          const read: { rates: ReadonlyArray<{ atMs: number }>; nextBeforeMs: number | null } = yield* page({
            beforeMs,
            limit: 7,
            fromMs: NOW_MS - 27 * HOUR_MS
          })
          seen.push(...hoursOf(read.rates))
          beforeMs = read.nextBeforeMs
          pages++
        }
        assert.deepStrictEqual(seen, down(994, 973))
        assert.strictEqual(pages, 4)
      })
    )
  )

  it.effect("end after two spans, even without rates, and go on from there", () =>
    using(
      venueWith((hour) => hour < 975),
      Effect.gen(function* () {
        const first = yield* page()
        assert.deepStrictEqual([first.rates, first.nextBeforeMs], [[], 980 * HOUR_MS])
        const second = yield* page({ beforeMs: 980 * HOUR_MS })
        assert.deepStrictEqual([hoursOf(second.rates), second.nextBeforeMs], [down(974, 970), null])
      })
    )
  )

  it.effect("say that rates are missing where two are too far apart", () =>
    using(
      venueWith((hour) => hour !== 995),
      Effect.gen(function* () {
        assert.strictEqual((yield* page()).missing, "source_gap")
        assert.isNull((yield* page({ beforeMs: 990 * HOUR_MS })).missing)
      })
    )
  )

  it.effect("say that rates are missing at their ends, where the time has room for another", () =>
    using(
      venueWith((hour) => hour >= 985 && hour < 997),
      Effect.gen(function* () {
        assert.isNull(yield* missingOf(985, 997))
        // The newest may be a quarter of an hour late.
        assert.isNull(yield* missingOf(985, 997.25))
        assert.strictEqual(yield* missingOf(985, 997.3), "source_gap")
        assert.strictEqual(yield* missingOf(985, 1000, 3), "source_gap")
        assert.strictEqual(yield* missingOf(984, 997), "source_gap")
        assert.isNull(yield* missingOf(984.5, 997))
        // The pages before the oldest rate know of it.
        assert.isNull(yield* missingOf(980, 997, 5))
        assert.isNull(yield* missingOf(980, 992, 5))
        assert.strictEqual(yield* missingOf(980, 987, 5), "source_gap")
      })
    )
  )

  it.effect("notice a rate that is missing at the border of two spans", () =>
    using(
      venueWith((hour) => hour !== 990),
      Effect.gen(function* () {
        const first = yield* page({ fromMs: 985 * HOUR_MS, limit: 9 })
        assert.deepStrictEqual([first.missing, first.nextBeforeMs], [null, 991 * HOUR_MS])
        const second = yield* page({ fromMs: 985 * HOUR_MS, beforeMs: 991 * HOUR_MS })
        assert.deepStrictEqual([hoursOf(second.rates), second.missing], [down(989, 985), "source_gap"])
        const older = yield* page({ fromMs: 985 * HOUR_MS, beforeMs: 990 * HOUR_MS })
        assert.isNull(older.missing)
      })
    )
  )

  it.effect("without rates are complete only when the market was listed later, and have no kind", () =>
    Effect.gen(function* () {
      for (const [listedFromMs, missing] of [
        [undefined, "source_gap"],
        [NOW_MS - HOUR_MS, "source_gap"],
        [NOW_MS, null]
      ] as const) {
        const read = yield* using(
          venueWith(() => false, [], undefined, listedFromMs === undefined ? {} : { listedFromMs }),
          page({ fromMs: 985 * HOUR_MS })
        )
        assert.deepStrictEqual([read.rates, read.kind, read.missing, read.nextBeforeMs], [[], null, missing, null])
      }
    })
  )

  it.effect("expect no rates from before the market was listed", () =>
    Effect.gen(function* () {
      for (const [listedFromMs, missing] of [
        [992 * HOUR_MS + 1, null],
        [992 * HOUR_MS, "source_gap"]
      ] as const) {
        const read = yield* using(
          venueWith((hour) => hour >= 993, [], undefined, { listedFromMs }),
          page({ fromMs: 985 * HOUR_MS })
        )
        assert.strictEqual(read.missing, missing)
      }
    })
  )

  it.effect("may lack rates where the hours of one are not known", () =>
    using(
      venueWith(() => true, [], undefined, { hoursOf: (hour) => (hour === 995 ? null : 1) }),
      Effect.gen(function* () {
        assert.strictEqual((yield* page()).missing, "source_gap")
        assert.strictEqual((yield* page({ fromMs: 995 * HOUR_MS })).missing, "source_gap")
        assert.isNull((yield* page({ fromMs: 996 * HOUR_MS })).missing)
        assert.isNull((yield* page({ beforeMs: 995 * HOUR_MS })).missing)
        assert.strictEqual((yield* page({ beforeMs: 995.5 * HOUR_MS })).missing, "source_gap")
      })
    )
  )

  it.effect("end when their rates were read: a span that is kept says nothing of the time since", () =>
    using(
      venueWith(() => true),
      Effect.gen(function* () {
        const readMs = NOW_MS + 2 * HOUR_MS - 10_000
        yield* TestClock.setTime(readMs)
        const first = yield* page({ beforeMs: readMs })
        assert.deepStrictEqual([first.toMs, first.readAtMs, first.missing], [readMs, readMs, null])
        yield* TestClock.adjust("40 seconds")
        const kept = yield* page({ beforeMs: readMs + 40_000, fromMs: NOW_MS })
        assert.deepStrictEqual([hoursOf(kept.rates), kept.toMs, kept.readAtMs], [[1001, 1000], readMs, readMs])
        yield* TestClock.adjust("40 seconds")
        const later = yield* page({ beforeMs: readMs + 80_000, fromMs: NOW_MS })
        assert.deepStrictEqual([hoursOf(later.rates), later.toMs], [[1002, 1001, 1000], readMs + 80_000])
      })
    )
  )

  it.effect("were read when their newest rates were, not when a newer span was", () =>
    using(
      venueWith((hour) => hour < 1000),
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW_MS - 10_000)
        yield* page({ beforeMs: NOW_MS - 10_000 })
        yield* TestClock.setTime(NOW_MS + 30_000)
        const { rates, readAtMs, toMs } = yield* page({ beforeMs: NOW_MS + 30_000 })
        assert.deepStrictEqual([hoursOf(rates)[0], readAtMs, toMs], [999, NOW_MS - 10_000, NOW_MS + 30_000])
      })
    )
  )

  it.effect("say when a venue kept what it answers", () =>
    using(
      venueWith(() => true, [], undefined, { readAtMs: NOW_MS - 50_000 }),
      Effect.gen(function* () {
        const { readAtMs, toMs } = yield* page()
        assert.deepStrictEqual([readAtMs, toMs], [NOW_MS - 50_000, NOW_MS - 50_000])
        const none = yield* page({ fromMs: NOW_MS - 40_000 })
        assert.deepStrictEqual([none.rates, none.toMs, none.missing], [[], NOW_MS - 40_000, "source_gap"])
      })
    )
  )

  it.effect("say when they reach back further than the venue keeps rates", () =>
    using(
      venueWith((hour) => hour >= 985, [], undefined, { keptFromMs: 985 * HOUR_MS }),
      Effect.gen(function* () {
        assert.strictEqual((yield* page()).missing, "resolution_retention")
        assert.isNull((yield* page({ fromMs: 985 * HOUR_MS })).missing)
      })
    )
  )

  it.effect("end before a span that cannot be read; the next page fails with it", () =>
    using(
      venueWith(
        () => true,
        [],
        (first) => first === 980
      ),
      Effect.gen(function* () {
        const { nextBeforeMs, rates } = yield* page()
        assert.deepStrictEqual([hoursOf(rates), nextBeforeMs], [down(999, 990), 990 * HOUR_MS])
        const fault = yield* Effect.flip(page({ beforeMs: 990 * HOUR_MS }))
        assert.strictEqual(fault._tag, "VenueUnreadable")
      })
    )
  )
})

/** A page of one span, by its number. */
const spanPage = (span: number) =>
  page({ fromMs: span * SPAN_HOURS * HOUR_MS, beforeMs: (span + 1) * SPAN_HOURS * HOUR_MS })

/** A venue that answers once the gate is open. */
const held = (asked: Array<number>, gate: Latch.Latch, failsAt?: (hour: number) => boolean) => {
  const venue = venueWith(() => true, asked, failsAt)
  const read: FundingPast["read"] = (symbol, fromMs, toMs) =>
    Effect.andThen(
      Effect.suspend(() => {
        asked.push(fromMs / HOUR_MS)
        return gate.await
      }),
      venue.past.read(symbol, fromMs, toMs)
    )
  return { ...venue, past: { ...venue.past, read } }
}

describe("reads of past funding", () => {
  it.effect("are shared by all who ask at once, and kept: the past for a day, the present for a minute", () => {
    const asked: Array<number> = []
    return using(
      venueWith(() => true, asked),
      Effect.gen(function* () {
        yield* Effect.all([page(), page({ limit: 3 }), page({ beforeMs: NOW_MS - HOUR_MS })], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(asked, [990, 980])
        yield* TestClock.adjust("61 seconds")
        yield* page()
        // The span of the last ten hours may still get rates.
        assert.deepStrictEqual(asked, [990, 980, 990])
        yield* TestClock.adjust("3 hours")
        yield* page()
        assert.deepStrictEqual(asked, [990, 980, 990, 990])
        yield* TestClock.adjust("2 hours")
        yield* page()
        assert.deepStrictEqual(asked, [990, 980, 990, 990])
      })
    )
  })

  it.effect("rest after failures in a row, while books are read on", () => {
    const asked: Array<number> = []
    return using(
      venueWith(
        () => true,
        asked,
        () => true
      ),
      Effect.gen(function* () {
        yield* Effect.repeat(Effect.flip(page()), { times: 4 })
        assert.strictEqual(asked.length, 3)
        const [reading] = yield* PerpsVenues.use(({ read }) => read("BTC", ["hl"]))
        assert.strictEqual(reading?.outcome._tag, "Success")
        yield* TestClock.adjust("6 seconds")
        yield* Effect.flip(page())
        assert.strictEqual(asked.length, 4)
      })
    )
  })

  it.effect("rest too after reads in a row that failed half-way", () => {
    const asked: Array<number> = []
    const venue = venueWith(() => true, asked)
    const fault = new VenueUnreadable({ why: "down", detail: "status 503" })
    const read: FundingPast["read"] = (symbol, fromMs, toMs) =>
      Effect.map(venue.past.read(symbol, fromMs, toMs), (all) => ({
        ...all,
        rates: all.rates.filter(({ atMs }) => atMs >= 985 * HOUR_MS),
        unread: { beforeMs: 985 * HOUR_MS, fault }
      }))
    return using(
      { ...venue, past: { ...venue.past, read } },
      Effect.gen(function* () {
        const older = page({ beforeMs: 990 * HOUR_MS })
        for (let time = 0; time < 3; time++) {
          assert.deepStrictEqual(hoursOf((yield* older).rates), down(989, 985))
        }
        assert.deepInclude(yield* Effect.flip(older), { why: "resting" })
        assert.strictEqual(asked.length, 3)
      })
    )
  })

  it.effect("end where the venue has not been read any further, and go on there at once", () => {
    const asked: Array<number> = []
    let unreadHour: number | null = 985
    const venue = venueWith(() => true, asked)
    const fault = new VenueUnreadable({ why: "paced", detail: "used up" })
    const read: FundingPast["read"] = (symbol, fromMs, toMs) =>
      Effect.map(venue.past.read(symbol, fromMs, toMs), (all) => {
        const beforeMs = (unreadHour ?? 0) * HOUR_MS
        const rates = all.rates.filter(({ atMs }) => atMs >= beforeMs)
        return unreadHour === null ? all : { ...all, rates, unread: { beforeMs, fault } }
      })
    return using(
      { ...venue, past: { ...venue.past, read } },
      Effect.gen(function* () {
        const first = yield* page()
        assert.deepStrictEqual([hoursOf(first.rates), first.nextBeforeMs], [down(999, 985), 985 * HOUR_MS])
        assert.isNull(first.missing)
        const rest = page({ beforeMs: 985 * HOUR_MS })
        assert.strictEqual(yield* Effect.flip(rest), fault)
        unreadHour = null
        assert.deepStrictEqual(hoursOf((yield* rest).rates), down(984, 970))
      })
    )
  })

  it.effect("keep what is of a span and around it, at most a thousand rates", () => {
    const venue = venueWith(() => true)
    const everySecond = Array.from({ length: 100_000 }, (_, second) =>
      hourlyRate(NOW_MS - second * 1000, BigInt(second))
    )
    const read = () => Effect.succeed({ rates: everySecond, isWhole: true })
    return using(
      { ...venue, past: { ...venue.past, read } },
      Effect.gen(function* () {
        const { missing, rates } = yield* page({ limit: 5000, beforeMs: NOW_MS + 1 })
        assert.isAtMost(rates.length, 2000)
        assert.strictEqual(missing, "source_gap")
      })
    )
  })

  it.effect("are not made for callers who have left", () => {
    const asked: Array<number> = []
    const gate = Latch.makeUnsafe(false)
    return using(
      held(asked, gate),
      Effect.gen(function* () {
        // Two are read, six wait.
        const fibers = yield* Effect.forEach(down(99, 92), (span) => Effect.forkChild(Effect.exit(spanPage(span))))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(asked, [990, 980])
        yield* Effect.forEach(fibers.slice(2, 7), Fiber.interrupt)
        yield* gate.open
        yield* Effect.forEach(fibers, Fiber.await)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(
          [...new Set(asked)].toSorted((a, b) => b - a),
          [990, 980, 920]
        )
      })
    )
  })

  it.effect("that wait are given up when the circuit opens", () => {
    const asked: Array<number> = []
    const gate = Latch.makeUnsafe(false)
    return using(
      held(asked, gate, () => true),
      Effect.gen(function* () {
        const fibers = yield* Effect.forEach(down(99, 90), (span) => Effect.forkChild(Effect.flip(spanPage(span))))
        yield* TestClock.adjust("1 second")
        yield* gate.open
        const faults = yield* Effect.forEach(fibers, Fiber.join)
        assert.isAtMost(new Set(asked).size, 4)
        assert.include(
          faults.map((fault) => fault._tag === "VenueUnreadable" && fault.why),
          "resting"
        )
      })
    )
  })

  it.effect("are refused when sixteen are read or wait", () => {
    const gate = Latch.makeUnsafe(false)
    return using(
      held([], gate),
      Effect.gen(function* () {
        const fibers = yield* Effect.forEach(down(99, 84), (span) => Effect.forkChild(spanPage(span)))
        yield* TestClock.adjust("1 second")
        const fault = yield* Effect.flip(spanPage(83))
        assert.strictEqual(fault._tag === "VenueUnreadable" && fault.why, "paced")
        yield* gate.open
        assert.strictEqual((yield* Effect.forEach(fibers, Fiber.join)).length, 16)
        assert.strictEqual((yield* spanPage(83)).rates.length, SPAN_HOURS)
      })
    )
  })

  it.effect("are late after the patience of a read", () =>
    using(
      { ...venueWith(() => true), past: { kind: "settlement", spanMs: HOUR_MS, read: () => Effect.never } },
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Effect.flip(page()))
        yield* TestClock.adjust("5 seconds")
        const fault = yield* Fiber.join(fiber)
        assert.strictEqual(fault._tag === "VenueUnreadable" && fault.why, "late")
      })
    )
  )
})
