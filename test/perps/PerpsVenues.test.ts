import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { PerpsVenues } from "../../src/perps/PerpsVenues.ts"
import { NoMarket, type Venue, VenueUnreadable } from "../../src/perps/Venue.ts"
import { market, steady, venueOf } from "./readings.ts"

const malformed = (symbol: string) => Effect.fail(new VenueUnreadable({ why: "malformed", detail: symbol }))

const down = () => Effect.fail(new VenueUnreadable({ why: "down", detail: "no" }))

const counted = (venue: Venue) => {
  const asked: Array<string> = []
  const read: Venue["read"] = (symbol) => Effect.suspend(() => (asked.push(symbol), venue.read(symbol)))
  return { asked, venue: { ...venue, read } }
}

const using = <A, E>(venues: ReadonlyArray<Venue>, program: Effect.Effect<A, E, PerpsVenues>) =>
  Effect.provide(program, PerpsVenues.layer(venues))

const readings = (symbol = "BTC") =>
  PerpsVenues.use(({ read, venues }) => read(symbol, venues)).pipe(
    Effect.map((all) =>
      all.map(({ outcome, reliability, venue }) => {
        const fault = Result.isFailure(outcome) ? outcome.failure : undefined
        return [venue, fault?._tag === "VenueUnreadable" ? fault.why : (fault?._tag ?? "fresh"), reliability] as const
      })
    )
  )

/** Runs to the end and returns the time it took. */
const timed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const startMs = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(effect)
  let waitedMs = 0
  while (fiber.pollUnsafe() === undefined && waitedMs < 10_000) {
    yield* TestClock.adjust(100)
    waitedMs = (yield* Clock.currentTimeMillis) - startMs
  }
  return [yield* Fiber.join(fiber), waitedMs] as const
})

