import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Latch, Layer, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../src/domain/Address.ts"
import { EvmCandles } from "../../src/market/reads/EvmCandles.ts"
import { makeCharts } from "../../src/market/reads/makeCharts.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { findTrades } from "../../src/market/reads/findTrades.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { TopTraders } from "../../src/market/reads/TopTraders.ts"
import { measureToken, windowStart } from "../../src/market/reads/tokenMeasures.ts"
import { readMovers } from "../../src/live/market/snapshots.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { makeBooks, poolBook, priceBook, tokenBook } from "../support/reads.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { layerPg, memory, replaced, storesOf } from "../support/marketStores.ts"
import { answersOf, FIRST, process, slots, timeOf } from "../market/tape/chain.ts"
import { mintOf, MONDAY } from "../market/tape/tape.ts"
import { type MarketStores } from "../../src/market/model/MarketStores.ts"

const STOPPED = FIRST + 170
const LAST = FIRST + 200

const tokens = TokenBook.of({ read: () => null, named: () => [], commitment: "confirmed", warm: () => Effect.void })
const clock = { slot: 1, epoch: 0, unixTimestamp: MONDAY }
const noPools = {
  isLoaded: () => false,
  graduationOf: () => null,
  leftOut: () => 0,
  lacking: () => null,
  poolsOf: () => []
}

/** The store, whose blocks can be read only once the latch is open. */
const gated = (store: MarketStores, open: Latch.Latch) =>
  replaced(store, {
    blocks: { since: (request) => Stream.unwrap(Effect.as(open.await, store.blocks.since(request))) }
  })

/** What the store can answer. The wallets of a bar that is made of two parts are unknown. */
const storedAnswers = Effect.fnUntraced(function* (tape: Market["Service"]) {
  const evm = Context.get(yield* Layer.build(EvmCandles.layerNone), EvmCandles)
  const { chart } = makeCharts(tape, tokens, evm)
  const filter = { side: null, wallet: null, pool: null, minUsdNanos: null, fromMs: null, toMs: null }
  const mints = [mintOf(0), mintOf(1), mintOf(2)]
  return {
    charts: yield* Effect.forEach(mints, (mint) =>
      Effect.forEach(["1s", "1m", "15m", "1h", "1d"] as const, (resolution) =>
        Effect.map(
          chart(mint, { resolution, denom: "usd", mode: "price", from: null, to: null, limit: 1000 }),
          ({ data, knowledge }) => ({
            bars: data.bars.map(({ revision: _revision, traders: _traders, ...bar }) => bar),
            coverage: knowledge.coverage.reason
          })
        )
      )
    ),
    trades: yield* Effect.forEach(mints, (mint) =>
      Effect.map(findTrades(tape, { mints: [mint], filter, before: null, limit: 500 }), ({ trades }) => trades)
    ),
    launches: Array.from(tape.launches.all())
  }
})

/** Waits until the block of a slot is on the tape and stored. */
const untilRead = (tape: Market["Service"], slot: number, pause: Effect.Effect<void>) =>
  Effect.repeat(Effect.andThen(TestClock.adjust("100 millis"), pause), {
    until: () => tape.newestSlot() === slot && tape.unstored().length === 0,
    times: 5000
  })

const untilRestored = (tape: Market["Service"], pause: Effect.Effect<void>) =>
  Effect.repeat(Effect.andThen(TestClock.adjust("100 millis"), pause), {
    until: () => !tape.isRestoring(),
    times: 5000
  })

const isWaiting = (fiber: Fiber.Fiber<unknown, unknown>) => fiber.pollUnsafe() === undefined

const measuresOf = (tape: Market["Service"], nowMs: number) => {
  const life = { observedAtMs: nowMs, expiresAtMs: null }
  const prices = { of: () => null, lifetime: life, isStale: false, silentMs: 0, clock }
  const sources = { tape, tokens, pools: noPools }
  return (["5m", "24h"] as const).map((window) => {
    const { changePct, trades, traders, volumeUsd } = measureToken(sources, SOL, window, {
      nowMs,
      slot: tape.newestSlot(),
      prices,
      life
    })
    return [changePct, trades, traders, volumeUsd]
  })
}

