import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { backUp } from "../../src/storage/backup/backUp.ts"
import { verifyBackup } from "../../src/storage/backup/readBackup.ts"
import { inOrder } from "../../src/storage/backup/readCatalogue.ts"
import { restore } from "../../src/storage/backup/restore.ts"
import * as Database from "../../src/storage/Database.ts"
import { migrations } from "../../src/storage/migrations.ts"
import { appliedMigrations } from "../../src/storage/schema.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { makeOldSchema, recordAs, STEPS } from "../storage/schemaSteps.ts"
import { contents, definitions, fill } from "../storage/backup/filled.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-backup-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const quiet = { progress: () => Effect.void }
const save = (file: string) => backUp({ file, version: "1.2.3", ...quiet })
const load = (file: string) => restore({ file, ...quiet })

const empty = Layer.unwrap(Effect.map(TestDatabase.createEmpty, TestDatabase.connect))
const isUntouched = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  assert.lengthOf(yield* sql`select 1 from pg_class where relnamespace = 'public'::regnamespace`, 0)
})

/** A file with two rows per table, and the contents of its database. */
const saved = Effect.gen(function* () {
  const file = join(yield* folder, "saved")
  yield* fill(2)
  yield* save(file)
  return { file, before: yield* contents }
}).pipe(Effect.provide(TestDatabase.layer))

/** Rewrites the lines of a backup, but not its hashes. */
const rewrite = (file: string, change: (lines: ReadonlyArray<string>) => ReadonlyArray<string>) => {
  const lines = zstdDecompressSync(readFileSync(file)).toString("utf8").split("\n")
  writeFileSync(file, zstdCompressSync(change(lines).join("\n")))
}

