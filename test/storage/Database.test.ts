import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Duration, Effect, Exit, Layer, Option, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Database from "../../src/storage/Database.ts"
import { migrations } from "../../src/storage/migrations.ts"
import { appliedMigrations as applied } from "../../src/storage/schema.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-db-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const withSettings = (settings: Record<string, string>) =>
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))

describe.runIf(TestDatabase.isAvailable)("Database.layer", () => {
  it.live("makes and migrates a database in DATA_DIR without other settings", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const layer = Database.layer.pipe(withSettings({ DATA_DIR: folder }))
      assert.deepStrictEqual(yield* Effect.provide(applied, layer), Object.keys(migrations))
    })
  )

  it.live("serves a command beside the process that owns DATA_DIR, which remains the only owner", () =>
    Effect.gen(function* () {
      const settings = withSettings({ DATA_DIR: yield* temporaryFolder })
      yield* Layer.build(Database.layer.pipe(settings))
      assert.deepStrictEqual(
        yield* Effect.provide(applied, Database.layerBeside.pipe(settings)),
        Object.keys(migrations)
      )
      const error = yield* Effect.flip(Effect.provide(applied, Layer.fresh(Database.layer).pipe(settings)))
      assert.strictEqual(error._tag, "FolderInUse")
    })
  )

  it.live("uses the server that DATABASE_URL names, and translates names both ways", () =>
    Effect.gen(function* () {
      const { database, host } = yield* TestDatabase.create
      const url = `postgres://postgres@localhost/${database}?host=${encodeURIComponent(host)}`
      const layer = Database.layer.pipe(withSettings({ DATABASE_URL: url, DATA_DIR: "/nowhere" }))
      const [row] = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql`select current_database() as database_name, ${sql("accountId")} from (select 'a' as account_id) t`
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(row, { databaseName: database, accountId: "a" })
    })
  )

  it.live("limits how long a statement may run", () =>
    Effect.gen(function* () {
      const { database, host } = yield* TestDatabase.create
      const url = `postgres://postgres@localhost/${database}?host=${encodeURIComponent(host)}`
      const layer = Database.layer.pipe(withSettings({ DATABASE_URL: url, DATABASE_STATEMENT_TIMEOUT: "50 millis" }))
      const error = yield* Effect.flip(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select pg_sleep(10)`).pipe(Effect.provide(layer))
      )
      assert.strictEqual(error._tag === "SqlError" && error.reason._tag, "StatementTimeoutError")
    })
  )

  it.live("refuses a pool without connections", () =>
    Effect.gen(function* () {
      const layer = Database.layer.pipe(withSettings({ DATA_DIR: "/nowhere", DATABASE_POOL_SIZE: "0" }))
      assert.strictEqual((yield* Effect.flip(Effect.provide(applied, layer)))._tag, "ConfigError")
    })
  )

  it.live("works with a pool of one connection", () =>
    Effect.gen(function* () {
      const { database, host } = yield* TestDatabase.create
      const url = `postgres://postgres@localhost/${database}?host=${encodeURIComponent(host)}`
      const layer = Database.layer.pipe(withSettings({ DATABASE_URL: url, DATABASE_POOL_SIZE: "1" }))
      assert.deepStrictEqual(yield* Effect.provide(applied, layer), Object.keys(migrations))
    })
  )

  it.live("keeps the password out of the message when the server cannot be reached", () =>
    Effect.gen(function* () {
      const layer = Database.layer.pipe(
        withSettings({ DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/none", DATABASE_WAIT: "0 millis" })
      )
      const exit = yield* Effect.exit(Effect.provide(applied, layer))
      assert.strictEqual(exit._tag, "Failure")
      assert.notInclude(JSON.stringify(exit) + String(exit._tag === "Failure" ? exit.cause : ""), "hunter2")
    })
  )
})

describe.runIf(TestDatabase.isAvailable)("a client", () => {
  it.live("closes although its connections are dead and a transaction is open", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const options = { poolSize: 2, connectTimeout: Duration.seconds(2), statementTimeout: Duration.seconds(30) }
      const scope = yield* Scope.make()
      const config = { ...Database.clientConfig(options), ...proxy.address, username: "postgres" }
      const sql = yield* Scope.provide(Database.makeClient(config), scope)
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const open = sql.withTransaction(
        Effect.andThen(sql`select 1`, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end)))
      )
      yield* Effect.forkDetach(open, { startImmediately: true })
      yield* Deferred.await(begun)
      yield* proxy.freeze
      // The commit waits for a server that does not answer.
      yield* Deferred.succeed(end, undefined)
      yield* Effect.forkDetach(sql.withTransaction(sql`select 2`), { startImmediately: true })
      const closed = yield* Scope.close(scope, Exit.void).pipe(Effect.timeoutOption("20 seconds"))
      assert.isTrue(Option.isSome(closed))
    }).pipe(Effect.provide(Reactivity.layer))
  )
})
