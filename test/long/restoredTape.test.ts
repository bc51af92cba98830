import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Latch, Layer, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { makeCharts } from "../../src/market/reads/makeCharts.ts"
import { EvmCandles } from "../../src/market/reads/EvmCandles.ts"
import { TradeFeed } from "../../src/market/tape/TradeFeed.ts"
import type { TradeBatch } from "../../src/market/model/TradeBatch.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { TradeStoreUnavailable } from "../../src/api/schemas/Trade.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { SOL } from "../../src/domain/Address.ts"
import { leg, netOf, transactionOf } from "../market/tape/decoded.ts"
import { mintOf, MONDAY } from "../market/tape/tape.ts"
import { type MarketStores } from "../../src/market/model/MarketStores.ts"
import { layerOf, memory, replaced } from "../support/marketStores.ts"

const DAY = 86_400
const launch = { event: "created", mint: mintOf(1), launchpad: "pump-fun", pool: null } as const

const blockAt = (second: number, given: Partial<TradeBatch> = {}): TradeBatch => {
  const swap = leg({ slot: 1000 + second })
  return {
    slot: 1000 + second,
    timeMs: (MONDAY + second) * 1000,
    transactions: [transactionOf({ legs: [swap], nets: [netOf(swap, [0])] })],
    launches: [],
    afterGap: false,
    ...given
  }
}

const at = (second: number) => TestClock.setTime((MONDAY + second) * 1000)

const prices = Layer.succeed(PriceBook, {
  at: (nowMs) => ({
    of: (mint) => (mint === SOL ? { sol: null, usd: { numerator: 3n, denominator: 20n } } : null),
    lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
    isStale: false,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: MONDAY }
  }),
  warm: () => Effect.void
})

/** Memory gets what the stored trades give, not what a snapshot has of older ones. */
const fromTrades = ConfigProvider.layer(ConfigProvider.fromUnknown({ SNAPSHOT_EVERY: "0 seconds" }))

/** A process on a store: its tape, the slots requested from the feed, the slots published, and its end. */
const process = Effect.fnUntraced(function* (store: MarketStores, genesis: string | null = "restored") {
  const scope = yield* Scope.make()
  const blocks = { queue: yield* Queue.unbounded<TradeBatch>(), replaced: Latch.makeUnsafe(false) }
  const requested: Array<number> = []
  const published: Array<number> = []
  const anew: Array<number> = []
  const served = { genesis }
  const feed = Layer.succeed(TradeFeed, {
    chain: Effect.sync(() => (served.genesis === null ? null : { genesis: served.genesis, isSandbox: false })),
    batches: (after) => {
      requested.push(after)
      return Stream.interruptWhen(Stream.fromQueue(blocks.queue), blocks.replaced.await)
    },
    again: () => Effect.succeed({ _tag: "Missing", reason: "cleaned_up" }),
    list: () => Effect.succeed([])
  })
  const layer = Market.layer.pipe(Layer.provide([feed, prices, layerOf(store), fromTrades]))
  const tape = Context.get(yield* Layer.buildWithScope(layer, scope), Market)
  yield* tape.applied.pipe(
    Stream.runForEach(({ slot }) => Effect.sync(() => published.push(slot))),
    Effect.forkIn(scope, { startImmediately: true })
  )
  yield* tape.appliedCounted.pipe(
    Stream.runForEach(({ batch, isAnew }) => Effect.sync(() => isAnew && anew.push(batch.slot))),
    Effect.forkIn(scope, { startImmediately: true })
  )
  const settle = Effect.repeat(TestClock.adjust("100 millis"), { times: 5 })
  /** Sets the clock to the time of each block before the block arrives. */
  const read = (...batches: ReadonlyArray<TradeBatch>) =>
    Effect.forEach(batches, (batch) =>
      Effect.andThen(TestClock.setTime(batch.timeMs), Effect.andThen(Queue.offer(blocks.queue, batch), settle))
    )
  /** Ends the blocks of this chain. The next blocks come from another one. */
  const replace = (next: string) =>
    Effect.gen(function* () {
      served.genesis = next
      const { replaced } = blocks
      blocks.queue = yield* Queue.unbounded<TradeBatch>()
      blocks.replaced = Latch.makeUnsafe(false)
      replaced.openUnsafe()
      yield* settle
    })
  yield* settle
  return { tape, requested, published, anew, read, replace, end: Scope.close(scope, Exit.void) }
})

