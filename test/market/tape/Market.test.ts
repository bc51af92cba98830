import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import { TradeFeed } from "../../../src/market/tape/TradeFeed.ts"
import type { TradeBatch } from "../../../src/market/model/TradeBatch.ts"
import { SUBSCRIBER_BUFFER } from "../../../src/market/tape/makeMarket.ts"
import { blocksState } from "../../../src/market/tape/freshness.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { leg, netOf, transactionOf } from "./decoded.ts"
import { mintOf, MONDAY, trade } from "./tape.ts"
import * as MemoryStores from "../../../src/testing/MemoryStores.ts"

const NOW_MS = MONDAY * 1000

const batch = (second: number, given: Partial<PricedBatch> = {}): PricedBatch => ({
  slot: second,
  timeMs: (MONDAY + second) * 1000,
  trades: [],
  transactions: [],
  launches: [],
  afterGap: false,
  ...given
})

const at = (second: number) => TestClock.setTime(NOW_MS + second * 1000)

it.effect("reports the coverage of every second, with the reason of a gap", () =>
  Effect.gen(function* () {
    const tape = yield* Market
    const { apply } = yield* Tape
    const coverage = (second: number, nowSecond: number) =>
      tape.coverageFrom(MONDAY + second, NOW_MS + nowSecond * 1000).reason
    yield* at(10)
    assert.strictEqual(coverage(10, 10), "not_captured")
    yield* apply(batch(10))
    assert.strictEqual(coverage(11, 10), null)
    assert.strictEqual(coverage(10, 10), "not_captured")
    yield* apply(batch(20))
    yield* apply(batch(30, { afterGap: true }))
    assert.strictEqual(coverage(31, 30), null)
    assert.strictEqual(coverage(11, 30), "source_gap")
    assert.strictEqual(coverage(10, 30), "not_captured")
    assert.strictEqual(coverage(31, 40), null)
    assert.strictEqual(coverage(31, 41), "source_gap")
  }).pipe(Effect.provide(Market.layerManual()))
)

it.effect("is as late as its newest block is old, although blocks arrive all the time", () =>
  Effect.gen(function* () {
    const market = yield* Market
    const { apply } = yield* Tape
    assert.strictEqual(blocksState(market, NOW_MS).status, "unavailable")
    const source = { slot: 20, gapsOpen: 0, observedAtMs: NOW_MS + 20_000 }
    yield* at(20)
    yield* apply(batch(20))
    assert.deepStrictEqual(blocksState(market, NOW_MS + 21_000), { ...source, status: "known" })
    const late = { slot: 30, gapsOpen: 0, observedAtMs: NOW_MS + 30_000, status: "stale" } as const
    yield* at(125)
    yield* apply(batch(30))
    assert.deepStrictEqual(blocksState(market, NOW_MS + 125_000), { ...late, reason: "backfill_running" })
    assert.deepStrictEqual(blocksState(market, NOW_MS + 156_000), { ...late, reason: "source_gap" })
  }).pipe(Effect.provide(Market.layerManual()))
)

it.live("lets other fibers run between two blocks that came during a rebuild", () =>
  Effect.gen(function* () {
    const { apply, rebuild } = yield* Tape
    yield* apply(batch(1))
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      return isOver ? undefined : setImmediate(count)
    }
    yield* rebuild(() =>
      Effect.gen(function* () {
        yield* Effect.forEach(Array.from({ length: 60 }), (_, at) => apply(batch(2 + at)), { discard: true })
        setImmediate(count)
        const progress = { slot: 1, timeMs: NOW_MS, firstSlot: 1, readFrom: 0, gaps: [], repairs: 0 }
        return { progress, from: 0 }
      })
    )
    isOver = true
    // Eight blocks a turn would take seven turns.
    assert.isAtLeast(turns, 25)
  }).pipe(Effect.provide(Market.layerManual()))
)

it.effect("reports that a window was clipped once its tokens do not fit", () =>
  Effect.gen(function* () {
    const tape = yield* Market
    const { apply } = yield* Tape
    yield* at(10)
    yield* apply(batch(0))
    yield* apply(
      batch(10, { trades: [2, 4, 6].map((s) => trade({ mint: mintOf(s), slot: s, timeMs: (MONDAY + s) * 1000 })) })
    )
    assert.strictEqual(tape.coverageFrom(MONDAY + 1, NOW_MS + 10_000).reason, "limit_clipped")
    assert.strictEqual(tape.since(), MONDAY + 1)
    assert.strictEqual(tape.readFrom(MONDAY + 1).reason, null)
    assert.strictEqual(tape.coverageFrom(MONDAY + 3, NOW_MS + 10_000).reason, null)
  }).pipe(Effect.provide(Market.layerManual({ tokens: 2, bars: 1000, trades: 100, traders: 10 })))
)

