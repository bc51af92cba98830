/** Blocks that are imported in any order, and with any interruption, leave what reading them in order leaves. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { packTransactions } from "../../../src/chain/decoding/PackedTransactions.ts"
import type { ImportedBlock } from "../../../src/chain/importing/importMessages.ts"
import { ImportRefused, isAfter, isBefore } from "../../../src/chain/importing/importSource.ts"
import type { readImport } from "../../../src/chain/importing/readImport.ts"
import type { LiquidityChange } from "../../../src/api/schemas/LiquidityEvent.ts"
import { SOL } from "../../../src/domain/Address.ts"
import * as MarketStoresClickHouse from "../../../src/market/history/MarketStoresClickHouse.ts"
import type { MarketStores } from "../../../src/market/model/MarketStores.ts"
import { BAR, REVISION } from "../../../src/market/model/bar.ts"
import { storedDays } from "../../../src/market/model/wholeDays.ts"
import { importBlocks, type ImportOptions, newNotes } from "../../../src/market/tape/importBlocks.ts"
import { noPrices, storedPart } from "../../../src/market/tape/importHistory.ts"
import * as ClickHouseHttp from "../../../src/storage/clickhouse/ClickHouseHttp.ts"
import { engine, isAvailable } from "../../support/clickhouse/engine.ts"
import { layerPg, memory, replaced, storesOf } from "../../support/marketStores.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { blockOf, FIRST, hasBlock, slots, timeOf } from "./chain.ts"
import { address, MONDAY, mintOf, walletOf } from "./tape.ts"

const LAST = FIRST + 160
/** Blocks of these slots have a change of liquidity. */
const CHANGED = [FIRST + 5, FIRST + 75, LAST]
const DAY = 86_400

const changeOf = (slot: number): LiquidityChange => ({
  signature: "s1",
  index: slot - FIRST,
  kind: "added",
  pool: address(5, 1),
  dex: "raydium-cpmm",
  provider: walletOf(3),
  sides: [
    { mint: mintOf(1), amount: 5n, decimals: 6 },
    { mint: mintOf(2), amount: 7n, decimals: 9 }
  ],
  opens: false,
  includesFees: false
})

/** A block as a thread sends it. */
const importedOf = (slot: number, parentSlot = hasBlock(slot - 1) ? slot - 1 : slot - 2): ImportedBlock => {
  const { launches, timeMs, transactions } = blockOf(slot)
  return {
    hash: `hash ${slot}`,
    parentHash: `hash ${parentSlot}`,
    block: {
      head: {
        slot,
        parentSlot,
        blockTimeMs: timeMs,
        launches: launches ?? [],
        supply: [],
        malformed: 0,
        liquidity: CHANGED.includes(slot) ? [changeOf(slot)] : []
      },
      packed: packTransactions(transactions)
    }
  }
}

const isLacking = (slot: number) => slot >= FIRST + 50 && slot <= FIRST + 59

interface Faults {
  /** Slots that the source does not have. */
  readonly lacks?: (slot: number) => boolean
  /** Calls of the source that break off after so many blocks. */
  readonly breaks?: ReadonlyArray<number>
  readonly replace?: (block: ImportedBlock) => ImportedBlock
}

/** A source in memory. Notes from which slot each call reads. */
const sourceOf = ({ breaks = [], lacks = () => false, replace = (block) => block }: Faults = {}) => {
  const calls: Array<number | null> = []
  const read: typeof readImport = ({ range }) => {
    const most = breaks[calls.length]
    calls.push(range.fromSlot)
    const blocks = Stream.fromIterable(slots(FIRST, LAST)).pipe(
      Stream.filter((slot) => hasBlock(slot) && !lacks(slot) && !isBefore(range, slot, timeOf(slot))),
      Stream.takeUntil((slot) => isAfter(range, slot, timeOf(slot))),
      Stream.map((slot) => replace(importedOf(slot)))
    )
    return most === undefined
      ? blocks
      : Stream.concat(
          Stream.take(blocks, most),
          Stream.fail(new ChainUnavailable({ reason: "unreachable", detail: "broke off" }))
        )
  }
  return { read, calls }
}

const rangeOf = (fromSlot: number | null, toSlot: number | null) => ({ fromSlot, toSlot, fromMs: null, toMs: null })

