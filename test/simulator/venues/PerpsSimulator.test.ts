import { NodeHttpClient } from "@effect/platform-node"
import { assert, layer, describe, it as plain } from "@effect/vitest"
import { Clock, ConfigProvider, Duration, Effect, Layer, Result } from "effect"
import { PerpsVenue } from "../../../src/api/schemas/Perps.ts"
import { compare } from "../../../src/perps/compare.ts"
import { aprPct } from "../../../src/perps/fundingRates.ts"
import { fixedNumber, parseFixed, roundAt } from "../../../src/perps/exact.ts"
import type { ReadRules } from "../../../src/perps/SharedReads.ts"
import type { VenueFault } from "../../../src/perps/Venue.ts"
import { PerpsVenues } from "../../../src/perps/PerpsVenues.ts"
import * as PerpsVenuesHttp from "../../../src/perps/PerpsVenuesHttp.ts"
import { makePerpsWorld, perps } from "../../../src/simulator/venues/perpsMarkets.ts"
import { type Health, PerpsSimulator } from "../../../src/simulator/venues/PerpsSimulator.ts"

const venues = PerpsVenue.literals
const HOUR_MS = 3_600_000

/** The real clients in front of simulated venues. */
const venuesOf = <E>(simulator: Layer.Layer<PerpsSimulator, E>, rules: Partial<ReadRules> = {}) =>
  Layer.unwrap(Effect.map(PerpsSimulator, ({ urls }) => PerpsVenuesHttp.layer(urls, rules))).pipe(
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.provideMerge(simulator)
  )

const read = (symbol: string) => PerpsVenues.use((port) => port.read(symbol, venues))

/** The outcome of reading each venue. */
const outcomes = (symbol: string) =>
  Effect.map(read(symbol), (readings) =>
    Object.fromEntries(
      readings.map(({ outcome, venue }) => {
        const fault = Result.isFailure(outcome) ? outcome.failure : undefined
        return [venue, fault?._tag === "VenueUnreadable" ? fault.why : (fault?._tag ?? "fresh")]
      })
    )
  )

/** As long as a read may take at all, so that a busy machine does not look like a fault of a venue. */
const patient = ConfigProvider.layer(ConfigProvider.fromUnknown({ PERPS_DEADLINE: "5 seconds" }))

layer(venuesOf(PerpsSimulator.layer({ seed: "venues" })).pipe(Layer.provide(patient)), { excludeTestServices: true })(
  "the simulated venues",
  (it) => {
    for (const { symbol, venues: having } of perps) {
      it.effect(`trade ${symbol} wherever it is listed, as the real clients read them`, () =>
        Effect.gen(function* () {
          for (const { outcome, venue } of yield* read(symbol)) {
            if (!having.includes(venue)) {
              assert.strictEqual(Result.isFailure(outcome) && outcome.failure._tag, "NoMarket")
              continue
            }
            const market = Result.isSuccess(outcome) ? outcome.success : assert.fail(`${venue} ${symbol}`)
            const [bid] = market.bids
            const [ask] = market.asks
            assert.isTrue(bid !== undefined && ask !== undefined && bid.price <= ask.price)
            assert.isTrue([...market.bids, ...market.asks].every(({ size }) => size % market.lots.step === 0n))
            assert.isAtMost(Math.abs((yield* Clock.currentTimeMillis) - market.asOfMs), 3000)
          }
        })
      )
    }

    it.effect("quote the funding of their world, each in its own interval", () =>
      Effect.gen(function* () {
        const world = makePerpsWorld("venues")
        const [btc] = perps
        const readings = yield* read("BTC")
        const nowMs = yield* Clock.currentTimeMillis
        for (const { outcome, venue } of readings) {
          const market = Result.isSuccess(outcome) ? outcome.success : assert.fail(venue)
          if (venue === "jupiter") {
            // The curve of the borrow rate at half use: 10 %, and five eighths of the way to 35 %, within a basis
            // point.
            assert.strictEqual(fixedNumber(roundAt(aprPct(market.funding), 2), 2), 25.63)
            continue
          }
          // Velocity reports the rate settled last, at the full hour.
          const atMs = venue === "velocity" ? Math.floor(nowMs / 3_600_000) * 3_600_000 : nowMs
          // The rate moves while the venue is asked and answers. It may have sent the rate of any moment in the last
          // half minute.
          const told = Array.from({ length: 120 }, (_, i) => atMs - (venue === "velocity" ? 0 : i * 250)).map((ms) =>
            btc === undefined ? 0 : (Number(world.rate8h(venue, btc, ms)) / 1e12) * 3 * 365 * 100
          )
          const shown = fixedNumber(roundAt(aprPct(market.funding), 6), 6)
          assert.isAtLeast(shown, Math.min(...told) - 0.02, venue)
          assert.isAtMost(shown, Math.max(...told) + 0.02, venue)
          assert.strictEqual(market.funding.intervalHours, venue === "paradex" || venue === "aster" ? 8 : 1)
        }
      })
    )

    it.effect("fill an order somewhere", () =>
      Effect.gen(function* () {
        const size = parseFixed("0.5") ?? 0n
        const order = { symbol: "BTC", side: "buy", size, holdHours: size } as const
        const { bestPick, perVenue } = compare(order, yield* read("BTC"), 0n)
        assert.isTrue(perVenue.every(({ healthy }) => healthy))
        assert.isNotNull(bestPick)
      })
    )
  }
)

