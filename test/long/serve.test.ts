import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as TestDatabase from "../support/TestDatabase.ts"

const main = new URL("../../src/main.ts", import.meta.url).pathname

/** Compiled code, kept between runs, as `npm start` keeps it. */
const cache = join(tmpdir(), "fathom-serve-code")

/** The real command. It is ended after 50 seconds. */
const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.callback<{ readonly code: unknown; readonly output: string }>((resume) => {
    const options = { env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: cache, ...env }, timeout: 50_000 }
    const child = execFile(process.execPath, [main, ...args], options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: error === null ? 0 : error.code, output: stdout + stderr }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const folder = Effect.acquireRelease(
  Effect.sync(() => join(mkdtempSync(join(tmpdir(), "fathom-serve-")), "data")),
  (path) => Effect.sync(() => rmSync(join(path, ".."), { recursive: true, force: true }))
)

describe("fathom", () => {
  it.live("refuses a taken port before it creates a database", () =>
    Effect.gen(function* () {
      const taken = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer()
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const address = taken.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const path = yield* folder
      const { code, output } = yield* run(["--port", String(port), "--data-dir", path])
      assert.strictEqual(
        output,
        `fathom: PORT: another process listens at 127.0.0.1:${port}. Set PORT to another port, or to 0 for a free one.\n`
      )
      assert.strictEqual(code, 1)
      assert.isFalse(existsSync(path))
    })
  )

  it.live("refuses an unreachable database by host and port, without its password", () =>
    Effect.gen(function* () {
      const env = { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/none", DATABASE_WAIT: "0 millis" }
      const { code, output } = yield* run(["--port", "0"], env)
      assert.match(output, /^fathom: DATABASE_URL: the database at 127\.0\.0\.1:1 .*ECONNREFUSED.*\n$/u)
      assert.notInclude(output, "hunter2")
      assert.strictEqual(code, 1)
    })
  )

  it.live.each([
    ["PORT", "70000", "PORT: must be a whole number from 0 to 65535"],
    ["SIMULATOR_HISTORY", "-5", "SIMULATOR_HISTORY: must be a number, at least 0"],
    ["DATABASE_URL", "nonsense", "DATABASE_URL: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE"]
  ])("refuses %s=%s by its name, and creates nothing", ([name = "", value = "", message]) =>
    Effect.gen(function* () {
      const path = yield* folder
      const { code, output } = yield* run(["--data-dir", path], { PORT: "0", [name]: value })
      assert.strictEqual(output, `fathom: ${message}\n`)
      assert.strictEqual(code, 1)
      assert.isFalse(existsSync(path))
    })
  )

  it.live.runIf(TestDatabase.isAvailable)("refuses a database of a later version, and names the migrations", () =>
    Effect.gen(function* () {
      const { database, host } = yield* TestDatabase.create
      const later = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`insert into schema_migrations (migration_id, name) values (9001, 'later')`
      )
      yield* Effect.provide(later, TestDatabase.connect({ database, host }))
      const url = `postgres://postgres@localhost/${database}?host=${encodeURIComponent(host)}`
      const { code, output } = yield* run(["--port", "0", "--data-dir", yield* folder], { DATABASE_URL: url })
      const words =
        "migrations that this version does not know (9001_later): use the version that made them, or a later one"
      assert.include(output, `fathom: the database has ${words}\n`)
      assert.strictEqual(code, 1)
    })
  )

  it.live("refuses a database folder of another major version, and leaves it as it is", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const cluster = join(path, "postgres", "data")
      mkdirSync(cluster, { recursive: true })
      writeFileSync(join(cluster, "PG_VERSION"), "12\n")
      const { code, output } = yield* run(["--port", "0", "--data-dir", path])
      assert.match(
        output,
        /^fathom: .*postgres cannot hold the database: it was written by PostgreSQL 12, and this package comes with PostgreSQL \d+\. To move it, run `npm run data -- backup FILE` of the version that wrote it, and `npm run data -- restore FILE` of this one with a new DATA_DIR\. Set DATA_DIR to .*\n$/u
      )
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(readdirSync(cluster), ["PG_VERSION"])
    })
  )

  it.live("names the database that it waits for after the first attempt, and waits no longer than DATABASE_WAIT", () =>
    Effect.gen(function* () {
      const env = { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/none", DATABASE_WAIT: "1 second" }
      const { code, output } = yield* run(["--port", "0"], env)
      const [first = "", last] = output
        .trim()
        .split("\n")
        .filter((line) => line.includes("127.0.0.1:1"))
      assert.match(
        first,
        /The database at 127\.0\.0\.1:1 \(DATABASE_URL\) is not reachable yet: .*Waiting for up to 1s/u
      )
      assert.match(last ?? "", /^fathom: DATABASE_URL: the database at 127\.0\.0\.1:1 cannot be used: .*, within 1s$/u)
      assert.notInclude(output, "hunter2")
      assert.strictEqual(code, 1)
    })
  )

  it.live("exits with 2 for an unknown flag", () =>
    Effect.gen(function* () {
      const { code, output } = yield* run(["--nosuch"])
      assert.include(output, "Unrecognized flag: --nosuch")
      assert.strictEqual(code, 2)
    })
  )

  it.live("says first which word it does not know, then shows the help, both on standard error", () =>
    Effect.gen(function* () {
      const { code, output } = yield* run(["keys", "lsit"])
      assert.match(output, /^ERROR\n {2}Unknown subcommand "lsit" for "fathom keys"\n/u)
      assert.isAbove(output.indexOf("SUBCOMMANDS"), output.indexOf("lsit"))
      assert.strictEqual(code, 2)
    })
  )
})
