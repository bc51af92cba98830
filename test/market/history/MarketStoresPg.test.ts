import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Duration, Effect, Fiber, Layer, Schema, Stream, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { BAR } from "../../../src/market/model/bar.ts"
import { foldBars, walkStored } from "../../../src/market/memory/foldBars.ts"
import * as MarketStoresPg from "../../../src/market/history/MarketStoresPg.ts"
import type { OlderFound, TradePlace } from "../../../src/market/model/TradesRequest.ts"
import * as Proxy from "../../support/Proxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { layerPg, storesOf, storesOn } from "../../support/marketStores.ts"
import { address as addressOf, mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"
import { makeLiquidityTable } from "../../../src/market/history/liquidityTable.ts"
import { makeTradeNames } from "../../../src/market/history/tradeNames.ts"
import { makeLargest, makeOlder, makeTradePages } from "../../../src/market/history/tradePages.ts"
import { makeTradeTable } from "../../../src/market/history/tradeTable.ts"
import { makeWalletRows } from "../../../src/market/history/walletRows.ts"
import { marketStoresContract } from "./marketStoresContract.ts"
import { storedBlock } from "./storedBlock.ts"
import { ofMint } from "./tradeHistoryContract.ts"

const DAY_MS = 86_400_000

const sqlOf = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(TestDatabase.connect(address)), (context) => Context.get(context, SqlClient.SqlClient))

const names = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ name: Schema.String })))
const counts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ rows: Schema.Number })))

const asked = (question: Effect.Effect<unknown, TradeStoreUnavailable>) => Effect.flip(question)

/** Keeps every span. */
const spansKept = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { tracer, statements: () => spans.flatMap(({ attributes }) => attributes.get("db.query.text") ?? []) }
}

/** A value that calls `read` whenever something in it is read. */
const watched = <A>(value: A, read: () => void): A => {
  if (typeof value !== "object" || value === null) {
    return value
  }
  return new globalThis.Proxy(value, {
    get: (target, name, receiver) => {
      read()
      return watched(Reflect.get(target, name, receiver), read)
    }
  })
}

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  marketStoresContract("MarketStoresPg.layer", layerPg)
})