const importing = (
  stores: MarketStores,
  range: ImportOptions["range"],
  source: ReturnType<typeof sourceOf> = sourceOf(),
  options: Partial<Pick<ImportOptions, "budget" | "rate">> = {},
  isBeside = false
) =>
  Effect.gen(function* () {
    const notes = newNotes()
    const parts = {
      stores,
      prices: noPrices,
      live: { newest: () => 0, recall: () => undefined },
      durable: () => Number.POSITIVE_INFINITY,
      storable: storedPart,
      isBeside,
      bridge: "unavailable" as const,
      alone: <A, E>(effect: Effect.Effect<A, E>) => effect,
      read: source.read
    }
    const place = { _tag: "file", path: "" } as const
    yield* importBlocks(parts, { place, range, rate: null, budget: null, ...options }, notes, Duration.minutes(10))
    return notes
  })

const chain = { genesis: "imported", isSandbox: false }
const opened = (stores: MarketStores) => Effect.as(stores.blocks.open(chain), stores)
const inMemory = Effect.flatMap(memory, opened)

const begin = TestClock.setTime((MONDAY + 2 * DAY) * 1000)

/** Everything that is stored: trades with their prices, candles, wallets and what is missing. */
const contentOf = Effect.fnUntraced(function* (stores: MarketStores) {
  const mints = [SOL, ...slots(0, 4).map(mintOf)]
  const trades = yield* Stream.runCollect(stores.blocks.since({ second: 0, after: 0, most: Number.POSITIVE_INFINITY }))
  const bars = yield* Effect.forEach(mints, (mint) =>
    Effect.forEach(["1m", "1h", "1d"] as const, (resolution) =>
      stores.candles.bars({ mint, resolution, from: null, before: MONDAY + 1_000_000, limit: 10_000 })
    )
  )
  const wallets = yield* Effect.forEach(slots(0, 50), (n) => stores.trades.ofWallet(walletOf(n), 100_000))
  const ofPool = { mint: null, pool: address(5, 1), kind: null, fromMs: null, toMs: null, before: null, limit: 100 }
  const { events } = yield* stores.trades.liquidityOf(ofPool)
  const progress = yield* stores.blocks.progress
  return {
    liquidity: events,
    trades: Array.from(trades, ({ launches, slot, timeMs, trades: each }) => ({ launches, slot, timeMs, each })),
    // How often a closed candle has changed depends on the order.
    bars: bars.map((each) =>
      each.map(({ cells }) => Array.from(cells, (value, at) => (at % BAR === REVISION ? 0 : value)))
    ),
    wallets,
    progress: progress && { ...progress, repairs: 0 }
  }
})

const inOrder = Effect.gen(function* () {
  const stores = yield* inMemory
  yield* importing(stores, rangeOf(FIRST, LAST))
  return yield* contentOf(stores)
})

