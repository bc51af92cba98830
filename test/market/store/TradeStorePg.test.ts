import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { TradeStoreUnavailable } from "../../../src/domain/market/Trade.ts"
import { BAR } from "../../../src/market/candles/bar.ts"
import { foldBars, walkStored } from "../../../src/market/candles/foldBars.ts"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import * as TradeStorePg from "../../../src/market/store/TradeStorePg.ts"
import * as Proxy from "../../support/Proxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { layerPg, tradeStoreOf } from "../../support/tradeStores.ts"
import { mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"
import { makeTradeNames } from "../../../src/market/store/tradeNames.ts"
import { makeLargest, makeTradePages } from "../../../src/market/store/tradePages.ts"
import { makeTradeTable } from "../../../src/market/store/tradeTable.ts"
import { ofMint, tradePagesContract } from "./tradePagesContract.ts"
import { snapshotContract } from "./snapshotContract.ts"
import { supplyContract } from "./supplyContract.ts"
import { tokenSwapsContract } from "./tokenSwapsContract.ts"
import { storedBlock, tradeStoreContract } from "./tradeStoreContract.ts"
import { transferContract } from "./transferContract.ts"

const DAY_MS = 86_400_000
const open = (layer: Layer.Layer<TradeStore, unknown>) =>
  Effect.map(Effect.orDie(Layer.build(layer)), (context) => Context.get(context, TradeStore))

const sqlOf = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(TestDatabase.connect(address)), (context) => Context.get(context, SqlClient.SqlClient))

const names = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ name: Schema.String })))
const counts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ rows: Schema.Number })))

const asked = (question: Effect.Effect<unknown, TradeStoreUnavailable>) => Effect.flip(question)

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  tradeStoreContract("TradeStorePg.layer", layerPg)
  snapshotContract("snapshots in TradeStorePg.layer", layerPg)
  supplyContract("changes of supply in TradeStorePg.layer", layerPg)
  tokenSwapsContract("prices of tokens in TradeStorePg.layer", layerPg)
  transferContract("transfers in TradeStorePg.layer", layerPg)
  tradePagesContract("TradeStorePg.layer, by page", layerPg)
})