describe("a market that starts again", () => {
  it.effect("restores its state, continues after the stored slot, and publishes nothing twice", () =>
    Effect.gen(function* () {
      yield* at(0)
      const store = yield* memory
      const first = yield* process(store)
      yield* first.read(blockAt(0, { launches: [launch] }), blockAt(10), blockAt(70))
      assert.deepStrictEqual([first.requested, first.published], [[0], [1000, 1010, 1070]])
      const before = { window: first.tape.state.window(mintOf(1), "5m"), seen: first.tape.state.seen(mintOf(1)) }
      assert.strictEqual(before.window?.trades, 3)
      yield* first.end

      yield* at(80)
      const second = yield* process(store)
      assert.deepStrictEqual([second.requested, second.published], [[1070], []])
      assert.deepStrictEqual(
        { window: second.tape.state.window(mintOf(1), "5m"), seen: second.tape.state.seen(mintOf(1)) },
        before
      )
      assert.strictEqual(second.tape.launches.of(mintOf(1))?.createdAtMs, MONDAY * 1000)
      assert.strictEqual(second.tape.decimalsOf(mintOf(1)), 6)
      yield* second.read(blockAt(80))
      assert.deepStrictEqual(second.published, [1080])
      assert.strictEqual(second.tape.state.window(mintOf(1), "5m")?.trades, 4)
      yield* second.end
    })
  )

  it.effect("becomes empty when another chain replaces its own, and stores the two apart", () =>
    Effect.gen(function* () {
      yield* at(0)
      const store = yield* memory
      const first = yield* process(store)
      yield* first.read(blockAt(0, { launches: [launch] }), blockAt(10))
      assert.strictEqual(first.tape.state.window(mintOf(1), "5m")?.trades, 2)

      yield* first.replace("another")
      assert.deepStrictEqual(first.requested, [0, 0])
      assert.isNull(first.tape.state.window(mintOf(1), "5m"))
      assert.isNull(first.tape.launches.of(mintOf(1)))
      assert.isNull(first.tape.heardAtMs())

      yield* first.read(blockAt(20, { slot: 7 }), blockAt(21, { slot: 8 }))
      assert.deepStrictEqual(first.anew, [7])
      assert.strictEqual(first.tape.state.window(mintOf(1), "5m")?.trades, 2)
      yield* first.end
      yield* at(30)
      assert.deepStrictEqual((yield* process(store)).requested, [1010])
      assert.deepStrictEqual((yield* process(store, "another")).requested, [8])
    })
  )

  it.effect("knows the share of its windows that was seen before the first block comes", () =>
    Effect.gen(function* () {
      yield* at(0)
      const store = yield* memory
      const first = yield* process(store)
      yield* first.read(blockAt(0), blockAt(200))
      yield* first.end
      yield* at(240)
      const { tape } = yield* process(store)
      const expected = { complete: false, reason: "backfill_running", share: 0.8 } as const
      assert.deepStrictEqual(tape.coverageFrom(MONDAY + 1, (MONDAY + 240) * 1000), expected)
    })
  )

  it.effect("has no gap when it caught up, and a gap when it could not", () =>
    Effect.gen(function* () {
      yield* at(0)
      const store = yield* memory
      const first = yield* process(store)
      yield* first.read(blockAt(0))
      yield* first.end

      yield* at(100)
      const second = yield* process(store)
      const covered = ({ tape }: typeof second, second_: number, now: number) =>
        tape.coverageFrom(MONDAY + second_, (MONDAY + now) * 1000).reason
      // Until the first block it is catching up; after that the chain is silent.
      assert.strictEqual(covered(second, 1, 100), "backfill_running")
      assert.strictEqual(covered(second, 1, 131), "source_gap")
      yield* second.read(blockAt(100))
      assert.isNull(covered(second, 1, 100))
      assert.strictEqual(covered(second, 0, 100), "not_captured")
      yield* second.end

      yield* at(2000)
      const third = yield* process(store)
      yield* third.read(blockAt(2000, { afterGap: true }))
      assert.strictEqual(covered(third, 1, 2000), "source_gap")
      assert.isNull(covered(third, 2001, 2000))
      yield* third.end
      const fourth = yield* process(store)
      yield* fourth.read(blockAt(2010))
      assert.strictEqual(covered(fourth, 1, 2010), "source_gap")
      assert.isNull(covered(fourth, 2001, 2010))
      yield* fourth.end
    })
  )

  it.effect("starts empty on another chain, and stores nothing of a chain without a name", () =>
    Effect.gen(function* () {
      yield* at(0)
      const store = yield* memory
      const first = yield* process(store)
      yield* first.read(blockAt(0))
      yield* first.end
      const other = yield* process(store, "another")
      assert.deepStrictEqual(other.requested, [0])
      assert.isFalse(other.tape.state.has(mintOf(1)))
      yield* other.end
      const nameless = yield* process(store, null)
      yield* nameless.read(blockAt(10))
      assert.isTrue(nameless.tape.state.has(mintOf(1)))
      assert.isNull(nameless.tape.stored())
      yield* nameless.end
      assert.strictEqual((yield* store.blocks.open({ genesis: "restored", isSandbox: false }))?.slot, 1000)
      assert.isNull(yield* store.blocks.open({ genesis: "another", isSandbox: false }))
    })
  )
})