/** Reads past funding with a new client, whose budgets are unused, and compares it with the world. */
const assertPast = Effect.fnUntraced(function* (venue: PerpsVenue, symbol: string) {
  const world = makePerpsWorld("past")
  const perp = perps.find((each) => each.symbol === symbol) ?? assert.fail(symbol)
  const beforeMs = Math.floor((yield* Clock.currentTimeMillis) / HOUR_MS) * HOUR_MS
  const request = { symbol, fromMs: beforeMs - 40 * HOUR_MS, beforeMs, limit: 12 }
  const page = yield* PerpsVenues.use(({ funding }) => funding(venue, request))
  if (venue === "jupiter") {
    return assert.isNull(page)
  }
  const { missing, rates } = page ?? assert.fail(venue)
  assert.isNull(missing, venue)
  assert.strictEqual(rates.length, venue === "aster" ? 5 : 12, venue)
  for (const { atMs, rate, rateHours } of rates) {
    assert.isTrue(atMs < beforeMs && atMs % HOUR_MS < 10_000, venue)
    const told = world.rate8h(venue, perp, atMs)
    const hours = venue === "aster" || venue === "paradex" ? 8n : 1n
    const shown = roundAt({ numerator: rate.numerator * 8n, denominator: rate.denominator * hours }, 12)
    // Velocity states dollars of a coin, rounded to nine digits.
    const differs = shown > told ? shown - told : told - shown
    assert.isTrue(differs <= (venue === "velocity" ? 1n : 0n), `${venue}: ${shown} for ${told}`)
    assert.isTrue(rateHours === null || BigInt(rateHours) === hours, venue)
  }
})

const past = (program: Effect.Effect<void, VenueFault, PerpsVenues>) =>
  program.pipe(
    // A page of Paradex is up to 48 requests, which take a busy machine longer than a caller may wait.
    Effect.provide(Layer.fresh(venuesOf(PerpsSimulator.layer({ seed: "past" }), { patience: Duration.minutes(2) })))
  )

describe("the past funding of simulated venues", () => {
  plain.live("is their world's, to the last digit", () =>
    past(Effect.forEach(venues, (venue) => assertPast(venue, "BTC"), { discard: true }))
  )

  plain.live("exists for markets of builders", () => past(assertPast("hl", "xyz:GOLD")))
})

/** The readings of a new client of these venues. */
const firstReadings = <A, E>(health: Partial<Health>, program: Effect.Effect<A, E, PerpsVenues>) =>
  program.pipe(Effect.provide(Layer.fresh(venuesOf(PerpsSimulator.layer({ health })))))

describe("simulated venues with faults", () => {
  plain.live("fail in different ways, all within the deadline", () =>
    Effect.gen(function* () {
      const ailing: Health = {
        hl: "malformed",
        velocity: "silent",
        dydx: "dead",
        paradex: "down",
        lighter: "stale",
        aster: "malformed",
        jupiter: "malformed"
      }
      const outcome = yield* firstReadings(ailing, outcomes("SOL"))
      assert.deepStrictEqual(outcome, {
        hl: "malformed",
        velocity: "late",
        dydx: "down",
        paradex: "down",
        lighter: "StaleBook",
        aster: "malformed",
        jupiter: "malformed"
      })
    })
  )

  plain.live("are slow or stale", () =>
    Effect.gen(function* () {
      const ailing: Health = {
        hl: "stale",
        velocity: "stale",
        dydx: "stale",
        paradex: "stale",
        lighter: "slow",
        aster: "stale",
        jupiter: "stale"
      }
      const outcome = yield* firstReadings(ailing, outcomes("ETH"))
      const stale = "StaleBook"
      assert.deepStrictEqual(outcome, {
        hl: stale,
        velocity: stale,
        dydx: stale,
        paradex: stale,
        lighter: "late",
        aster: stale,
        jupiter: stale
      })
    })
  )

  plain.live("have almost empty books", () =>
    Effect.gen(function* () {
      const ailing: Health = {
        hl: "thin",
        velocity: "thin",
        dydx: "thin",
        paradex: "thin",
        lighter: "thin",
        aster: "thin",
        jupiter: "thin"
      }
      const order = { symbol: "DOGE", side: "sell", size: parseFixed("50000") ?? 0n, holdHours: 0n } as const
      const { bestPick, perVenue } = compare(order, yield* firstReadings(ailing, read("DOGE")), 0n)
      assert.isNull(bestPick)
      const listing = perVenue.filter(({ venue }) => venue !== "jupiter")
      assert.isTrue(listing.every(({ filledPct, reason }) => reason === "thin_book" && (filledPct ?? 100) < 100))
    })
  )

  plain.live("fail with past funding in the same ways", () =>
    Effect.gen(function* () {
      const { funding } = yield* PerpsVenues
      const beforeMs = yield* Clock.currentTimeMillis
      const request = { symbol: "BTC", fromMs: beforeMs - HOUR_MS, beforeMs, limit: 10 }
      const faults = yield* Effect.forEach(["hl", "dydx", "lighter"] as const, (venue) =>
        Effect.map(Effect.flip(funding(venue, request)), (fault) =>
          fault._tag === "VenueUnreadable" ? fault.why : fault._tag
        )
      )
      assert.deepStrictEqual(faults, ["malformed", "down", "down"])
    }).pipe(
      Effect.provide(
        Layer.fresh(venuesOf(PerpsSimulator.layer({ health: { hl: "malformed", dydx: "dead", lighter: "down" } })))
      )
    )
  )

  plain.live("fail and recover on demand", () =>
    Effect.gen(function* () {
      const { requests, setHealth } = yield* PerpsSimulator
      yield* setHealth({ dydx: "down" })
      assert.strictEqual((yield* outcomes("BTC"))["dydx"], "down")
      yield* setHealth({ dydx: "ok" })
      assert.strictEqual((yield* outcomes("ETH"))["dydx"], "fresh")
      assert.isAbove(requests().dydx, 2)
    }).pipe(Effect.provide(Layer.fresh(venuesOf(PerpsSimulator.layer()))))
  )
})