describe("PerpsVenues", () => {
  it.effect("reads only the requested venues", () =>
    using(
      [steady("hl", market()), steady("dydx", market())],
      Effect.gen(function* () {
        const { read } = yield* PerpsVenues
        const reading = yield* read("BTC", ["dydx", "velocity"])
        assert.deepStrictEqual(
          reading.map(({ venue }) => venue),
          ["dydx"]
        )
      })
    )
  )

  it.effect("are sources of /freshness, each with its last answer and its last failure", () =>
    Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const { sources } = yield* SourceMonitor.SourceMonitor
      const venues = [
        steady("hl", market()),
        venueOf("dydx", down),
        venueOf("paradex", (symbol) => Effect.fail(new NoMarket({ symbol })))
      ]
      const unasked = yield* using(
        venues,
        Effect.sync(() => sources(nowMs))
      )
      assert.deepStrictEqual(
        unasked.map(({ source, status }) => [source, status]),
        [
          ["perps_dydx", "unavailable"],
          ["perps_hl", "unavailable"],
          ["perps_paradex", "unavailable"]
        ]
      )
      const asked = yield* using(
        venues,
        Effect.andThen(
          readings(),
          Effect.sync(() => sources(nowMs))
        )
      )
      assert.deepStrictEqual(
        asked.map(({ failedAtMs, observedAtMs, status }) => [status, observedAtMs, failedAtMs]),
        [
          ["unavailable", null, nowMs],
          ["known", nowMs, null],
          ["known", nowMs, null]
        ]
      )
    }).pipe(Effect.provide(SourceMonitor.layer))
  )

  it.effect("waits for a dead venue until the deadline and no longer, and then has the others' answers", () =>
    using(
      [steady("hl", market()), venueOf("velocity", () => Effect.never)],
      Effect.gen(function* () {
        const [reading, waitedMs] = yield* timed(readings())
        assert.deepStrictEqual(reading, [
          ["hl", "fresh", 1],
          ["velocity", "late", 0]
        ])
        assert.strictEqual(waitedMs, 1200)
        const [again, waitedAgainMs] = yield* timed(readings())
        assert.strictEqual(again[1]?.[1], "late")
        assert.isAtMost(waitedAgainMs, 100, "a read that is late already is not waited for again")
      })
    )
  )

  it.effect("has an answer that came too late ready for the next caller, who counts it as fresh", () => {
    const slow = counted(venueOf("hl", () => Effect.delay(Effect.succeed(market({ asOfMs: 2000 })), "2 seconds")))
    return using(
      [slow.venue],
      Effect.gen(function* () {
        const [reading] = yield* timed(readings())
        assert.deepStrictEqual(reading, [["hl", "late", 0]])
        yield* TestClock.adjust("900 millis")
        assert.deepStrictEqual(yield* readings(), [["hl", "fresh", 0.5]])
        assert.strictEqual(slow.asked.length, 1)
      })
    )
  })

  it.effect("reads once for all callers of one symbol within a second", () => {
    const { asked, venue } = counted(steady("hl", market()))
    return using(
      [venue],
      Effect.gen(function* () {
        yield* Effect.all([readings(), readings(), readings()], { concurrency: 3 })
        yield* readings()
        assert.deepStrictEqual(asked, ["BTC"])
        yield* readings("ETH")
        assert.deepStrictEqual(asked, ["BTC", "ETH"])
        yield* TestClock.adjust("1 second")
        yield* readings()
        assert.deepStrictEqual(asked, ["BTC", "ETH", "BTC"])
      })
    )
  })

  it.effect("counts a symbol once while its result is kept, however many ask", () =>
    using(
      [venueOf("hl", (symbol) => (symbol === "BTC" ? steady("hl", market()).read(symbol) : malformed(symbol)))],
      Effect.gen(function* () {
        yield* readings("ODD")
        yield* readings("ODD")
        yield* readings("ODD")
        assert.deepStrictEqual(yield* readings(), [["hl", "fresh", 0.5]])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* readings(), [["hl", "fresh", 2 / 3]])
      })
    )
  )

  it.effect("leaves a venue alone that fails repeatedly, and tries again after a pause", () => {
    let isWell = false
    const { asked, venue } = counted(venueOf("hl", (symbol) => (isWell ? steady("hl", market()).read(symbol) : down())))
    return using(
      [venue],
      Effect.gen(function* () {
        for (const symbol of ["A", "B", "C"]) {
          assert.strictEqual((yield* readings(symbol))[0]?.[1], "down")
        }
        assert.deepStrictEqual(yield* readings("D"), [["hl", "resting", 0]])
        assert.strictEqual(asked.length, 3)
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual((yield* readings("D"))[0]?.[1], "down")
        assert.strictEqual((yield* readings("E"))[0]?.[1], "resting")
        yield* TestClock.adjust("5 seconds")
        isWell = true
        assert.strictEqual((yield* readings("E"))[0]?.[1], "fresh")
        assert.strictEqual((yield* readings("F"))[0]?.[1], "fresh")
      })
    )
  })

  it.effect("goes on with a venue's other markets while some are malformed", () => {
    const venue = venueOf("hl", (symbol) =>
      symbol === "BTC" ? steady("hl", market()).read(symbol) : malformed(symbol)
    )
    return using(
      [venue],
      Effect.gen(function* () {
        for (const symbol of ["A", "B", "C", "D"]) {
          assert.strictEqual((yield* readings(symbol))[0]?.[1], "malformed")
        }
        assert.strictEqual((yield* readings())[0]?.[1], "fresh")
      })
    )
  })

  it.effect("rejects a book that is too old, and counts it as missed", () =>
    using(
      [venueOf("hl", () => Effect.succeed(market({ asOfMs: 0 })), 10_000)],
      Effect.gen(function* () {
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(yield* readings(), [["hl", "fresh", 1]])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* readings(), [["hl", "StaleBook", 0.5]])
      })
    )
  )

  it.effect("learns nothing about a venue's reliability from a market that it does not have", () =>
    using(
      [venueOf("hl", (symbol) => Effect.fail(new NoMarket({ symbol })))],
      Effect.gen(function* () {
        for (const symbol of ["A", "B", "C", "D"]) {
          assert.deepStrictEqual(yield* readings(symbol), [["hl", "NoMarket", null]])
        }
      })
    )
  )

  it.effect("stops a read after its patience, and every read once it is closed", () => {
    let running = 0
    const forever = Effect.callback<never>(() => {
      running++
      return Effect.sync(() => running--)
    })
    return Effect.gen(function* () {
      yield* using(
        [venueOf("hl", () => forever)],
        Effect.gen(function* () {
          yield* timed(readings("A"))
          assert.strictEqual(running, 1)
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual(running, 0)
          yield* timed(readings("B"))
          assert.strictEqual(running, 1)
        })
      )
      assert.strictEqual(running, 0)
    })
  })
})