/** `pause` lets a store in another process do its work. */
const scene = Effect.fnUntraced(function* (store: MarketStores, pause: Effect.Effect<void>, begin = FIRST) {
  yield* TestClock.setTime(timeOf(FIRST))
  const whole = yield* process(store, () => null, {}, pause)
  yield* whole.read(slots(begin, LAST))
  yield* untilRead(whole.tape, LAST, pause)
  const expected = { ...(yield* answersOf(whole.tape, store)), ...(yield* storedAnswers(whole.tape)) }
  const measures = measuresOf(whole.tape, timeOf(LAST))
  yield* whole.end
  return { expected, measures }
})

const whileRestoring = Effect.fnUntraced(function* (
  stores: Effect.Effect<MarketStores, never, Scope.Scope>,
  settings: Record<string, string> = {},
  pause: Effect.Effect<void> = Effect.void,
  begin = FIRST
) {
  yield* TestClock.setTime(timeOf(FIRST))
  const { expected } = yield* scene(yield* stores, pause, begin)
  yield* TestClock.setTime(timeOf(FIRST))
  const store = yield* stores
  const first = yield* process(store, () => null, settings, pause)
  yield* first.read(slots(begin, STOPPED))
  yield* untilRead(first.tape, STOPPED, pause)
  yield* first.end
  const open = Latch.makeUnsafe(false)
  const { end, read, tape } = yield* process(gated(store, open), () => null, settings, pause)
  assert.isTrue(tape.isRestoring())
  yield* read(slots(STOPPED + 1, LAST))
  yield* untilRead(tape, LAST, pause)
  assert.isTrue(tape.isRestoring())
  const found = yield* storedAnswers(tape)
  for (const key of Object.keys(found) as ReadonlyArray<keyof typeof found>) {
    assert.deepStrictEqual(found[key], expected[key], key)
  }
  return { tape, read, open, end }
})

