/** An embedded server whose owner is killed. Each runs in its own process. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as EmbeddedServer from "../../src/storage/EmbeddedServer.ts"
import * as Processes from "../../src/storage/processes.ts"
import { folder, query } from "../support/embedded.ts"
import { isAvailable } from "../support/TestDatabase.ts"

/**
 * Another process that owns a server and writes to it. `lines` are what it has printed so far: first its server, then
 * numbers.
 */
const writer = Effect.fnUntraced(function* (path: string) {
  const script = new URL("../support/embeddedWriter.ts", import.meta.url).pathname
  const lines: Array<number> = []
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [script, path], { stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  createInterface(child.stdout).on("line", (line) => lines.push(Number(line)))
  yield* Effect.suspend(() => Effect.succeed(lines.length > 50)).pipe(
    Effect.delay("5 millis"),
    Effect.repeat({ until: (enough) => enough })
  )
  const kill = Effect.callback<void>((resume) => {
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })
  return { lines, kill, pid: child.pid ?? 0 }
})

describe.runIf(isAvailable)("EmbeddedServer.start, after another process", () => {
  it.live("rejects a folder that another process uses, and takes it over once that process is dead", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const { kill, lines, pid } = yield* writer(path)
      const error = yield* Effect.flip(EmbeddedServer.start({ folder: path }))
      assert.deepInclude(error, { _tag: "FolderInUse", folder: path, pid })
      assert.include(error.message, path)

      yield* kill
      const server = yield* EmbeddedServer.start({ folder: path })
      assert.notStrictEqual(server.pid, lines[0])
      assert.deepStrictEqual(yield* query(server.socketFolder, "select 1"), [[1]])
    })
  )

  it.live("replaces a killed server whose process id now belongs to another process", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const { kill, lines } = yield* writer(path)
      process.kill(lines[0] ?? 0, "SIGKILL")
      yield* kill
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sleep", ["60"])),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      for (const file of [join(path, "data", "postmaster.pid"), join(path, ".s.PGSQL.5432.lock")]) {
        writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/u, String(other.pid)))
      }
      const server = yield* EmbeddedServer.start({ folder: path }).pipe(Effect.timeout("1 minute"))
      assert.deepStrictEqual(yield* query(server.socketFolder, "select count(*) >= 50 from numbers"), [[true]])
      assert.isFalse(Processes.hasEnded(other))
    })
  )

  it.live("starts where a killed server left its lock files empty", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const { kill, lines } = yield* writer(path)
      process.kill(lines[0] ?? 0, "SIGKILL")
      yield* kill
      for (const file of [join(path, "data", "postmaster.pid"), join(path, ".s.PGSQL.5432.lock")]) {
        writeFileSync(file, "")
      }
      const server = yield* EmbeddedServer.start({ folder: path })
      assert.deepStrictEqual(yield* query(server.socketFolder, "select count(*) >= 50 from numbers"), [[true]])
    })
  )

  it.live("loses no acknowledged write when owner and server are killed", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const { kill, lines } = yield* writer(path)
      process.kill(lines[0] ?? 0, "SIGKILL")
      yield* kill
      const acknowledged = lines.slice(1)
      const server = yield* EmbeddedServer.start({ folder: path })
      const stored = (yield* query(server.socketFolder, "select n from numbers order by n")).map(([n]) => n)
      assert.isAtLeast(acknowledged.length, 50)
      assert.deepStrictEqual(stored.slice(0, acknowledged.length), acknowledged)
    })
  )
})