describe("a world", () => {
  plain("is the same for the same seed and time, and drifts", () => {
    const [btc] = perps
    const book = (seed: string, nowMs: number) =>
      makePerpsWorld(seed).book("hl", btc ?? assert.fail("no market"), nowMs)
    assert.deepStrictEqual(book("a", 1000), book("a", 1000))
    assert.notDeepEqual(book("a", 1000), book("b", 1000))
    assert.notStrictEqual(book("a", 1000).bids[0]?.ticks, book("a", 600_000).bids[0]?.ticks)
  })

  plain("never has a bid at or above an ask, whatever the tick", () => {
    const world = makePerpsWorld("a")
    for (const perp of perps) {
      for (const venue of perp.venues) {
        for (let minute = 0; minute < 200; minute++) {
          const { asks, bids } = world.book(venue, perp, minute * 60_000)
          assert.isTrue((bids[0]?.ticks ?? 0n) < (asks[0]?.ticks ?? 0n), `${venue} ${perp.symbol}`)
          assert.isTrue(asks.every(({ ticks }, i) => i === 0 || ticks > (asks[i - 1]?.ticks ?? 0n)))
          assert.isTrue(bids.every(({ ticks }, i) => i === 0 || ticks < (bids[i - 1]?.ticks ?? 0n)))
        }
      }
    }
  })
})

const settings = (env: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

describe("settings", () => {
  plain.live("make a venue fail from the start", () =>
    Effect.gen(function* () {
      const reading = yield* outcomes("BTC").pipe(
        Effect.provide(Layer.fresh(venuesOf(PerpsSimulator.layerConfig))),
        Effect.provide(settings({ SIMULATOR_FAULTS_PERPS_VELOCITY: "down" }))
      )
      assert.deepStrictEqual(reading, {
        hl: "fresh",
        velocity: "down",
        dydx: "fresh",
        paradex: "fresh",
        lighter: "fresh",
        aster: "fresh",
        jupiter: "fresh"
      })
    })
  )

  plain.live("change the address of one venue and leave the others", () =>
    Effect.gen(function* () {
      const { urls } = yield* PerpsSimulator
      const reading = yield* PerpsVenues.use(({ ourBps, read }) =>
        Effect.map(
          read("BTC", ["dydx"]),
          ([reading]) => [ourBps, reading && Result.isSuccess(reading.outcome)] as const
        )
      ).pipe(
        Effect.provide(PerpsVenuesHttp.layer().pipe(Layer.provide(NodeHttpClient.layerUndici))),
        Effect.provide(settings({ PERPS_DYDX_URL: `${urls.PERPS_DYDX_URL}/`, PERPS_FEE_BPS: "1.5" }))
      )
      assert.deepStrictEqual(reading, [1_500_000n, true])
    }).pipe(Effect.provide(PerpsSimulator.layer()))
  )

  plain.effect("reject an invalid address", () =>
    Effect.gen(function* () {
      const layer = PerpsVenuesHttp.layer().pipe(
        Layer.provide([NodeHttpClient.layerUndici, settings({ PERPS_HL_URL: "ftp://venue" })])
      )
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.strictEqual(error._tag, "ConfigError")
    })
  )
})