const request = { resolution: "1h", denom: "usd", mode: "price", from: null, to: null, limit: 300 } as const

const chartsOf = (tape: Market["Service"]) =>
  Effect.gen(function* () {
    const evm = Context.get(yield* Layer.build(EvmCandles.layerNone), EvmCandles)
    const tokens = TokenBook.of({ read: () => null, named: () => [], commitment: "confirmed", warm: () => Effect.void })
    return makeCharts(tape, tokens, evm)
  })

describe("a chart that begins before memory", () => {
  const scene = Effect.gen(function* () {
    yield* at(0)
    const stores = yield* memory
    const state = { isUnavailable: false }
    const store = replaced(stores, {
      candles: {
        bars: (requested) =>
          state.isUnavailable
            ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
            : stores.candles.bars(requested)
      }
    })
    const first = yield* process(store)
    yield* first.read(blockAt(0), blockAt(3600), blockAt(DAY))
    const { chart } = yield* chartsOf(first.tape)
    const whole = yield* chart(mintOf(1), request)
    yield* first.end
    yield* at(5 * DAY)
    const before = yield* process(store)
    yield* before.read(blockAt(5 * DAY - 7200))
    yield* before.end
    const second = yield* process(store)
    yield* second.read(blockAt(5 * DAY))
    return { state, tape: second.tape, chart: (yield* chartsOf(second.tape)).chart, whole, end: second.end }
  })

  it.effect("comes from the store, to the digit", () =>
    Effect.gen(function* () {
      const { chart, end, tape, whole } = yield* scene
      assert.isAbove(tape.since(), MONDAY + 2 * DAY)
      const { data, knowledge } = yield* chart(mintOf(1), request)
      assert.lengthOf(data.bars, 5)
      assert.deepStrictEqual(data.bars.slice(0, 3), whole.data.bars)
      assert.strictEqual(knowledge.coverage.coveredFromMs, (MONDAY + 1) * 1000)
      const old = yield* chart(mintOf(1), { ...request, from: MONDAY + 3600, to: MONDAY + 7200 })
      assert.deepStrictEqual(old.data.bars, whole.data.bars.slice(1, 2))
      assert.deepInclude(old.knowledge.coverage, { complete: true, reason: null })
      const page = yield* chart(mintOf(1), { ...request, limit: 3 })
      assert.deepStrictEqual(page.data.bars, data.bars.slice(-3))
      assert.strictEqual(page.knowledge.prevTo, MONDAY + DAY)
      yield* end
    })
  )

  it.effect("shows the SOL that was paid", () =>
    Effect.gen(function* () {
      const { chart, end } = yield* scene
      const { data, knowledge } = yield* chart(mintOf(1), { ...request, denom: "sol" })
      assert.deepStrictEqual(
        data.bars.map(({ c, v }) => [c, v]),
        data.bars.map(() => [0.1, 0.1])
      )
      assert.lengthOf(data.bars, 5)
      assert.strictEqual(knowledge.coverage.missingBars, 0)
      yield* end
    })
  )

  it.effect("reports missing bars while the store is unavailable, and fails when it has none", () =>
    Effect.gen(function* () {
      const { chart, end, state } = yield* scene
      state.isUnavailable = true
      const { data, knowledge } = yield* chart(mintOf(1), request)
      assert.lengthOf(data.bars, 2)
      assert.deepInclude(knowledge.coverage, { complete: false, reason: "deadline" })
      const refusal = yield* Effect.flip(chart(mintOf(1), { ...request, to: MONDAY + DAY }))
      assert.strictEqual(refusal._tag, "ChartUnavailable")
      state.isUnavailable = false
      assert.lengthOf((yield* chart(mintOf(1), { ...request, to: MONDAY + DAY })).data.bars, 2)
      yield* end
    })
  )
})
