import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makePartitions, partitionOf } from "../../../src/market/history/tradePartitions.ts"
import { transaction } from "../../../src/storage/transaction.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { MONDAY } from "../tape/tape.ts"

const DAY_MS = 86_400_000
const NEXT_MS = MONDAY + DAY_MS

const sqlOf = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(TestDatabase.connect(address)), (context) => Context.get(context, SqlClient.SqlClient))

const Definitions = Schema.Array(Schema.Struct({ definition: Schema.String }))
const Names = Schema.Array(Schema.Struct({ name: Schema.String }))

/** Columns, checks and indexes of a table, without its name. */
const definitionOf = (sql: SqlClient.SqlClient, table: string) =>
  sql`
    select definition from (
      select column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') || ' '
        || coalesce(collation_name, '') as definition
      from information_schema.columns where table_name = ${table}
      union all
      select regexp_replace(indexdef, '^.* USING', case when indexdef like '%UNIQUE%' then 'unique' else '' end)
      from pg_indexes where tablename = ${table}
      union all
      select storage.attname || ' ' || storage.attstorage::text || storage.attcompression::text
      from pg_attribute as storage where attrelid = ${table}::regclass and attnum > 0
    ) as of_table order by definition
  `.pipe(Effect.flatMap(Schema.decodeUnknownEffect(Definitions)))

describe.runIf(TestDatabase.isAvailable)("daily partitions", { concurrent: true }, () => {
  // A lock that waits for a writer can deadlock with it, because the writer of a block takes both tables in its own
  // order.
  it.live("are created while a writer and a reader hold the tables", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [writer, keeper] = [yield* sqlOf(address), yield* sqlOf(address)]
      yield* makePartitions(keeper).ensure([MONDAY])
      const found = yield* transaction(
        writer,
        Effect.gen(function* () {
          // The locks of an insert and of a query, until the transaction ends.
          yield* writer`lock table bars, minute_bars, trade_rows in row exclusive mode`
          yield* writer`select count(*) from trade_rows`
          yield* makePartitions(keeper).ensure([MONDAY, NEXT_MS])
          return yield* keeper`
            select inhrelid::regclass::text as name from pg_inherits
            where inhparent in ('trade_rows'::regclass, 'minute_bars'::regclass) order by name
          `.pipe(Effect.flatMap(Schema.decodeUnknownEffect(Names)))
        })
      )
      const days = [MONDAY, NEXT_MS].map((ms) => new Date(ms).toISOString().slice(0, 10).replaceAll("-", ""))
      assert.deepStrictEqual(
        found.map(({ name }) => name),
        ["minute_bars", "trade_rows"].flatMap((table) => days.map((day) => `${table}_${day}`))
      )
    }).pipe(Effect.scoped)
  )

  it.live("look as if PostgreSQL itself had created them", () =>
    Effect.gen(function* () {
      const sql = yield* sqlOf(yield* TestDatabase.create)
      yield* makePartitions(sql).ensure([MONDAY])
      const day = new Date(MONDAY).toISOString().slice(0, 10).replaceAll("-", "")
      for (const [table, own] of [
        ["trade_rows", 1],
        ["minute_bars", 0]
      ] as const) {
        yield* sql`create table ${sql(`${table}_direct`)} partition of ${sql(table)} for values from ('2001-01-01') to ('2001-01-02')`
        const [made, direct] = [
          yield* definitionOf(sql, `${table}_${day}`),
          yield* definitionOf(sql, `${table}_direct`)
        ]
        assert.isAbove(direct.length, 10)
        // A day of trades has the unique index that the table across days cannot have.
        assert.strictEqual(made.length - direct.length, own)
        const lines = new Set(made.map(({ definition }) => definition))
        assert.deepStrictEqual(
          direct.filter(({ definition }) => !lines.has(definition)),
          []
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("are dropped beside an export of another day, and later while the table is being read", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [reader, keeper] = [yield* sqlOf(address), yield* sqlOf(address)]
      const { dropBefore, ensure } = makePartitions(keeper)
      yield* ensure([MONDAY, NEXT_MS, NEXT_MS + DAY_MS])
      const days = Effect.map(
        Effect.flatMap(
          keeper`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'trade_rows'::regclass order by name`,
          Schema.decodeUnknownEffect(Names)
        ),
        (rows) => rows.map(({ name }) => name)
      )
      const [first = "", second = "", third = ""] = yield* days
      assert.strictEqual(partitionOf("trade_rows", MONDAY), first)
      yield* transaction(
        reader,
        Effect.gen(function* () {
          yield* reader`select count(*) from ${reader(third)}`
          yield* dropBefore("trade_rows", NEXT_MS)
          assert.deepStrictEqual(yield* days, [second, third])
          yield* reader`select count(*) from trade_rows`
          yield* dropBefore("trade_rows", NEXT_MS + DAY_MS)
          assert.deepStrictEqual(yield* days, [second, third])
        })
      )
      yield* dropBefore("trade_rows", NEXT_MS + DAY_MS)
      assert.deepStrictEqual(yield* days, [third])
    }).pipe(Effect.scoped)
  )

  it.live("are created once by two processes at the same time", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [one, other] = [yield* sqlOf(address), yield* sqlOf(address)]
      yield* Effect.all([makePartitions(one).ensure([MONDAY]), makePartitions(other).ensure([MONDAY])], {
        concurrency: 2
      })
      // A process that starts again does not know which days exist.
      yield* makePartitions(one).ensure([MONDAY])
    }).pipe(Effect.scoped)
  )
})