it.effect("publishes applied batches, and keeps launches and decimals", () =>
  Effect.gen(function* () {
    const tape = yield* Market
    const { apply } = yield* Tape
    const heard = yield* tape.applied.pipe(
      Stream.take(1),
      Stream.runCollect,
      Effect.forkChild({ startImmediately: true })
    )
    yield* at(0)
    const launch = { mint: mintOf(1), launchpad: "pump-fun", pool: null }
    const created = batch(0, { trades: [trade()], launches: [{ ...launch, event: "created" }] })
    assert.strictEqual((yield* apply(created)).applied, 1)
    assert.deepStrictEqual(Array.from(yield* Fiber.join(heard)), [created])
    yield* apply(batch(60, { launches: [{ ...launch, event: "migrated" }] }))
    assert.strictEqual(tape.decimalsOf(mintOf(1)), 6)
    assert.strictEqual(tape.decimalsOf(mintOf(2)), null)
    assert.deepInclude(tape.launches.of(mintOf(1)), { createdAtMs: NOW_MS, graduatedAtMs: NOW_MS + 60_000 })
    assert.strictEqual(tape.launches.of(mintOf(2)), null)
  }).pipe(Effect.provide(Market.layerManual()))
)

it.effect("counts the batches that a slow subscriber has lost", () =>
  Effect.gen(function* () {
    const tape = yield* Market
    const { apply } = yield* Tape
    const heard = yield* Queue.unbounded<readonly [number, number]>()
    const resume = yield* Deferred.make<void>()
    yield* tape.appliedCounted.pipe(
      Stream.runForEach(({ batch: { slot }, missed }) =>
        Effect.andThen(Queue.offer(heard, [slot, missed]), Deferred.await(resume))
      ),
      Effect.forkScoped({ startImmediately: true })
    )
    const sent = Array.from({ length: SUBSCRIBER_BUFFER + 12 }, (_, second) => batch(second))
    yield* at(0)
    yield* Effect.forEach(sent, (each) => Effect.andThen(apply(each), Effect.yieldNow), { discard: true })
    yield* Deferred.succeed(resume, undefined)
    const all: Array<readonly [number, number]> = []
    while (all.at(-1)?.[0] !== sent.at(-1)?.slot) {
      all.push(yield* Queue.take(heard))
    }
    const missed = all.reduce((sum, [, each]) => sum + each, 0)
    assert.strictEqual(all.length + missed, sent.length)
    assert.isAbove(missed, 0)
    assert.strictEqual(all.filter(([, each]) => each > 0).length, 1)
  }).pipe(Effect.provide(Market.layerManual()))
)

const dollarAMillion = { numerator: 3n, denominator: 20n }

it.effect("follows the feed and prices what it brings with the price of SOL", () =>
  Effect.gen(function* () {
    yield* at(0)
    const queue = yield* Queue.unbounded<TradeBatch>()
    const feed = Layer.succeed(TradeFeed, {
      chain: Effect.succeed(null),
      batches: () => Stream.fromQueue(queue),
      again: () => Effect.never,
      list: () => Effect.succeed([])
    })
    const prices = Layer.succeed(PriceBook, {
      at: () => ({
        of: (mint) => (mint === SOL ? { sol: null, usd: dollarAMillion } : null),
        lifetime: { observedAtMs: NOW_MS, expiresAtMs: NOW_MS + 10_000 },
        isStale: false,
        silentMs: 0,
        clock: { slot: 1, epoch: 0, unixTimestamp: MONDAY }
      }),
      warm: () => Effect.void
    })
    yield* Effect.gen(function* () {
      const { applied, state } = yield* Market
      const done = yield* applied.pipe(Stream.take(1), Stream.runDrain, Effect.forkChild({ startImmediately: true }))
      const swap = leg()
      yield* Queue.offer(queue, {
        ...batch(1),
        transactions: [transactionOf({ legs: [swap], nets: [netOf(swap, [0])] })]
      })
      yield* Fiber.join(done)
      assert.strictEqual(state.window(mintOf(1), "5m")?.volumeUsdNanos, 15_000_000_000n)
      assert.strictEqual(state.window(mintOf(1), "5m")?.traders, 1)
    }).pipe(Effect.provide(Market.layer.pipe(Layer.provide([feed, prices, MemoryStores.layer]))))
  })
)