describe.runIf(TestDatabase.isAvailable)("the trades of a database", { concurrent: true }, () => {
  it.live("are searched for a rare one a bounded number at a time", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* store.open({ genesis: "searched", isSandbox: false })
      const blocks = Array.from({ length: 10 }, (_, second) =>
        storedBlock(second, [{ side: second === 1 ? "sell" : "buy" }])
      )
      yield* store.append(blocks)
      const sql = yield* sqlOf(address)
      const pageOf = makeTradePages(sql, makeTradeTable(sql, makeTradeNames(sql)), 4)
      const [chain] = yield* Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.Number })))(
        yield* sql`select id from chains where genesis = ${"searched"}`
      )
      const sales = ofMint(1, 5, { side: "sell" })
      const first = yield* pageOf(chain?.id ?? 0, sales)
      assert.deepStrictEqual(first, { trades: [], searchedTo: { slot: 1006, index: 0 } })
      const second = yield* pageOf(chain?.id ?? 0, { ...sales, before: first.searchedTo })
      assert.deepStrictEqual(second.searchedTo, { slot: 1002, index: 0 })
      const third = yield* pageOf(chain?.id ?? 0, { ...sales, before: second.searchedTo })
      assert.deepStrictEqual([third.trades.map(({ slot }) => slot), third.searchedTo], [[1001], null])
      const largestOf = makeLargest(sql, makeTradeTable(sql, makeTradeNames(sql)), 4)
      const request = { mint: mintOf(1), startsMs: [blocks[0]?.timeMs ?? 0], toSlot: 2000 }
      const largest = yield* largestOf(chain?.id ?? 0, request)
      assert.strictEqual(largest.clippedAtMs, blocks[5]?.timeMs)
      const whole = yield* largestOf(chain?.id ?? 0, { ...request, toSlot: 1003 })
      assert.isNull(whole.clippedAtMs)
    }).pipe(Effect.scoped)
  )

  it.live("are there for the next process, closed candles included", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const first = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* first.open({ genesis: "kept", isSandbox: false })
      const blocks = [0, 30, 90, 4000, 9000].map((second) => storedBlock(second, [{ priceUsd: second + 1 }]))
      yield* first.append(blocks)
      yield* first.closeBars
      const second = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      assert.strictEqual((yield* second.open({ genesis: "kept", isSandbox: false }))?.slot, 10_000)
      const all = yield* Stream.runCollect(second.since({ second: 0, after: 0, most: 10 }))
      assert.deepStrictEqual(Array.from(all), blocks)
      const request = { mint: mintOf(1), resolution: "1m", from: null, before: MONDAY + 9001, limit: 10 } as const
      const before = yield* first.bars(request)
      assert.strictEqual(before.cells.length, 4 * BAR)
      assert.deepStrictEqual(yield* second.bars(request), before)
    })
  )

  it.live("are found by a reader as another process writes them, which writes nothing itself", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const chain = { genesis: "followed", isSandbox: false }
      const writer = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      const reader = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* writer.open(chain)
      assert.isNull(yield* reader.open(chain, "read"))
      const blocks = [0, 30, 90, 4000].map((second) => storedBlock(second, [{ priceUsd: second + 1 }]))
      yield* writer.append(blocks)
      yield* writer.closeBars
      assert.strictEqual((yield* reader.progress)?.slot, 5000)
      const request = { mint: mintOf(1), resolution: "1m", from: null, before: MONDAY + 9001, limit: 10 } as const
      assert.deepStrictEqual(yield* reader.bars(request), yield* writer.bars(request))
      assert.deepStrictEqual(
        Array.from(yield* Stream.runCollect(reader.since({ second: 0, after: 0, most: 10 }))),
        blocks
      )
      assert.include(`${(yield* Effect.flip(reader.append(blocks))).cause}`, "open for reading")
      assert.include(`${(yield* Effect.flip(reader.closeBars)).cause}`, "open for reading")
    })
  )

  it.live("are written by the last process alone that claimed to be the only writer", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const chain = { genesis: "claimed", isSandbox: false }
      const first = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      const second = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* first.open(chain, "sole")
      yield* first.append([storedBlock(0, [{}])])
      assert.strictEqual((yield* second.open(chain, "sole"))?.slot, 1000)
      yield* second.append([storedBlock(30, [{}]), storedBlock(90, [{}])])
      // Without the term it would set the progress back.
      assert.include(`${(yield* Effect.flip(first.append([storedBlock(30, [{}])]))).cause}`, "another process writes")
      yield* first.open(chain, "read")
      assert.strictEqual((yield* first.progress)?.slot, 1090)
      yield* second.append([storedBlock(120, [{}])])
      assert.strictEqual((yield* second.progress)?.slot, 1120)
    })
  )

  it.live(
    "that come late enter the closed candles of every width, whose revision rises by them and by nothing else",
    () =>
      Effect.gen(function* () {
        const store = yield* open(tradeStoreOf(TestDatabase.connect(yield* TestDatabase.create)))
        yield* store.open({ genesis: "late", isSandbox: false })
        const of = Effect.fnUntraced(function* (resolution: "1m" | "1h" | "1d" | "5m") {
          const request = { mint: mintOf(1), resolution, from: null, before: MONDAY + 90_000, limit: 9 }
          const stored = yield* store.bars(request)
          const { bars } = foldBars(walkStored(stored), { ...request, to: null, denom: "sol" }, false)
          return bars.map(({ high, revision, traders, trades }) => [trades, revision, high, traders])
        })
        const blocks = [0, 30, 200, 90_000].map((second) => storedBlock(second, [{}]))
        yield* store.append(blocks)
        yield* store.closeBars
        assert.deepStrictEqual(yield* of("1m"), [
          [2, 0, 0.01, 1],
          [1, 0, 0.01, 1]
        ])
        yield* store.append(blocks)
        assert.deepStrictEqual(yield* of("1d"), [[3, 0, 0.01, null]])
        const late = storedBlock(31, [{ lamports: 50_000_000n, wallet: walletOf(2) }, { mint: mintOf(2) }])
        yield* store.append([late])
        yield* store.append([late, storedBlock(90_001, [{}])])
        yield* store.closeBars
        assert.deepStrictEqual(yield* of("1m"), [
          [3, 1, 0.05, 2],
          [1, 0, 0.01, 1]
        ])
        for (const resolution of ["5m", "1h", "1d"] as const) {
          assert.deepStrictEqual(yield* of(resolution), [[4, 1, 0.05, null]], resolution)
        }
        const marked = (yield* store.revised(MONDAY)).map(({ mint, revision, second, width }) => [
          mint,
          width,
          second,
          revision
        ])
        assert.sameDeepMembers(
          marked,
          [60, 3600, 86_400].flatMap((width) => [1, 2].map((n) => [mintOf(n), width, MONDAY, 1]))
        )
        assert.deepStrictEqual(yield* store.revised(MONDAY + 1), [])
        yield* store.append([storedBlock(100, [{}])])
        assert.deepStrictEqual((yield* of("1m"))[1], [1, 1, 0.01, 1])
      })
  )

  it.live("of a sandbox go once another chain has taken its place, those of a real chain stay", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* sqlOf(address)
      const store = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      for (const [genesis, isSandbox] of [
        ["real", false],
        ["old sandbox", true],
        ["sandbox", true]
      ] as const) {
        yield* store.open({ genesis, isSandbox })
        yield* store.append([storedBlock(1, [{}, {}], { launches: [] })])
      }
      yield* sql`update chains set written_at = now() - interval '1 hour'`
      const later = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* later.open({ genesis: "sandbox", isSandbox: true })
      const left = sql`select genesis as name from chains order by 1`.pipe(Effect.flatMap((rows) => names(rows)))
      yield* Effect.repeat(left, { until: (rows) => rows.length === 2 }).pipe(Effect.timeout("10 seconds"))
      assert.deepStrictEqual(yield* left, [{ name: "real" }, { name: "sandbox" }])
      const [trades] = yield* sql`select count(*)::int as rows from trades`.pipe(Effect.flatMap((rows) => counts(rows)))
      assert.strictEqual(trades?.rows, 4)
    })
  )

  it.live("have no change of supply from before the release that began to store them", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* sqlOf(address)
      const chain = { genesis: "older release", isSandbox: false }
      const store = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* store.open(chain)
      yield* store.append([storedBlock(1, [], { supply: [{ mint: mintOf(1), change: 5n }] })])
      const asked = { mint: mintOf(1), from: 0, most: 10 }
      assert.isBelow((yield* store.supplyOf(asked)).from, MONDAY)
      // As the migration leaves a chain that has blocks.
      yield* sql`update chains set supply_from = slot_at + interval '1 second'`
      const later = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* later.open(chain)
      const { changes, from, toSlot } = yield* later.supplyOf(asked)
      assert.deepStrictEqual(changes, [{ slot: 1001, second: MONDAY + 1, change: 5n }])
      assert.deepStrictEqual([from, toSlot], [MONDAY + 2, 1001])
    })
  )

  it.live("are dropped by the day once they are too old, with days made ahead", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* sqlOf(address)
      const nowMs = Date.now()
      const days = sql`
        select inhrelid::regclass::text as name from pg_inherits where inhparent = 'trade_rows'::regclass order by 1
      `.pipe(
        Effect.flatMap((rows) => names(rows)),
        Effect.map((rows) => rows.map(({ name }) => name))
      )
      const nameAt = (day: number) =>
        `trade_rows_${new Date(nowMs + day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`
      const first = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      yield* first.open({ genesis: "aging", isSandbox: false })
      for (const [slot, day] of [-9, -5, -1].entries()) {
        const timeMs = nowMs + day * DAY_MS
        yield* first.append([{ ...storedBlock(slot), timeMs, trades: [trade({ slot, timeMs })] }])
      }
      assert.includeMembers(yield* days, [-9, -5, -1, 0, 1, 2].map(nameAt))
      const keeps = ConfigProvider.layer(ConfigProvider.fromUnknown({ TRADES_KEPT: "4 days" }))
      const second = yield* open(TradeStorePg.layer.pipe(Layer.provide([TestDatabase.connect(address), keeps])))
      const kept = [-1, 0, 1, 2].map(nameAt)
      yield* Effect.repeat(days, { until: (all) => all.length === kept.length }).pipe(Effect.timeout("10 seconds"))
      assert.deepStrictEqual(yield* days, kept)
      yield* second.open({ genesis: "aging", isSandbox: false })
      const left = yield* Stream.runCollect(second.since({ second: 0, after: 0, most: 10 }))
      assert.lengthOf(Array.from(left), 1)
    })
  )

  it.live("cannot be asked for while the database is frozen, and can when it is back", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* open(tradeStoreOf(TestDatabase.connect(proxy.address)))
      yield* store.open({ genesis: "frozen", isSandbox: false })
      yield* store.append([storedBlock(1, [{}])])
      yield* proxy.freeze
      const bars = { mint: mintOf(1), resolution: "1m", from: null, before: MONDAY + 60, limit: 1 } as const
      const questions = [store.ofWallet(walletOf(1), 1), store.bars(bars)].map(asked).map(Effect.timed)
      for (const [took, error] of yield* Effect.all(questions, { concurrency: "unbounded" })) {
        assert.strictEqual(error._tag, "TradeStoreUnavailable")
        assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
      }
      yield* proxy.thaw
      assert.lengthOf(yield* Effect.eventually(store.ofWallet(walletOf(1), 5)), 1)
    })
  )
})
