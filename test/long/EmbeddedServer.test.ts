import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as EmbeddedServer from "../../src/storage/EmbeddedServer.ts"
import { folder, query } from "../support/embedded.ts"
import { isAvailable } from "../support/TestDatabase.ts"

const isRoot = process.getuid?.() === 0

// Only tests of durability need it.
const settings = { fsync: "off" }

describe.runIf(isAvailable)("EmbeddedServer.start", () => {
  it.live.runIf(process.platform === "linux")("refuses a folder that cannot be made, at once", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(Effect.scoped(EmbeddedServer.start({ folder: "/proc/fathom/data", settings })))
      assert.strictEqual(refused._tag, "FolderUnusable")
      assert.match(refused.message, /\/proc\/fathom.*Set DATA_DIR/u)
    })
  )

  it.live("refuses a folder of another major version by both versions", () =>
    Effect.gen(function* () {
      const path = yield* folder
      mkdirSync(join(path, "data"))
      writeFileSync(join(path, "data", "PG_VERSION"), "17\n")
      const refused = yield* Effect.flip(EmbeddedServer.start({ folder: path, settings }))
      assert.strictEqual(refused._tag, "FolderUnusable")
      assert.match(refused.message, /PostgreSQL 17, .* PostgreSQL 18/u)
    })
  )

  it.live.skipIf(isRoot)("refuses a folder that cannot be written", () =>
    Effect.gen(function* () {
      const path = yield* folder
      chmodSync(path, 0o500)
      const refused = yield* Effect.flip(EmbeddedServer.start({ folder: path, settings }))
      assert.strictEqual(refused._tag, "FolderUnusable")
    })
  )

  for (const [reason, option] of [
    ["the disk has 1 MiB left", "size=1m"],
    ["EROFS", "ro"]
  ] as const) {
    it.live.runIf(isRoot && process.platform === "linux")(`refuses a file system by its reason: ${reason}`, () =>
      Effect.gen(function* () {
        const path = yield* folder
        // Containers may forbid mounts.
        if (spawnSync("mount", ["-t", "tmpfs", "-o", option, "tmpfs", path]).status === 0) {
          yield* Effect.addFinalizer(() => Effect.sync(() => spawnSync("umount", [path])))
          const refused = yield* Effect.flip(EmbeddedServer.start({ folder: path, settings }))
          assert.strictEqual(refused._tag, "FolderUnusable")
          assert.include(refused.message, reason)
        }
      })
    )
  }

  it.live("makes the folders above its own", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "further", "in")
      yield* Effect.scoped(EmbeddedServer.start({ folder: path, settings }))
      assert.isTrue(existsSync(join(path, "data")))
    })
  )

  it.live("starts, answers, and stops with its scope", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const pid = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* EmbeddedServer.start({ folder: path, settings })
          const [[version] = []] = yield* query(server.socketFolder, "show server_version")
          assert.match(String(version), /^18\./)
          return server.pid
        })
      )
      assert.throws(() => process.kill(pid, 0))
    })
  )

  it.live("starts again each time it is killed, and still stops with its scope", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* Effect.gen(function* () {
        const { socketFolder } = yield* EmbeddedServer.start({ folder: path, settings })
        const pidFile = join(path, "data", "postmaster.pid")
        for (let round = 0; round < 2; round++) {
          const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0])
          process.kill(pid, "SIGKILL")
          const answer = yield* query(socketFolder, "select 1").pipe(
            Effect.delay("50 millis"),
            Effect.retry({ times: 200 })
          )
          assert.deepStrictEqual(answer, [[1]])
        }
      }).pipe(Effect.scoped)
      assert.isFalse(existsSync(join(path, "data", "postmaster.pid")))
    })
  )

  it.live("keeps what was written", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const run = (statement: string) =>
        Effect.scoped(
          Effect.flatMap(EmbeddedServer.start({ folder: path }), (server) => query(server.socketFolder, statement))
        )
      yield* run("create table kept as select 42 as n")
      assert.deepStrictEqual(yield* run("select n from kept"), [[42]])
    })
  )

  it.live("refuses a folder that this process already uses", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* EmbeddedServer.start({ folder: path, settings })
      const error = yield* Effect.flip(EmbeddedServer.start({ folder: path }))
      assert.deepInclude(error, { _tag: "FolderInUse", folder: path, pid: process.pid })
    })
  )

  it.live("can be joined by a command beside it, and keeps running afterwards", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const owner = yield* EmbeddedServer.start({ folder: path, settings })
      const joined = yield* Effect.scoped(EmbeddedServer.join({ folder: path }))
      assert.strictEqual(joined.socketFolder, owner.socketFolder)
      assert.deepStrictEqual(yield* query(joined.socketFolder, "select 1"), [[1]])
    })
  )

  it.live("works in a folder whose path is too long for a socket, and leaves nothing elsewhere", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "a".repeat(60), "b".repeat(60))
      const socketFolder = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* EmbeddedServer.start({ folder: path, settings })
          assert.deepStrictEqual(yield* query(server.socketFolder, "select 1"), [[1]])
          return server.socketFolder
        })
      )
      assert.isBelow(Buffer.byteLength(socketFolder), 86)
      assert.isFalse(existsSync(socketFolder))
    })
  )

  it.live("never takes a half-made cluster for a whole one", () =>
    Effect.gen(function* () {
      const path = yield* folder
      mkdirSync(join(path, "data.new"))
      writeFileSync(join(path, "data.new", "PG_VERSION"), "18\n")
      const server = yield* EmbeddedServer.start({ folder: path, settings })
      assert.deepStrictEqual(yield* query(server.socketFolder, "select 1"), [[1]])
      assert.isFalse(existsSync(join(path, "data.new")))
    })
  )

  it.live("reports the server's own message when it does not start", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const error = yield* Effect.flip(
        EmbeddedServer.start({ folder: path, settings: { ...settings, no_such_setting: "1" } })
      )
      assert.strictEqual(error._tag, "ServerFailed")
      assert.include(error.message, "no_such_setting")
    })
  )

  it.live("reports a folder that cannot be made", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(EmbeddedServer.start({ folder: "/dev/null/fathom" }))
      assert.deepInclude(error, { _tag: "FolderUnusable", folder: "/dev/null/fathom" })
    })
  )

  it.live.skipIf(!isRoot)("runs for root where user namespaces are forbidden", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const server = yield* EmbeddedServer.start({ folder: path, namespaces: false, settings })
      assert.deepStrictEqual(yield* query(server.socketFolder, "select 1"), [[1]])
    })
  )
})
