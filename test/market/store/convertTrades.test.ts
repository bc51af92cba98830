import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Record, Schema, Stream } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { foldBars, walkStored } from "../../../src/market/candles/foldBars.ts"
import { closedBefore } from "../../../src/market/candles/barSpans.ts"
import type { StoredBatch } from "../../../src/market/store/StoredBatch.ts"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import type { TapeTrade } from "../../../src/market/tape/TapeTrade.ts"
import { migrate } from "../../../src/storage/schema.ts"
import { migrations } from "../../../src/storage/migrations.ts"
import { cutOff } from "../../support/lostConnection.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { tradeStoreOf } from "../../support/tradeStores.ts"
import { makeTape, mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"

const DAY = 86_400
const chain = { genesis: "older", isSandbox: false }
const SIGNATURE = "5".repeat(87)

const roles = ["both", "pool", "wallet"] as const

/** Three days of trades with every odd value. */
const trades: ReadonlyArray<TapeTrade> = [
  ...makeTape({ seed: 5, trades: 300, tokens: 4, wallets: 9, paceSeconds: 600 }).map((each, i) => ({
    ...each,
    role: roles[i % roles.length] ?? ("both" as const),
    signature: i % 2 === 0 ? SIGNATURE : each.signature,
    pool: i % 5 === 0 ? mintOf(100 + i) : null,
    launchpad: i % 7 === 0 ? "pump-fun" : null,
    // Older versions did not store it.
    solUsdNanos: null
  })),
  trade({
    slot: 9_999_999,
    timeMs: (MONDAY + 3 * DAY) * 1000,
    amount: MAX_U64,
    lamports: null,
    decimals: null,
    priceUsd: null,
    volumeUsdNanos: MAX_U64,
    dex: null,
    // As many bytes as a raw signature.
    signature: "0".repeat(64)
  })
]

const blocks: ReadonlyArray<StoredBatch> = Array.from(
  Map.groupBy(trades, ({ slot }) => slot),
  ([slot, of]) => ({ slot, timeMs: of[0]?.timeMs ?? 0, trades: of, launches: [], afterGap: false })
).map((block) => ({ ...block, trades: block.trades.map((each) => ({ ...each, timeMs: block.timeMs })) }))

const nameOf = (day: number) => `trades_${new Date(day * DAY * 1000).toISOString().slice(0, 10).replaceAll("-", "")}`
const startOf = (day: number) => `'${new Date(day * DAY * 1000).toISOString()}'`

const sqlOf = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(TestDatabase.connect(address)), (context) => Context.get(context, SqlClient.SqlClient))

/** A database as an older version left it, with the blocks in its tables. */
const olderDatabase = Effect.gen(function* () {
  const address = yield* TestDatabase.createEmpty
  const sql = yield* sqlOf(address)
  const before = Record.filter(migrations, (_, name) => name < "0020")
  yield* Migrator.make({})({ loader: Migrator.fromRecord(before), table: "schema_migrations" }).pipe(
    Effect.provideService(SqlClient.SqlClient, sql)
  )
  const [first, last] = [MONDAY / DAY, MONDAY / DAY + 3]
  for (let day = first; day <= last; day++) {
    yield* sql`
      create table ${sql(nameOf(day))} partition of trades
      for values from (${sql.literal(startOf(day))}) to (${sql.literal(startOf(day + 1))})
    `
  }
  const closed = closedBefore(MONDAY)
  yield* sql`
    insert into chains
      (genesis, is_sandbox, slot, slot_at, read_from, unbroken_from, minutes_to, hours_to, days_to, written_at)
    select 'older', false, 9999999, to_timestamp(${MONDAY + 3 * DAY}::int), to_timestamp(${MONDAY}::int),
      to_timestamp(${MONDAY}::int), to_timestamp(${closed.minutes}::int), to_timestamp(${closed.hours}::int),
      to_timestamp(${closed.days}::int), now()
  `
  for (const each of blocks.flatMap((block) => block.trades)) {
    yield* sql`
      insert into trades (
        mint, chain, slot, place, at, role, signature, wallet, is_buy, amount, decimals, lamports, price_usd,
        volume_usd_nanos, pool, dex, launchpad
      )
      select ${each.mint}, id, ${each.slot}::int, ${each.index}::int, to_timestamp(${each.timeMs / 1000}::float8),
        ${each.role}, ${each.signature}, ${each.wallet}, ${each.side === "buy"}, ${`${each.amount}`}::numeric,
        ${each.decimals}::smallint, ${each.lamports === null ? null : `${each.lamports}`}::numeric,
        ${each.priceUsd}::float8, ${each.volumeUsdNanos === null ? null : `${each.volumeUsdNanos}`}::numeric,
        ${each.pool}::text, ${each.dex}::text, ${each.launchpad}::text
      from chains
    `
  }
  return { address, sql }
})