describe.runIf(TestDatabase.isAvailable)("a backup", () => {
  it.live("restores every row, sequence, partition and index of a filled database", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "full")
      const source = yield* Effect.gen(function* () {
        yield* fill(3)
        const sql = yield* SqlClient.SqlClient
        // More rows than one fetch.
        yield* sql`insert into trade_names (name) select 'name ' || n from generate_series(1, 2500) n`
        const { count } = yield* save(file)
        const before = yield* contents
        assert.strictEqual(
          count,
          Object.values(before.rows).reduce((sum, rows) => sum + rows.length, 0)
        )
        Object.entries(before.rows).forEach(([table, rows]) => assert.isNotEmpty(rows, table))
        return { before, schema: yield* definitions }
      }).pipe(Effect.provide(TestDatabase.layer))
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.isFalse(existsSync(`${file}.part`))
      const target = yield* Effect.gen(function* () {
        yield* load(file)
        return { before: yield* contents, schema: yield* definitions }
      }).pipe(Effect.provide(empty))
      assert.deepStrictEqual(target, source)
    })
  )

  it.live("shows one moment, and lets a service beside it write and add days", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "moment")
      const database = yield* TestDatabase.create
      const service = yield* Layer.build(TestDatabase.connect(database))
      let isFirst = true
      yield* Effect.gen(function* () {
        yield* fill(1)
        const before = yield* contents
        // Between two tables another process writes and makes a partition. It must not wait for the backup.
        const meanwhile = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`insert into trade_names (name) values ('late')`
          yield* sql`insert into service_secrets (name, value) values ('late', 'late')`
          yield* sql`
            create table trade_rows_20260305 partition of trade_rows
            for values from ('2026-03-05 00:00:00+00') to ('2026-03-06 00:00:00+00')
          `
        }).pipe(Effect.provide(service), Effect.orDie)
        const progress = () => {
          const wasFirst = isFirst
          isFirst = false
          return wasFirst ? meanwhile : Effect.void
        }
        yield* backUp({ file, version: "1.2.3", progress })
        assert.isFalse(isFirst)
        const after = yield* Effect.provide(Effect.andThen(load(file), contents), empty)
        assert.deepStrictEqual(after.rows, before.rows)
      }).pipe(Effect.provide(TestDatabase.connect(database)))
    })
  )

  it.live("of a database at migration 0059 is restored and then brought up to date", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "older")
      const before = yield* Effect.gen(function* () {
        yield* makeOldSchema
        yield* fill(2)
        yield* save(file)
        return yield* contents
      }).pipe(Effect.provide(empty))
      yield* Effect.gen(function* () {
        yield* load(file)
        assert.deepStrictEqual(yield* appliedMigrations, Object.keys(migrations))
        const { rows } = yield* contents
        for (const [table, kept] of Object.entries(before.rows)) {
          const now = table === "schema_migrations" ? kept : (rows[table] ?? [])
          assert.deepStrictEqual(
            now.map((row, at) => row.slice(0, withoutAdded(kept[at] ?? "").length)),
            kept.map(withoutAdded),
            table
          )
        }
      }).pipe(Effect.provide(empty))
    })
  )

  it.live("of an older schema is refused, with the version that can restore it", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "oldest")
      yield* Effect.andThen(recordAs(STEPS.slice(0, -1)), save(file)).pipe(Effect.provide(TestDatabase.layer))
      yield* Effect.gen(function* () {
        const error = yield* Effect.flip(load(file))
        assert.strictEqual(error._tag, "SchemaTooOld")
        assert.include(error.message, "the file is older")
        yield* isUntouched
      }).pipe(Effect.provide(empty))
    })
  )

  it.live("moves from an embedded server to another database", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const file = join(path, "moved")
      const settings = Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: join(path, "data") })))
      const before = yield* Effect.gen(function* () {
        yield* fill(1)
        yield* save(file).pipe(Effect.provide(Layer.fresh(Database.layerAsIs).pipe(settings)))
        return yield* contents
      }).pipe(Effect.provide(Database.layer.pipe(settings)))
      assert.deepStrictEqual(yield* Effect.provide(Effect.andThen(load(file), contents), empty), before)
    })
  )

  it.live("is refused by a database that is not empty, which stays as it is", () =>
    Effect.gen(function* () {
      const { file } = yield* saved
      yield* Effect.gen(function* () {
        const before = yield* contents
        const error = yield* Effect.flip(load(file))
        assert.include(error.message, "the database is not empty")
        assert.deepStrictEqual(yield* contents, before)
      }).pipe(Effect.provide(TestDatabase.layer))
    })
  )

  it.live("of a newer schema is refused with the names of its migrations", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "newer")
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into schema_migrations (migration_id, name) values (9001, 'later')`
        yield* save(file)
      }).pipe(Effect.provide(TestDatabase.layer))
      yield* Effect.gen(function* () {
        const error = yield* Effect.flip(load(file))
        assert.strictEqual(error._tag, "SchemaTooNew")
        assert.include(error.message, "9001_later")
        yield* isUntouched
      }).pipe(Effect.provide(empty))
    })
  )

  it.live("that is cut anywhere or has a flipped byte is refused, and nothing is written", () =>
    Effect.gen(function* () {
      const { file } = yield* saved
      const bytes = readFileSync(file)
      const damaged = [0, 0.01, 0.3, 0.6, 0.99].flatMap((share) => {
        const at = Math.floor(share * bytes.length)
        const flipped = Buffer.from(bytes)
        flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at)
        return [bytes.subarray(0, at), flipped]
      })
      for (const content of [...damaged, bytes.subarray(0, -1), Buffer.from("not a backup")]) {
        writeFileSync(file, content)
        assert.strictEqual((yield* Effect.flip(verifyBackup(file)))._tag, "BackupFailed")
      }
      writeFileSync(file, bytes.subarray(0, bytes.length / 2))
      yield* Effect.gen(function* () {
        assert.include((yield* Effect.flip(load(file))).message, "cut, altered or no backup")
        yield* isUntouched
      }).pipe(Effect.provide(empty))
    })
  )

  it.live.each<readonly [string, (lines: ReadonlyArray<string>) => ReadonlyArray<string>]>([
    ["a changed value", (lines) => lines.map((line) => line.replace("back", "Back"))],
    ["a missing line of rows", (lines) => lines.filter((line) => !line.startsWith('{"table":"alerts"'))],
    [
      "a doubled line",
      (lines) => lines.flatMap((line) => (line.startsWith('{"table":"alerts"') ? [line, line] : line))
    ],
    ["a changed header", (lines) => lines.map((line, at) => (at === 0 ? line.replace('"1.2.3"', '"1.2.4"') : line))],
    ["no last line", (lines) => lines.filter((line) => !line.startsWith('{"complete"'))],
    ["a line after the last", (lines) => [...lines.slice(0, -1), lines[0] ?? ""]],
    ["a later format", (lines) => lines.map((line) => line.replace('"version":1', '"version":2'))]
  ])("with %s is refused", ([, change]) =>
    Effect.gen(function* () {
      const { file } = yield* saved
      const { count } = yield* verifyBackup(file)
      assert.isAbove(count, 0)
      rewrite(file, change)
      assert.strictEqual((yield* Effect.flip(verifyBackup(file)))._tag, "BackupFailed")
    })
  )

  it.live("replaces no file, and does not copy an empty database", () =>
    Effect.gen(function* () {
      const path = yield* folder
      writeFileSync(join(path, "there"), "kept")
      assert.include((yield* Effect.flip(save(join(path, "there")))).message, "exists already")
      assert.strictEqual(readFileSync(join(path, "there"), "utf8"), "kept")
      assert.include((yield* Effect.flip(save(join(path, "new")))).message, "nothing to back up")
      assert.include((yield* Effect.flip(save(join(path, "missing", "new")))).message, "ENOENT")
      assert.isFalse(existsSync(join(path, "new")))
      assert.isFalse(existsSync(join(path, "new.part")))
    }).pipe(Effect.provide(empty))
  )
})

/** The beginning of a row as text, without its last empty columns. Later migrations add columns at the end. */
const withoutAdded = (row: string) => row.replace(/,*\)$/u, "")

describe("tables", () => {
  it("come after the tables that their foreign keys name", () => {
    const links = [
      { table: "a", target: "c" },
      { table: "c", target: "b" },
      { table: "b", target: "b" }
    ]
    const order = inOrder([{ name: "a" }, { name: "b" }, { name: "c" }], links)
    assert.deepStrictEqual(
      order.map(({ name }) => name),
      ["b", "c", "a"]
    )
  })
})