describe("importBlocks", () => {
  it.effect("stores the changes of liquidity of its blocks", () =>
    Effect.gen(function* () {
      yield* begin
      const { liquidity } = yield* inOrder
      assert.deepStrictEqual(
        liquidity,
        CHANGED.toReversed().map((slot) => ({ ...changeOf(slot), slot, timeMs: timeOf(slot) }))
      )
    })
  )

  it.effect("leaves the same in any order of ranges", () =>
    Effect.gen(function* () {
      yield* begin
      const expected = yield* inOrder
      const ranges = [
        [FIRST + 70, FIRST + 90],
        [FIRST + 10, FIRST + 30],
        [FIRST + 125, FIRST + 135],
        [FIRST, FIRST + 50],
        [FIRST + 45, LAST]
      ] as const
      const stores = yield* inMemory
      for (const [from, to] of ranges) {
        yield* importing(stores, rangeOf(from, to))
      }
      assert.deepStrictEqual(yield* contentOf(stores), expected)
    })
  )

  it.effect("leaves the same in PostgreSQL", () =>
    Effect.gen(function* () {
      yield* begin
      const stores = yield* storesOf(layerPg)
      const content = Effect.fnUntraced(function* (genesis: string, ranges: ReadonlyArray<readonly [number, number]>) {
        yield* stores.blocks.open({ genesis, isSandbox: false })
        for (const [from, to] of ranges) {
          yield* importing(stores, rangeOf(from, to))
        }
        return yield* contentOf(stores)
      })
      const middleFirst = [
        [FIRST + 70, FIRST + 90],
        [FIRST, FIRST + 50],
        [FIRST + 45, LAST]
      ] as const
      assert.deepStrictEqual(yield* content("parts", middleFirst), yield* content("whole", [[FIRST, LAST]]))
    }).pipe(Effect.scoped)
  )

  it.effect.runIf(isAvailable)("leaves the same in ClickHouse as in PostgreSQL, in any order of ranges", () =>
    Effect.gen(function* () {
      yield* begin
      const whole = yield* opened(yield* storesOf(layerPg))
      yield* importing(whole, rangeOf(FIRST, LAST))
      const expected = yield* contentOf(whole)
      const { folder, url } = yield* engine
      const settings = ConfigProvider.layer(
        ConfigProvider.fromUnknown({ CLICKHOUSE_TRADES_KEPT: "20000 days", CLICKHOUSE_SPOOL: `${folder}/spool` })
      )
      const layer = MarketStoresClickHouse.layer.pipe(
        Layer.provide([TestDatabase.layer, ClickHouseHttp.layer(url), settings])
      )
      const stores = yield* storesOf(layer)
      yield* stores.blocks.open(chain)
      for (const [from, to] of [
        [FIRST + 70, FIRST + 90],
        [FIRST, FIRST + 50],
        [FIRST + 45, LAST]
      ] as const) {
        yield* importing(stores, rangeOf(from, to))
      }
      assert.deepStrictEqual(yield* contentOf(stores), expected)
    }).pipe(Effect.scoped)
  )

  it.effect("goes on after a source that breaks off, and stores no trade twice", () =>
    Effect.gen(function* () {
      yield* begin
      const expected = yield* inOrder
      const stores = yield* inMemory
      const source = sourceOf({ breaks: [30, 0, 60] })
      const fiber = yield* Effect.forkChild(importing(stores, rangeOf(FIRST, LAST), source, { rate: 5 }))
      yield* TestClock.adjust("10 minutes")
      const { blocks } = yield* Fiber.join(fiber)
      assert.strictEqual(blocks, slots(FIRST, LAST).filter(hasBlock).length)
      assert.isAbove(Math.max(...source.calls.map(Number)), FIRST + 50)
      assert.deepStrictEqual(yield* contentOf(stores), expected)
    })
  )

  it.effect("gets to the end of a source that breaks off after a few blocks each time", () =>
    Effect.gen(function* () {
      yield* begin
      const expected = yield* inOrder
      const stores = yield* inMemory
      const source = sourceOf({ breaks: Array.from({ length: 24 }, () => 7) })
      const fiber = yield* Effect.forkChild(importing(stores, rangeOf(FIRST, LAST), source))
      yield* TestClock.adjust("1 hour")
      const { blocks } = yield* Fiber.join(fiber)
      assert.strictEqual(blocks, slots(FIRST, LAST).filter(hasBlock).length)
      assert.deepStrictEqual(yield* contentOf(stores), expected)
    })
  )

  it.effect("goes on where a killed import was, when a write fails at any moment", () =>
    Effect.gen(function* () {
      yield* begin
      const expected = yield* inOrder
      const stores = yield* inMemory
      yield* importing(stores, rangeOf(FIRST + 150, LAST))
      for (const writes of [0, 1, 3]) {
        let left = writes
        const dying = replaced(stores, {
          blocks: {
            repair: (repair) =>
              Effect.suspend(() => (left-- > 0 ? stores.blocks.repair(repair) : Effect.die(new Error("killed"))))
          }
        })
        const fiber = yield* Effect.forkChild(importing(dying, rangeOf(FIRST, LAST), sourceOf(), { rate: 10 }))
        yield* TestClock.adjust("1 minute")
        assert.isTrue(Exit.hasDies(yield* Fiber.await(fiber)))
      }
      yield* importing(stores, rangeOf(FIRST, LAST))
      assert.deepStrictEqual(yield* contentOf(stores), expected)
    })
  )

  it.effect("counts blocks that the source lacks as missing, and fills them from another source", () =>
    Effect.gen(function* () {
      yield* begin
      const expected = yield* inOrder
      const stores = yield* inMemory
      const { holes } = yield* importing(stores, rangeOf(FIRST, LAST), sourceOf({ lacks: isLacking }))
      assert.strictEqual(holes, 1)
      const gaps = (yield* stores.blocks.progress)?.gaps ?? []
      assert.deepStrictEqual(
        gaps.map(({ fromSlot, toSlot }) => [fromSlot, toSlot]),
        [[FIRST + 50, FIRST + 59]]
      )
      yield* importing(stores, rangeOf(FIRST, LAST))
      assert.deepStrictEqual(yield* contentOf(stores), expected)
    })
  )

  it.effect("never calls a stretch between two ranges read", () =>
    Effect.gen(function* () {
      yield* begin
      const stores = yield* inMemory
      yield* importing(stores, rangeOf(FIRST + 120, LAST))
      yield* importing(stores, rangeOf(FIRST, FIRST + 60))
      const progress = yield* stores.blocks.progress
      assert.strictEqual(progress?.firstSlot, FIRST)
      assert.deepStrictEqual(
        progress?.gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state]),
        [[FIRST + 61, FIRST + 119, "unavailable"]]
      )
      const [day] = progress === null ? [] : storedDays(progress, MONDAY, MONDAY + DAY)
      assert.isAbove(day?.missingSeconds ?? 0, 0)
    })
  )

  it.effect("refuses blocks of another fork and stores nothing of them", () =>
    Effect.gen(function* () {
      yield* begin
      const forked = FIRST + 120
      for (const replace of [
        (block: ImportedBlock) => (block.block.head.slot === forked ? { ...block, parentHash: "another" } : block),
        (block: ImportedBlock) => (block.block.head.slot === forked ? importedOf(forked, forked - 5) : block)
      ]) {
        const stores = yield* inMemory
        const refusal = yield* Effect.flip(importing(stores, rangeOf(FIRST, LAST), sourceOf({ replace })))
        assert.instanceOf(refusal, ImportRefused)
        assert.include(refusal.message, String(forked))
        assert.isBelow((yield* stores.blocks.progress)?.slot ?? 0, forked)
      }
    })
  )

  it.effect("refuses blocks that are older than the store keeps trades", () =>
    Effect.gen(function* () {
      yield* begin
      const stores = replaced(yield* inMemory, { candles: { keptSeconds: () => DAY } })
      const refusal = yield* Effect.flip(importing(stores, rangeOf(FIRST, LAST)))
      assert.instanceOf(refusal, ImportRefused)
      assert.isNull(yield* stores.blocks.progress)
    })
  )

  it.effect("beside a service stores nothing after the service's own blocks", () =>
    Effect.gen(function* () {
      yield* begin
      const stores = yield* inMemory
      yield* importing(stores, rangeOf(FIRST + 50, FIRST + 101))
      yield* importing(stores, rangeOf(FIRST, LAST), sourceOf(), {}, true)
      const progress = yield* stores.blocks.progress
      assert.deepStrictEqual([progress?.firstSlot, progress?.slot, progress?.gaps], [FIRST, FIRST + 101, []])
    })
  )

  it.effect("stores at most the blocks of its budget, and the next run goes on", () =>
    Effect.gen(function* () {
      yield* begin
      const expected = yield* inOrder
      const stores = yield* inMemory
      const { blocks } = yield* importing(stores, rangeOf(FIRST, LAST), sourceOf(), { budget: 50 })
      assert.strictEqual(blocks, 50)
      yield* importing(stores, rangeOf(FIRST, LAST), sourceOf(), { budget: 50 })
      yield* importing(stores, rangeOf(FIRST, LAST))
      assert.deepStrictEqual(yield* contentOf(stores), expected)
    })
  )
})

describe("storedDays", () => {
  it("calls a day whole only when every second of it was read", () => {
    const progress = { readFrom: MONDAY, timeMs: (MONDAY + 2 * DAY + 5) * 1000, gaps: [] }
    const days = storedDays(progress, MONDAY - DAY, MONDAY + 3 * DAY).map(({ missingSeconds }) => missingSeconds)
    assert.deepStrictEqual(days, [DAY, 0, 0, DAY - 5])
    assert.strictEqual(storedDays({ ...progress, readFrom: MONDAY + 1 }, MONDAY, MONDAY + 1)[0]?.missingSeconds, 1)
  })
})