describe.each([
  { from: "trades", settings: {} },
  { from: "a snapshot", settings: { SNAPSHOT_EVERY: "1 minute" } }
])("reads while memory is restored from $from", ({ settings }) => {
  it.effect("come from the store, or from the blocks since, with their share", () =>
    Effect.gen(function* () {
      const { end, open, read, tape } = yield* whileRestoring(memory, settings)
      // This process has read one minute of the five, and one minute of the day.
      const covered = (window: "5m" | "24h") => tape.coverageFrom(windowStart(tape, window), timeOf(LAST))
      assert.deepStrictEqual(covered("24h"), { complete: false, reason: "not_captured" })
      assert.deepStrictEqual(covered("5m"), { complete: false, reason: "backfill_running" })
      const [short] = measuresOf(tape, timeOf(LAST))
      short?.forEach(({ coverage, value }) =>
        assert.deepStrictEqual([value, coverage.reason], [null, "backfill_running"])
      )
      // Most of the five minutes was seen: a value with its share.
      yield* read(slots(LAST + 1, LAST + 80))
      const now = timeOf(LAST + 80)
      const { reason, share } = tape.coverageFrom(windowStart(tape, "5m"), now)
      assert.strictEqual(reason, "backfill_running")
      assert.isAbove(share ?? 0, 0.5)
      assert.isBelow(share ?? 1, 0.75)
      const [seen] = measuresOf(tape, now)
      assert.deepStrictEqual([seen?.[1]?.status, seen?.[1]?.coverage.reason], ["partial", "backfill_running"])
      yield* open.open
      yield* untilRestored(tape, Effect.void)
      assert.strictEqual(tape.coverageFrom(windowStart(tape, "5m"), now).reason, null)
      yield* end
    })
  )

  const waitingReads = Effect.fnUntraced(function* (tape: Market["Service"]) {
    const books = makeBooks()
    const reads = Layer.merge(MarketReader.layer, TopTraders.layer).pipe(
      Layer.provide([tokenBook(books), poolBook(books), priceBook(books), EvmCandles.layerNone]),
      Layer.provide(Layer.succeed(Market, tape))
    )
    const context = yield* Layer.build(reads)
    const reader = Context.get(context, MarketReader)
    const none = { numerator: 0n, denominator: 1n }
    const selectors = { window: "5m", rank: "volume", minLiquidityUsd: none, minVolumeUsd: none } as const
    const seen = Effect.map(reader.lighthouse, ({ data }) => data.markets[0]?.stats["5m"].trades.total ?? null)
    const ranked = Effect.map(reader.movement(selectors, { limit: 10, pin: null }), ({ data }) => data.length)
    const stats = Effect.map(reader.tokenStats(mintOf(1), null), () => 0)
    const rank = Context.get(context, TopTraders).rank({ mint: mintOf(1), window: "all", limit: 10, pin: null })
    return {
      begin: Effect.forEach([seen, ranked, stats, Effect.map(rank, ({ rows }) => rows.length)], (read) =>
        Effect.forkChild(read, { startImmediately: true })
      ),
      movers: readMovers({ reader }, { channel: "movers", window: "5m" })
    }
  })
  const patient = { ...settings, RESTORE_PATIENCE: "10 minutes" }

  it.effect("wait for windows and rankings, which the store does not have", () =>
    Effect.gen(function* () {
      const { end, open, tape } = yield* whileRestoring(memory, patient)
      const { begin } = yield* waitingReads(tape)
      const reads = yield* begin
      assert.isTrue(reads.every(isWaiting))
      yield* open.open
      yield* Effect.repeat(TestClock.adjust("1 millis"), { until: () => !tape.isRestoring(), times: 4000 })
      assert.isAbove((yield* Effect.forEach(reads, Fiber.join))[0] ?? 0, 0)
      yield* end
    })
  )

  it.effect("wait until RESTORE_PATIENCE after the restore began, and then no more", () =>
    Effect.gen(function* () {
      const { end, tape } = yield* whileRestoring(memory, patient)
      const { begin, movers } = yield* waitingReads(tape)
      const early = yield* begin
      assert.isTrue(early.every(isWaiting))
      assert.isFalse((yield* movers).coverage.complete)
      yield* TestClock.adjust("10 minutes")
      assert.isNull((yield* Effect.forEach(early, Fiber.join))[0])
      assert.isTrue(tape.isRestoring())
      // Not when the clock is set back either. Nothing moves it from here on.
      yield* TestClock.setTime(timeOf(FIRST))
      assert.isNull((yield* Effect.forEach(yield* begin, Fiber.join))[0])
      yield* end
    })
  )

  it.effect("are followed by the answers of a process that never stopped", () =>
    Effect.gen(function* () {
      const { expected, measures } = yield* scene(yield* memory, Effect.void)
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const first = yield* process(store, () => null, settings)
      yield* first.read(slots(FIRST, STOPPED))
      yield* first.end
      const open = Latch.makeUnsafe(false)
      const { end, read, tape } = yield* process(gated(store, open), () => null, settings)
      yield* read(slots(STOPPED + 1, LAST - 3))
      yield* open.open
      yield* read(slots(LAST - 2, LAST))
      yield* untilRestored(tape, Effect.void)
      const found = { ...(yield* answersOf(tape, store)), ...(yield* storedAnswers(tape)) }
      for (const key of Object.keys(expected) as ReadonlyArray<keyof typeof expected>) {
        assert.deepStrictEqual(found[key], expected[key], key)
      }
      assert.deepStrictEqual(measuresOf(tape, timeOf(LAST)), measures)
      yield* end
    })
  )
})

describe.runIf(TestDatabase.isAvailable)("reads while stored trades are read from a database", () => {
  const stores = storesOf(layerPg)
  const pause = TestClock.withLive(Effect.sleep("2 millis"))

  it.effect(
    "come from the store, or from the blocks since, with their share",
    () => whileRestoring(Effect.orDie(stores), {}, pause, FIRST + 150),
    120_000
  )
})