describe.runIf(TestDatabase.isAvailable)("the trades of a database", { concurrent: true }, () => {
  it.live("are searched for a rare one within a bound", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* store.blocks.open({ genesis: "searched", isSandbox: false })
      const blocks = Array.from({ length: 10 }, (_, second) =>
        storedBlock(second, [{ side: second === 1 ? "sell" : "buy" }])
      )
      yield* store.blocks.append(blocks)
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
      const olderOf = makeOlder(sql, makeTradeTable(sql, makeTradeNames(sql)), 4)
      const ofWallet = {
        wallet: walletOf(1),
        kind: "trades",
        mint: null,
        side: "sell",
        fromMs: null,
        toMs: null
      } as const
      const places: Array<number | null> = []
      for (let before: TradePlace | null = { slot: 2000, index: 0 }; before !== null;) {
        const found: OlderFound = yield* olderOf(chain?.id ?? 0, { ...ofWallet, before, limit: 5 })
        places.push(...found.trades.map(({ slot }) => slot), found.searchedTo?.slot ?? null)
        before = found.searchedTo
      }
      assert.deepStrictEqual(places, [1006, 1002, 1001, null])
      const largestOf = makeLargest(sql, makeTradeTable(sql, makeTradeNames(sql)), 4)
      const request = { mint: mintOf(1), startsMs: [blocks[0]?.timeMs ?? 0], toSlot: 2000 }
      const largest = yield* largestOf(chain?.id ?? 0, request)
      assert.strictEqual(largest.clippedAtMs, blocks[5]?.timeMs)
      const whole = yield* largestOf(chain?.id ?? 0, { ...request, toSlot: 1003 })
      assert.isNull(whole.clippedAtMs)
    }).pipe(Effect.scoped)
  )

  it.live(
    "of a large wallet are kept, and read again with what came since, what was repaired and what was priced",
    () =>
      Effect.gen(function* () {
        const address = yield* TestDatabase.create
        const store = yield* storesOf(storesOn(TestDatabase.connect(address)))
        yield* store.blocks.open({ genesis: "large", isSandbox: false })
        const sql = yield* sqlOf(address)
        const [chain] = yield* Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.Number })))(
          yield* sql`select id from chains where genesis = ${"large"}`
        )
        const table = makeTradeTable(sql, makeTradeNames(sql))
        const asked: Array<number> = []
        const rowsOf = makeWalletRows(
          {
            ofWalletNow: (id, wallet, limit, after = -1) => {
              asked.push(after)
              return table.ofWalletNow(id, wallet, limit, after)
            }
          },
          3
        )
        const wallet = walletOf(1)
        /** The rows of the wallet, as without memory. */
        const read = Effect.fnUntraced(function* (limit: number) {
          asked.length = 0
          const rows = yield* rowsOf(chain?.id ?? 0, wallet, limit)
          assert.deepStrictEqual(rows, yield* table.ofWallet(chain?.id ?? 0, wallet, limit))
          return { slots: rows.map(({ slot }) => slot), asked: [...asked] }
        })
        const blockAt = (second: number) => storedBlock(second, [{ wallet, priceUsd: second + 1 }])
        assert.deepStrictEqual(yield* read(4), { slots: [], asked: [-1] })
        yield* store.blocks.append([0, 100, 200, 300, 400].map(blockAt))
        assert.deepStrictEqual(yield* read(4), { slots: [1400, 1300, 1200, 1100], asked: [-1] })
        assert.deepStrictEqual(yield* read(4), { slots: [1400, 1300, 1200, 1100], asked: [1336] })
        yield* store.blocks.append([blockAt(500), blockAt(501)])
        assert.deepStrictEqual(yield* read(4), { slots: [1501, 1500, 1400, 1300], asked: [1336] })
        assert.deepStrictEqual(yield* read(2), { slots: [1501, 1500], asked: [1437] })
        // Of reads at once only the first one asks for everything.
        asked.length = 0
        yield* Effect.all([rowsOf(chain?.id ?? 0, wallet, 5), rowsOf(chain?.id ?? 0, wallet, 5)], { concurrency: 2 })
        assert.deepStrictEqual(asked, [-1, 1437])
        // More rows than are kept.
        assert.deepStrictEqual(yield* read(6), { slots: [1501, 1500, 1400, 1300, 1200, 1100], asked: [-1] })
        const repair = { gap: null, first: null, found: [], batches: [], repriced: [] }
        yield* store.blocks.repair({ ...repair, batches: [blockAt(350)] })
        assert.deepStrictEqual(yield* read(6), { slots: [1501, 1500, 1400, 1350, 1300, 1200], asked: [1437, -1] })
        const repriced = blockAt(300).trades.map((each) => ({ ...each, priceUsd: 7 }))
        yield* store.blocks.repair({ ...repair, repriced })
        assert.deepStrictEqual((yield* read(6)).asked, [1437, -1])
        // A repair that does not count changes what is missing.
        yield* store.blocks.append([{ ...blockAt(600), afterGap: true }])
        yield* read(6)
        const gap = { fromSlot: 1502, left: [] }
        yield* store.blocks.repair({ ...repair, batches: [blockAt(510)], gap, counts: false })
        assert.deepStrictEqual(yield* read(6), { slots: [1600, 1510, 1501, 1500, 1400, 1350], asked: [1536, -1] })
      }).pipe(Effect.scoped)
  )

  it.effect("of a wallet do not wait long for a read that is stuck", () =>
    Effect.gen(function* () {
      const asked = { times: 0 }
      const rowsOf = makeWalletRows({
        ofWalletNow: () =>
          Effect.suspend(() => (++asked.times === 1 ? Effect.never : Effect.succeed({ mark: null, rows: [] })))
      })
      const stuck = yield* Effect.forkChild(rowsOf(1, walletOf(1), 10), { startImmediately: true })
      const next = yield* Effect.forkChild(rowsOf(1, walletOf(1), 10), { startImmediately: true })
      yield* TestClock.adjust("299 millis")
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Fiber.join(next), [])
      yield* Fiber.interrupt(stuck)
      assert.deepStrictEqual(yield* rowsOf(1, walletOf(1), 10), [])
    })
  )

  it.live("of a wallet are read in one statement that the planner takes for the statement of a large wallet", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* store.blocks.open({ genesis: "planned", isSandbox: false })
      const blocks = Array.from({ length: 40 }, (_, second) =>
        storedBlock(
          second,
          Array.from({ length: 40 }, (_each, n) => ({ wallet: walletOf(n % 3) }))
        )
      )
      yield* store.blocks.append(blocks)
      const sql = yield* sqlOf(address)
      yield* sql`analyze trade_rows`
      const table = makeTradeTable(sql, makeTradeNames(sql))
      const { statements, tracer } = spansKept()
      const request = { kind: "trades", mint: null, side: null, fromMs: null, toMs: null, limit: 2 } as const
      const before = { slot: 2000, index: 0 }
      const reads = [
        Effect.asVoid(table.ofWallet(1, walletOf(1), 2)),
        Effect.asVoid(table.ofWalletNow(1, walletOf(1), 2)),
        Effect.asVoid(makeOlder(sql, table)(1, { ...request, wallet: walletOf(1), before }))
      ]
      yield* Effect.forEach(reads, (read) => Effect.withTracer(read, tracer), { discard: true })
      // A transaction would not let go of a connection that is dead.
      const texts = statements().map(String)
      assert.isEmpty(texts.filter((text) => /begin|set local/iu.test(text)))
      const read = texts.filter((text) => text.includes("substr(wallet"))
      assert.lengthOf(read, 3)
      read.forEach((text) => assert.include(text, "case when wallet ="))
    }).pipe(Effect.scoped)
  )

  it.live("have changes of liquidity of a pool that its own index finds, also with a mint", () =>
    Effect.gen(function* () {
      const sql = yield* sqlOf(yield* TestDatabase.create)
      const request = { kind: null, fromMs: null, toMs: null, before: null, limit: 5 }
      const { statements, tracer } = spansKept()
      const ofPool = { ...request, mint: mintOf(1), pool: addressOf(5, 1) }
      yield* makeLiquidityTable(sql).of(1, ofPool).pipe(Effect.withTracer(tracer))
      const [statement, ...others] = statements()
      assert.lengthOf(others, 0)
      assert.match(String(statement), /where chain = \$1 and pool = \$2/u)
    }).pipe(Effect.scoped)
  )

  it.live("are there for the next process, including closed candles", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const first = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* first.blocks.open({ genesis: "kept", isSandbox: false })
      const blocks = [0, 30, 90, 4000, 9000].map((second) => storedBlock(second, [{ priceUsd: second + 1 }]))
      yield* first.blocks.append(blocks)
      yield* first.blocks.closeBars
      const second = yield* storesOf(storesOn(TestDatabase.connect(address)))
      assert.strictEqual((yield* second.blocks.open({ genesis: "kept", isSandbox: false }))?.slot, 10_000)
      const all = yield* Stream.runCollect(second.blocks.since({ second: 0, after: 0, most: 10 }))
      assert.deepStrictEqual(Array.from(all), blocks)
      const request = { mint: mintOf(1), resolution: "1m", from: null, before: MONDAY + 9001, limit: 10 } as const
      const before = yield* first.candles.bars(request)
      assert.strictEqual(before.cells.length, 4 * BAR)
      assert.deepStrictEqual(yield* second.candles.bars(request), before)
    })
  )

  it.live("are visible to a reader while another process writes them; the reader writes nothing", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const chain = { genesis: "followed", isSandbox: false }
      const writer = yield* storesOf(storesOn(TestDatabase.connect(address)))
      const reader = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* writer.blocks.open(chain)
      assert.isNull(yield* reader.blocks.open(chain, "read"))
      const blocks = [0, 30, 90, 4000].map((second) => storedBlock(second, [{ priceUsd: second + 1 }]))
      yield* writer.blocks.append(blocks)
      yield* writer.blocks.closeBars
      assert.strictEqual((yield* reader.blocks.progress)?.slot, 5000)
      const request = { mint: mintOf(1), resolution: "1m", from: null, before: MONDAY + 9001, limit: 10 } as const
      assert.deepStrictEqual(yield* reader.candles.bars(request), yield* writer.candles.bars(request))
      assert.deepStrictEqual(
        Array.from(yield* Stream.runCollect(reader.blocks.since({ second: 0, after: 0, most: 10 }))),
        blocks
      )
      assert.include(`${(yield* Effect.flip(reader.blocks.append(blocks))).cause}`, "open for reading")
      assert.include(`${(yield* Effect.flip(reader.blocks.closeBars)).cause}`, "open for reading")
    })
  )

  it.live("are written only by the last process that claimed to be the only writer", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const chain = { genesis: "claimed", isSandbox: false }
      const first = yield* storesOf(storesOn(TestDatabase.connect(address)))
      const second = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* first.blocks.open(chain, "sole")
      yield* first.blocks.append([storedBlock(0, [{}])])
      assert.strictEqual((yield* second.blocks.open(chain, "sole"))?.slot, 1000)
      yield* second.blocks.append([storedBlock(30, [{}]), storedBlock(90, [{}])])
      // Without the term it would set the progress back.
      assert.include(
        `${(yield* Effect.flip(first.blocks.append([storedBlock(30, [{}])]))).cause}`,
        "another process writes"
      )
      yield* first.blocks.open(chain, "read")
      assert.strictEqual((yield* first.blocks.progress)?.slot, 1090)
      yield* second.blocks.append([storedBlock(120, [{}])])
      assert.strictEqual((yield* second.blocks.progress)?.slot, 1120)
    })
  )

  it.live(
    "are made into arrays before the transaction that stores them begins, so that it is never idle meanwhile",
    () =>
      Effect.gen(function* () {
        const store = yield* storesOf(storesOn(TestDatabase.connect(yield* TestDatabase.create)))
        yield* store.blocks.open({ genesis: "slow arrays", isSandbox: false }, "sole")
        yield* store.blocks.append([0, 30, 90_000].map((second) => storedBlock(second, [{}])))
        yield* store.blocks.closeBars
        const { statements, tracer } = spansKept()
        const isBegun = () => statements().some((text) => String(text).includes("idle_in_transaction_session_timeout"))
        const reads = { before: 0, within: 0 }
        const late = storedBlock(31, [{ mint: mintOf(7) }], {
          transfers: [trade({ slot: 1031, index: 5, timeMs: (MONDAY + 31) * 1000, role: "transfer" })],
          launches: [{ event: "created", mint: mintOf(7), launchpad: "pumpfun", pool: null }],
          supply: [{ mint: mintOf(7), change: 5n }]
        })
        const batch = watched(late, () => {
          reads[isBegun() ? "within" : "before"]++
        })
        yield* store.blocks.append([batch]).pipe(Effect.withTracer(tracer))
        assert.isTrue(isBegun())
        assert.isAbove(reads.before, 0)
        assert.strictEqual(reads.within, 0)
        assert.lengthOf(yield* store.candles.revised(MONDAY), 3)
      })
  )

  it.live("are prepared in turns of the loop, with one statement for five hundred", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* store.blocks.open({ genesis: "in turns", isSandbox: false })
      yield* store.blocks.append([storedBlock(0, [{}])])
      const sql = yield* sqlOf(address)
      const table = makeTradeTable(sql, makeTradeNames(sql))
      const trades = Array.from({ length: 1400 }, (_, index) =>
        trade({ slot: 2000, index, timeMs: MONDAY * 1000, wallet: walletOf(index) })
      )
      // The names are known by then, so that nothing waits for the database.
      yield* table.insertTrades(1, trades)
      const clock = { readings: 0 }
      const monotonicTimeNanosUnsafe = () => BigInt(1e6 * clock.readings++)
      const always: Clock.Clock = Object.assign(Object.create(yield* Clock.Clock), { monotonicTimeNanosUnsafe })
      const turns = { count: 0, isOver: false }
      const next = () => void (turns.count++, turns.isOver || setImmediate(next))
      setImmediate(next)
      const insert = yield* table.insertTrades(1, trades).pipe(Effect.provideService(Clock.Clock, always))
      turns.isOver = true
      // Names and wide columns after each fourth row, and each fourth of the other columns.
      assert.isAbove(turns.count, 2 * 340 + 3 * 6)
      const { statements, tracer } = spansKept()
      yield* Effect.withTracer(insert, tracer)
      assert.lengthOf(statements(), 3)
    }).pipe(Effect.scoped)
  )

  it.live("that come late enter the closed candles of every width, and only they raise the revision", () =>
    Effect.gen(function* () {
      const store = yield* storesOf(storesOn(TestDatabase.connect(yield* TestDatabase.create)))
      yield* store.blocks.open({ genesis: "late", isSandbox: false })
      const of = Effect.fnUntraced(function* (resolution: "1m" | "1h" | "1d" | "5m") {
        const request = { mint: mintOf(1), resolution, from: null, before: MONDAY + 90_000, limit: 9 }
        const stored = yield* store.candles.bars(request)
        const { bars } = foldBars(walkStored(stored), { ...request, to: null, denom: "sol" }, false)
        return bars.map(({ high, revision, traders, trades }) => [trades, revision, high, traders])
      })
      const blocks = [0, 30, 200, 90_000].map((second) => storedBlock(second, [{}]))
      yield* store.blocks.append(blocks)
      yield* store.blocks.closeBars
      assert.deepStrictEqual(yield* of("1m"), [
        [2, 0, 0.01, 1],
        [1, 0, 0.01, 1]
      ])
      yield* store.blocks.append(blocks)
      assert.deepStrictEqual(yield* of("1d"), [[3, 0, 0.01, null]])
      const late = storedBlock(31, [{ lamports: 50_000_000n, wallet: walletOf(2) }, { mint: mintOf(2) }])
      yield* store.blocks.append([late])
      yield* store.blocks.append([late, storedBlock(90_001, [{}])])
      yield* store.blocks.closeBars
      assert.deepStrictEqual(yield* of("1m"), [
        [3, 1, 0.05, 2],
        [1, 0, 0.01, 1]
      ])
      for (const resolution of ["5m", "1h", "1d"] as const) {
        assert.deepStrictEqual(yield* of(resolution), [[4, 1, 0.05, null]], resolution)
      }
      const marked = (yield* store.candles.revised(MONDAY)).map(({ mint, revision, second, width }) => [
        mint,
        width,
        second,
        revision
      ])
      assert.sameDeepMembers(
        marked,
        [60, 3600, 86_400].flatMap((width) => [1, 2].map((n) => [mintOf(n), width, MONDAY, 1]))
      )
      assert.deepStrictEqual(yield* store.candles.revised(MONDAY + 1), [])
      yield* store.blocks.append([storedBlock(100, [{}])])
      assert.deepStrictEqual((yield* of("1m"))[1], [1, 1, 0.01, 1])
    })
  )

  it.live("of a sandbox are deleted once another chain has replaced it; those of a real chain stay", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* sqlOf(address)
      const store = yield* storesOf(storesOn(TestDatabase.connect(address)))
      for (const [genesis, isSandbox] of [
        ["real", false],
        ["old sandbox", true],
        ["sandbox", true]
      ] as const) {
        yield* store.blocks.open({ genesis, isSandbox })
        yield* store.blocks.append([storedBlock(1, [{}, {}], { launches: [] })])
      }
      yield* sql`update chains set written_at = now() - interval '1 hour'`
      const later = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* later.blocks.open({ genesis: "sandbox", isSandbox: true })
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
      const store = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* store.blocks.open(chain)
      yield* store.blocks.append([storedBlock(1, [], { supply: [{ mint: mintOf(1), change: 5n }] })])
      const asked = { mint: mintOf(1), from: 0, most: 10 }
      assert.isBelow((yield* store.trades.supplyOf(asked)).from, MONDAY)
      // As the migration leaves a chain that has blocks.
      yield* sql`update chains set supply_from = slot_at + interval '1 second'`
      const later = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* later.blocks.open(chain)
      const { changes, from, toSlot } = yield* later.trades.supplyOf(asked)
      assert.deepStrictEqual(changes, [{ slot: 1001, second: MONDAY + 1, change: 5n }])
      assert.deepStrictEqual([from, toSlot], [MONDAY + 2, 1001])
    })
  )

  it.live("are dropped by the day once they are too old, and days are made ahead", () =>
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
      const first = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* first.blocks.open({ genesis: "aging", isSandbox: false })
      for (const [slot, day] of [-9, -5, -1].entries()) {
        const timeMs = nowMs + day * DAY_MS
        yield* first.blocks.append([{ ...storedBlock(slot), timeMs, trades: [trade({ slot, timeMs })] }])
      }
      assert.includeMembers(yield* days, [-9, -5, -1, 0, 1, 2].map(nameAt))
      const keeps = ConfigProvider.layer(ConfigProvider.fromUnknown({ TRADES_KEPT: "4 days" }))
      const second = yield* storesOf(MarketStoresPg.layer.pipe(Layer.provide([TestDatabase.connect(address), keeps])))
      const kept = [-1, 0, 1, 2].map(nameAt)
      yield* Effect.repeat(days, { until: (all) => all.length === kept.length }).pipe(Effect.timeout("10 seconds"))
      assert.deepStrictEqual(yield* days, kept)
      yield* second.blocks.open({ genesis: "aging", isSandbox: false })
      const openings = yield* second.trades.openingOf(walletOf(1))
      assert.isAtLeast(openings.from, Math.ceil(nowMs / 1000) - 4 * 86_400)
      assert.strictEqual(openings.toMs, nowMs - DAY_MS)
      const left = yield* Stream.runCollect(second.blocks.since({ second: 0, after: 0, most: 10 }))
      assert.lengthOf(Array.from(left), 1)
    })
  )

  it.live("cannot be read while the database is frozen, and can be read once it is back", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* storesOf(storesOn(TestDatabase.connect(proxy.address)))
      yield* store.blocks.open({ genesis: "frozen", isSandbox: false })
      yield* store.blocks.append([storedBlock(1, [{}])])
      yield* proxy.freeze
      const bars = { mint: mintOf(1), resolution: "1m", from: null, before: MONDAY + 60, limit: 1 } as const
      const questions = [store.trades.ofWallet(walletOf(1), 1), store.candles.bars(bars)].map(asked).map(Effect.timed)
      for (const [took, error] of yield* Effect.all(questions, { concurrency: "unbounded" })) {
        assert.strictEqual(error._tag, "TradeStoreUnavailable")
        assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
      }
      yield* proxy.thaw
      assert.lengthOf(yield* Effect.eventually(store.trades.ofWallet(walletOf(1), 5)), 1)
    })
  )
})
