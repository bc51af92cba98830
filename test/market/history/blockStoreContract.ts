import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { BAR, REVISION } from "../../../src/market/model/bar.ts"
import { BlockStore } from "../../../src/market/model/BlockStore.ts"
import type { MissingBlocks } from "../../../src/market/model/Gaps.ts"
import { type MarketStorePorts, marketStores } from "../../../src/market/model/MarketStores.ts"
import type { StoredBars } from "../../../src/market/model/StoredBars.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import { mintOf, MONDAY, walletOf } from "../tape/tape.ts"
import { storedBlock } from "./storedBlock.ts"
import { ofMint } from "./tradeHistoryContract.ts"

/** A block of two trades. The price of the first rises with time. */
const risen = (second: number, given: Partial<StoredBatch> = {}) =>
  storedBlock(second, [{ priceUsd: 1 + second / 100 }, {}], given)

/** The blocks that a store returns: at least the newest that hold `most` trades. */
const stored = (second = 0, after = 0, most = 1_000_000, untilMs?: number) =>
  BlockStore.use((store) => Stream.runCollect(store.since({ second: MONDAY + second, after, most, untilMs })))

/** Bars without the revisions that a repair leaves on them. */
const withoutRevisions = ({ cells, isCut }: StoredBars) => ({
  isCut,
  cells: cells.map((cell, i) => (i % BAR === REVISION ? 0 : cell))
})

const chainOf = (genesis: string) => ({ genesis, isSandbox: false })

const open = (genesis: string) => BlockStore.use((store) => store.open(chainOf(genesis)))
const append = (...batches: ReadonlyArray<StoredBatch>) => BlockStore.use((store) => store.append(batches))

const odd = {
  amount: MAX_U64,
  lamports: null,
  decimals: null,
  priceUsd: 0.1 + 0.2,
  volumeUsdNanos: MAX_U64,
  solUsdNanos: MAX_U64,
  side: "sell",
  pool: mintOf(9),
  dex: null,
  launchpad: "pump-fun"
} as const

const launch = { event: "created", mint: mintOf(3), launchpad: "pump-fun", pool: null } as const

const many = (count: number) => Array.from({ length: count }, () => ({}))