const open = Effect.fnUntraced(function* (layer: Layer.Layer<TradeStore, unknown>) {
  const store = Context.get(yield* Effect.orDie(Layer.build(Layer.fresh(layer))), TradeStore)
  const progress = yield* store.open(chain)
  return { store, progress }
})

/** Every read of a store. */
const reads = (store: TradeStore["Service"]) =>
  Effect.all({
    all: Effect.map(Stream.runCollect(store.since({ second: MONDAY, after: 0, most: 1_000_000 })), (found) =>
      Array.from(found)
    ),
    newest: Effect.map(Stream.runCollect(store.since({ second: MONDAY, after: 0, most: 1 })), (found) =>
      Array.from(found)
    ),
    wallets: Effect.forEach([0, 1, 5], (n) => store.ofWallet(walletOf(n), 50)),
    bars: Effect.forEach(["1s", "1m", "1h", "1d"] as const, (resolution) =>
      Effect.map(
        store.bars({ mint: mintOf(0), resolution, from: null, before: MONDAY + 4 * DAY, limit: 1000 }),
        (stored) => foldBars(walkStored(stored), { resolution, from: null, to: null, limit: 1000 }, false)
      )
    )
  })

const Tables = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ rows: Schema.Number, old: Schema.Boolean })))

const tables = (sql: SqlClient.SqlClient) =>
  sql`select (select count(*) from trade_rows)::int as rows, to_regclass('old_trades') is not null as old`.pipe(
    Effect.flatMap((rows) => Tables(rows))
  )

describe.runIf(TestDatabase.isAvailable)("trades of an older version", () => {
  it.live("read the same after they are converted, and are there once when their blocks come again", () =>
    Effect.gen(function* () {
      const { address, sql } = yield* olderDatabase
      const memory = yield* open(TradeStore.layerMemory)
      yield* memory.store.append(blocks)
      const expected = yield* reads(memory.store)
      assert.isAbove(expected.wallets.flat().length, 10)

      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      assert.deepStrictEqual(yield* tables(sql), [{ rows: 0, old: true }])
      const { progress, store } = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      assert.strictEqual(progress?.slot, 9_999_999)
      assert.deepStrictEqual(yield* reads(store), expected)
      assert.deepStrictEqual(yield* tables(sql), [{ rows: trades.length, old: false }])

      yield* store.append(blocks)
      assert.deepStrictEqual(yield* reads(store), expected)
    })
  )

  it.live("are converted once by two processes that start together", () =>
    Effect.gen(function* () {
      const { address, sql } = yield* olderDatabase
      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      const opened = yield* Effect.forEach([1, 2], () => open(tradeStoreOf(TestDatabase.connect(address))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* tables(sql), [{ rows: trades.length, old: false }])
      for (const { store } of opened) {
        assert.lengthOf((yield* reads(store)).all, blocks.length)
      }
    })
  )

  it.live("are converted further after the connection was lost between two days", () =>
    Effect.gen(function* () {
      const { address, sql } = yield* olderDatabase
      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      const exit = yield* cutOff(address, nameOf(MONDAY / DAY + 1), open(tradeStoreOf(TestDatabase.connect(address))))
      const error = yield* Effect.flip(exit)
      assert.strictEqual(error._tag, "TradeStoreUnavailable")
      const [half] = yield* tables(sql)
      assert.isTrue(half?.old)
      assert.isAbove(half?.rows ?? 0, 0)
      assert.isBelow(half?.rows ?? 0, trades.length)
      const { store } = yield* open(tradeStoreOf(TestDatabase.connect(address)))
      assert.deepStrictEqual(yield* tables(sql), [{ rows: trades.length, old: false }])
      assert.lengthOf((yield* reads(store)).all, blocks.length)
    })
  )

  it.live("are neither read nor written by a process of that version any more, and nothing is lost", () =>
    Effect.gen(function* () {
      const { address, sql } = yield* olderDatabase
      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      const error = yield* Effect.flip(sql`
        insert into trades (mint, chain, slot, place, at, role, signature, wallet, is_buy, amount)
        values ('m', 1, 1, 1, now(), 'both', 's', 'w', true, 1)
      `)
      assert.match(String(error.reason.cause), /view/u)
      yield* open(tradeStoreOf(TestDatabase.connect(address)))
      assert.deepStrictEqual(yield* tables(sql), [{ rows: trades.length, old: false }])
    })
  )
})
