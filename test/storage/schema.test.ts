import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { migrations } from "../../src/storage/migrations.ts"
import { appliedMigrations, migrate, type Migrations, migrateTo } from "../../src/storage/schema.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { contents, definitions, fill } from "./backup/filled.ts"
import { makeOldSchema, recordAs, STEPS } from "./schemaSteps.ts"

const empty = Layer.unwrap(Effect.map(TestDatabase.createEmpty, TestDatabase.connect))

/** All rows but the record of the migrations, and the definitions of all tables. */
const state = Effect.gen(function* () {
  const { rows, sequences } = yield* contents
  const { schema_migrations: _record, ...others } = rows
  return { rows: others, sequences, definitions: yield* definitions }
})

const makeTable = (name: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`create table ${sql(name)} (id integer)`))

describe.runIf(TestDatabase.isAvailable)("migrate", () => {
  it.live("runs once when three processes start at once", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.createEmpty
      const clients = yield* Effect.forEach([1, 2, 3], () => Layer.build(TestDatabase.connect(address)))
      yield* Effect.forEach(clients, (client) => Effect.provide(migrate, client), { concurrency: "unbounded" })
      for (const client of clients) {
        assert.deepStrictEqual(yield* Effect.provide(appliedMigrations, client), Object.keys(migrations))
      }
    })
  )

  it.live("runs for a role with any name that the documents give it", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.createEmpty
      const sql = SqlClient.SqlClient
      const makeRole = Effect.flatMap(sql, (query) => query`create role fathom superuser login`)
      // Another test of the same server may have made it.
      yield* makeRole.pipe(Effect.ignore, Effect.provide(TestDatabase.connect(address)))
      const own = yield* Layer.build(TestDatabase.connect({ ...address, username: "fathom" }))
      yield* Effect.provide(migrate, own)
      // PostgreSQL looks for a table in a schema with the name of the role first.
      const tables = Effect.flatMap(sql, (query) => query`select 1 from chains limit 1`)
      assert.deepStrictEqual(yield* Effect.provide(tables, own), [])
    }).pipe(Effect.scoped)
  )

  it.live("does not hold up readers while a table is in use, and runs once the table is free", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.createEmpty
      const clientOf = Effect.map(Layer.build(TestDatabase.connect(address)), Context.get(SqlClient.SqlClient))
      const [reader, migrator] = [yield* clientOf, yield* clientOf]
      yield* Effect.provideService(migrate, SqlClient.SqlClient, migrator)
      const change: Migrations = {
        ...migrations,
        "9001_change": Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.asVoid(sql`alter table plans add column later integer`)
        )
      }
      const isFree = yield* Deferred.make<void>()
      const isOpen = yield* Deferred.make<void>()
      const longRead = reader.withTransaction(
        Effect.gen(function* () {
          yield* reader`select count(*) from plans`
          yield* Deferred.succeed(isOpen, undefined)
          yield* Deferred.await(isFree)
        })
      )
      const reading = yield* Effect.forkScoped(longRead)
      yield* Deferred.await(isOpen)
      const changing = yield* Effect.forkScoped(Effect.provideService(migrateTo(change), SqlClient.SqlClient, migrator))
      // The migration waits behind the read, and this one behind the migration, until the migration gives up.
      const waits = reader`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter table plans%'`
      yield* Effect.repeat(waits, { until: (rows) => rows.length > 0, schedule: Schedule.spaced("20 millis") })
      yield* reader`select count(*) from plans`
      assert.isUndefined(changing.pollUnsafe())
      yield* Deferred.succeed(isFree, undefined)
      yield* Fiber.join(reading)
      yield* Fiber.join(changing)
      assert.deepStrictEqual(yield* reader`select later from plans where later is not null`, [])
    }).pipe(Effect.scoped)
  )

  it.live("changes nothing when it has run before", () =>
    Effect.gen(function* () {
      const before = { state: yield* state, applied: yield* appliedMigrations }
      yield* migrate
      assert.deepStrictEqual({ state: yield* state, applied: yield* appliedMigrations }, before)
    }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live("refuses a database that a later version has migrated, and names the migrations", () =>
    Effect.gen(function* () {
      yield* recordAs([...Object.keys(migrations), "9001_later", "9002_latest"])
      const error = yield* Effect.flip(migrate)
      assert.strictEqual(error._tag, "SchemaTooNew")
      assert.include(error.message, "9001_later, 9002_latest")
    }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live("applies a migration whose number is lower than the newest one of the database", () =>
    Effect.gen(function* () {
      const early = { ...migrations, "9003_third": makeTable("third") }
      const all: Migrations = {
        ...migrations,
        "9001_first": makeTable("first"),
        "9002_second": makeTable("second"),
        "9003_third": makeTable("third"),
        "9004_fourth": makeTable("fourth")
      }
      yield* migrateTo(early)
      yield* migrateTo(all)
      assert.deepStrictEqual(yield* appliedMigrations, Object.keys(all))
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`select first.id from first, second, third, fourth`, [])
    }).pipe(Effect.provide(empty))
  )
})

describe.runIf(TestDatabase.isAvailable)("the schema", () => {
  it.live("is the one that migrations 0001 to 0059 made", () =>
    Effect.gen(function* () {
      const [old, made] = yield* Effect.forEach(
        [makeOldSchema, migrateTo({ "0060_schema": migrations["0060_schema"] })],
        (make) => Effect.provide(Effect.andThen(make, definitions), empty)
      )
      assert.isAbove(old?.length ?? 0, 500)
      assert.deepStrictEqual(made, old)
    })
  )

  it.live("is adopted from a database that an earlier version brought to migration 0059, which keeps every row", () =>
    Effect.gen(function* () {
      yield* makeOldSchema
      assert.deepStrictEqual(yield* appliedMigrations, STEPS)
      yield* fill(3)
      const before = yield* state
      const later: Migrations = { "0060_schema": migrations["0060_schema"], "9001_later": makeTable("later") }
      yield* migrateTo(later)
      assert.deepStrictEqual(yield* appliedMigrations, Object.keys(later))
      const sql = yield* SqlClient.SqlClient
      yield* sql`drop table later`
      assert.deepStrictEqual(yield* state, before)
    }).pipe(Effect.provide(empty))
  )

  it.live.each([
    ["of an earlier version", STEPS.slice(0, -1)],
    ["that lacks one of the steps", STEPS.filter((name) => name !== "0041_key_addresses")],
    ["of the first version", STEPS.slice(0, 1)]
  ] as const)("refuses a database %s, names the version that upgrades it, and changes nothing", ([, names]) =>
    Effect.gen(function* () {
      yield* recordAs(names)
      const error = yield* Effect.flip(migrate)
      assert.strictEqual(error._tag, "SchemaTooOld")
      assert.include(error.message, "start version 0.1.0")
      assert.deepStrictEqual(yield* appliedMigrations, names)
    }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live("refuses a database whose trades are still being moved out of their first table", () =>
    Effect.gen(function* () {
      yield* recordAs(STEPS)
      yield* makeTable("old_trades")
      const error = yield* Effect.flip(migrate)
      assert.strictEqual(error._tag, "TradesUnconverted")
      assert.include(error.message, "without CLICKHOUSE_URL")
      assert.deepStrictEqual(yield* appliedMigrations, STEPS)
    }).pipe(Effect.provide(TestDatabase.layer))
  )
})