/** The contract of every block store. Each test has its own chain. */
export const blockStoreContract = <E>(name: string, store: Layer.Layer<MarketStorePorts, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("fails every method until a chain is opened", () =>
      Effect.gen(function* () {
        const stores = yield* marketStores
        const bars = { mint: mintOf(1), resolution: "1m", from: null, before: MONDAY, limit: 1 } as const
        const questions = [
          append(),
          stored(),
          stores.trades.ofWallet(walletOf(1), 1),
          stores.candles.bars(bars),
          stores.candles.prints({ mint: mintOf(1), denom: "usd", from: 0, before: MONDAY, limit: 1 }),
          stores.candles.revised(MONDAY),
          stores.blocks.closeBars,
          stores.trades.swapsOf(ofMint(1, 1)),
          stores.blocks.launchesBefore(MONDAY, 1)
        ]
        for (const question of questions) {
          assert.strictEqual((yield* Effect.flip(Effect.asVoid(question)))._tag, "TradeStoreUnavailable")
        }
      })
    )

    it.effect("returns to the unit what was appended, in the order of the chain", () =>
      Effect.gen(function* () {
        yield* open("exact")
        const late = storedBlock(2, [
          { ...odd, role: "pool" },
          { priceUsd: 5e-324, volumeUsdNanos: 0n, amount: 0n }
        ])
        const early = storedBlock(1, [{ role: "wallet", pool: null, priceUsd: null, volumeUsdNanos: null }], {
          launches: [launch]
        })
        yield* append(early, late)
        assert.deepStrictEqual(Array.from(yield* stored()), [early, late])
      })
    )

    it.effect("keeps the fees of a wallet and the units that a wallet held around a trade", () =>
      Effect.gen(function* () {
        yield* open("balances")
        const held = { before: MAX_U64, after: 0n }
        const block = storedBlock(1, [
          { role: "both", held, feeUsdNanos: 7n },
          { role: "wallet", feeUsdNanos: null, priorityLamports: 0n, tipLamports: 9n },
          {}
        ])
        yield* append(block)
        assert.deepStrictEqual(Array.from(yield* stored()), [block])
      })
    )

    it.effect("reports its progress and the time of a gap", () =>
      Effect.gen(function* () {
        assert.isNull(yield* open("progress"))
        yield* append(storedBlock(1), storedBlock(2), storedBlock(5, [{}], { afterGap: true }))
        yield* append(storedBlock(7))
        const gap = {
          fromSlot: 1003,
          toSlot: 1004,
          fromSecond: MONDAY + 2,
          toSecond: MONDAY + 5,
          state: "open",
          tries: 0,
          nextTryAtMs: 0
        } as const
        assert.deepStrictEqual(yield* open("progress"), {
          slot: 1007,
          timeMs: (MONDAY + 7) * 1000,
          firstSlot: 1001,
          repairs: 0,
          readFrom: MONDAY + 2,
          gaps: [gap]
        })
      })
    )

    it.effect("fills a gap with late blocks as if they had come in order, and only once", () =>
      Effect.gen(function* () {
        yield* open("repaired")
        const stores = yield* marketStores
        const [first, second, third, fourth] = [risen(0), risen(30), risen(70, { launches: [launch] }), risen(110)]
        const rest = [risen(200), risen(4000)] as const
        const all = [first, second, third, fourth, ...rest]
        yield* append(second, risen(200, { afterGap: true }), rest[1])
        yield* stores.blocks.closeBars
        const [gap] = (yield* stores.blocks.progress)?.gaps ?? []
        assert.deepInclude(gap, { fromSlot: 1031, toSlot: 1199, fromSecond: MONDAY + 30, toSecond: MONDAY + 200 })
        const left = { ...gap, toSlot: 1069, toSecond: MONDAY + 70 } as MissingBlocks
        const part = {
          batches: [third, fourth],
          repriced: [],
          gap: { fromSlot: 1031, left: [left] },
          first: null,
          found: []
        }
        yield* stores.blocks.repair(part)
        yield* stores.blocks.repair(part)
        assert.deepStrictEqual((yield* open("repaired"))?.gaps, [left])
        yield* stores.blocks.repair({
          batches: [],
          gap: { fromSlot: 1031, left: [] },
          first: null,
          found: [],
          repriced: []
        })
        yield* stores.blocks.repair({
          batches: [first],
          gap: null,
          first: { slot: 1000, second: MONDAY + 1 },
          found: [],
          repriced: []
        })
        assert.deepInclude(yield* open("repaired"), { firstSlot: 1000, readFrom: MONDAY + 1, gaps: [], slot: 5000 })
        assert.deepStrictEqual(Array.from(yield* stored(0)), all)

        yield* open("in order")
        yield* append(...all)
        yield* stores.blocks.closeBars
        for (const resolution of ["1m", "5m", "1h", "1d"] as const) {
          const request = { mint: mintOf(1), resolution, from: null, before: MONDAY + 90_000, limit: 99 }
          const inOrder = yield* stores.candles.bars(request)
          yield* open("repaired")
          const repaired = yield* stores.candles.bars(request)
          assert.deepStrictEqual(withoutRevisions(repaired), withoutRevisions(inOrder), resolution)
          yield* open("in order")
        }
      })
    )

    it.effect("keeps a trade once, however often its block comes", () =>
      Effect.gen(function* () {
        yield* open("again")
        const [one, two, three] = [
          storedBlock(1, [{}, {}]),
          storedBlock(2, [{}], { launches: [launch] }),
          storedBlock(3)
        ]
        yield* append(one, two)
        yield* append(two, three)
        yield* append(one)
        assert.deepStrictEqual(Array.from(yield* stored()), [one, two])
        assert.strictEqual((yield* open("again"))?.slot, 1003)
        // Not even with another time, as an estimate may have.
        yield* append({
          ...one,
          timeMs: one.timeMs + 700,
          trades: one.trades.map((each) => ({ ...each, timeMs: one.timeMs + 700 }))
        })
        assert.deepStrictEqual(Array.from(yield* stored()), [one, two])
        // A block that was stored in part is completed.
        const whole = storedBlock(1, [{}, {}, {}])
        yield* append(whole)
        assert.deepStrictEqual((yield* stored())[0], whole)
      })
    )

    it.effect("returns blocks from a second and a slot on, and only as many as are wanted", () =>
      Effect.gen(function* () {
        yield* open("since")
        const blocks = Array.from({ length: 8 }, (_, i) => storedBlock(600 * i, [{}, {}]))
        yield* append(...blocks, storedBlock(5000))
        assert.deepStrictEqual(Array.from(yield* stored(1200)), blocks.slice(2))
        assert.deepStrictEqual(Array.from(yield* stored(0, 1000 + 1800)), blocks.slice(4))
        assert.deepStrictEqual(Array.from(yield* stored(0, 0, 5)), blocks.slice(5))
        assert.deepStrictEqual(Array.from(yield* stored(0, 0, 6)), blocks.slice(5))
        assert.deepStrictEqual(Array.from(yield* stored(9000)), [])
        const untilMs = (MONDAY + 2400) * 1000
        assert.deepStrictEqual(Array.from(yield* stored(600, 0, Infinity, untilMs)), blocks.slice(1, 5))
        assert.deepStrictEqual(Array.from(yield* stored(0, 0, 3, untilMs)), blocks.slice(3, 5))
      })
    )

    it.effect("returns blocks with more trades than are read at a time, and blocks of launches between them", () =>
      Effect.gen(function* () {
        yield* open("pages")
        const blocks = [
          storedBlock(1, [], { launches: [launch] }),
          storedBlock(2, many(3000)),
          storedBlock(3, [], { launches: [launch, launch] }),
          storedBlock(4, many(9000), { launches: [launch] }),
          storedBlock(5, many(1000)),
          storedBlock(6, [], { launches: [launch] })
        ]
        yield* append(...blocks)
        assert.deepStrictEqual(Array.from(yield* stored()), blocks)
        assert.deepStrictEqual(Array.from(yield* stored(0, 1003)), blocks.slice(3))
        assert.deepStrictEqual(Array.from(yield* stored(0, 0, 1001)), blocks.slice(3))
        assert.deepStrictEqual(Array.from(yield* stored(0, 0, 1000)), blocks.slice(4))
      })
    )

    it.effect("returns launches from before a second", () =>
      Effect.gen(function* () {
        yield* open("launches")
        const [a, b] = [
          { ...launch, creator: mintOf(5), platform: "bags", quoteMint: mintOf(6), holderRewards: true },
          { ...launch, event: "migrated", pool: mintOf(4) } as const
        ]
        yield* append(storedBlock(1, [], { launches: [a, b] }), storedBlock(2, [], { launches: [a] }), storedBlock(3))
        const stores = yield* marketStores
        const before = (second: number, most: number) =>
          Effect.map(stores.blocks.launchesBefore(MONDAY + second, most), (all) =>
            all.map(({ launch: { event } }) => event)
          )
        assert.deepStrictEqual(yield* before(3, 10), ["created", "migrated", "created"])
        assert.deepStrictEqual(yield* before(3, 2), ["migrated", "created"])
        assert.deepStrictEqual(yield* before(2, 10), ["created", "migrated"])
        assert.deepStrictEqual((yield* stores.blocks.launchesBefore(MONDAY + 2, 1))[0], {
          slot: 1001,
          timeMs: (MONDAY + 1) * 1000,
          launch: b
        })
        assert.deepStrictEqual((yield* stores.blocks.launchesBefore(MONDAY + 3, 1))[0]?.launch, a)
      })
    )

    it.effect("never mixes two chains", () =>
      Effect.gen(function* () {
        const stores = yield* marketStores
        yield* open("one")
        const block = storedBlock(1, [{ wallet: walletOf(9), mint: mintOf(9) }], { launches: [launch] })
        yield* append(block)
        assert.isNull(yield* stores.blocks.open({ genesis: "two", isSandbox: true }))
        const bars = { mint: mintOf(9), resolution: "1m", from: null, before: MONDAY + 60, limit: 9 } as const
        assert.deepStrictEqual(Array.from(yield* stored()), [])
        assert.deepStrictEqual(yield* stores.trades.ofWallet(walletOf(9), 9), [])
        assert.deepStrictEqual(yield* stores.blocks.launchesBefore(MONDAY + 9, 9), [])
        assert.strictEqual((yield* stores.candles.bars(bars)).cells.length, 0)
        yield* append(storedBlock(1, [{ side: "sell" }]))
        assert.strictEqual((yield* open("one"))?.slot, 1001)
        assert.deepStrictEqual(Array.from(yield* stored()), [block])
        assert.isAbove((yield* stores.candles.bars(bars)).cells.length, 0)
      })
    )
  })