/** A venue whose list a test changes, and how often it was asked for. */
const listing = (key: Venue["key"], list: () => Venue["markets"]) => {
  const asked = { times: 0 }
  const markets = Effect.suspend(() => {
    asked.times++
    return list()
  })
  return { asked, venue: { ...steady(key, market()), markets } }
}

const named = (...names: ReadonlyArray<string>) =>
  Effect.map(Clock.currentTimeMillis, (readAtMs) => ({ names, unreadable: 0, readAtMs }))

const lists = PerpsVenues.use(({ markets, venues }) => markets(venues)).pipe(
  Effect.map((all) =>
    all.map(({ fault, listed, venue }) => [
      venue,
      listed?.names ?? null,
      fault?._tag === "VenueUnreadable" ? fault.why : (fault?._tag ?? null)
    ])
  )
)

describe("markets of PerpsVenues", () => {
  it.effect("are read once a minute, however many ask, and only at the venues that are asked for", () => {
    const [hl, dydx] = [listing("hl", () => named("BTC")), listing("dydx", () => named("ETH"))]
    return using(
      [hl.venue, dydx.venue],
      Effect.gen(function* () {
        const one = PerpsVenues.use(({ markets }) => markets(["hl"]))
        yield* Effect.all([one, one, one], { concurrency: "unbounded" })
        assert.deepStrictEqual([hl.asked.times, dydx.asked.times], [1, 0])
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* lists, [
          ["hl", ["BTC"], null],
          ["dydx", ["ETH"], null]
        ])
        assert.deepStrictEqual([hl.asked.times, dydx.asked.times], [1, 1])
        yield* TestClock.adjust("2 seconds")
        yield* lists
        assert.deepStrictEqual([hl.asked.times, dydx.asked.times], [2, 1])
      })
    )
  })

  it.effect("stay where a list has no market that can be read", () => {
    const state = { names: ["BTC"] }
    const hl = listing("hl", () => named(...state.names))
    return using(
      [hl.venue],
      Effect.gen(function* () {
        yield* lists
        state.names = []
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* lists, [["hl", ["BTC"], "malformed"]])
      })
    )
  })

  it.effect("stay for an hour where the venue fails, with the failure, and are unknown afterwards", () => {
    const state: { markets: () => Venue["markets"] } = { markets: () => named("BTC", "ETH") }
    const hl = listing("hl", () => state.markets())
    return using(
      [hl.venue],
      Effect.gen(function* () {
        yield* lists
        state.markets = down
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* lists, [["hl", ["BTC", "ETH"], "down"]])
        // A venue that fails rests for five seconds.
        assert.deepStrictEqual(yield* lists, [["hl", ["BTC", "ETH"], "down"]])
        assert.strictEqual(hl.asked.times, 2)
        yield* TestClock.adjust("58 minutes")
        assert.deepStrictEqual(yield* lists, [["hl", ["BTC", "ETH"], "down"]])
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* lists, [["hl", null, "down"]])
        state.markets = () => named("SOL")
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(yield* lists, [["hl", ["SOL"], null]])
      })
    )
  })

  it.effect("are late where a venue is slow, and found by the next who asks", () => {
    const slow = listing("hl", () => Effect.delay(named("BTC"), "3 seconds"))
    return using(
      [slow.venue, listing("dydx", () => named("ETH")).venue],
      Effect.gen(function* () {
        const [first, waitedMs] = yield* timed(lists)
        assert.deepStrictEqual(first, [
          ["hl", null, "late"],
          ["dydx", ["ETH"], null]
        ])
        assert.strictEqual(waitedMs, 1200)
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual((yield* lists)[0], ["hl", ["BTC"], null])
        assert.strictEqual(slow.asked.times, 1)
      })
    )
  })
})
