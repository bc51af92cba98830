/** The run's throw-away PostgreSQL. It starts when the first test file asks for it, so other runs never pay for it. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { findBinaries } from "../../src/storage/binaries.ts"
import * as EmbeddedServer from "../../src/storage/EmbeddedServer.ts"
import { migrate } from "../../src/storage/schema.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the socket that answers with the folder of the server's own socket. */
    readonly databaseServer: string
  }
}

/** A migrated database without connections, which makes it usable as a template. */
export const TEMPLATE = "fathom_template"

// Nothing here outlives the run, so nothing has to reach the disk.
const settings = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  autovacuum: "off",
  max_connections: "200"
}

const makeTemplate = Effect.fnUntraced(function* (host: string) {
  const server = { host, username: "postgres" }
  const admin = yield* PgClient.make({ ...server, database: "postgres" })
  yield* admin`create database ${admin(TEMPLATE)}`
  const template = PgClient.layer({ ...server, database: TEMPLATE })
  yield* Effect.provide(migrate, template)
}, Effect.scoped)

const start = Effect.fnUntraced(function* (folder: string) {
  const { socketFolder } = yield* EmbeddedServer.start({ folder, settings })
  yield* makeTemplate(socketFolder).pipe(Effect.provide(Reactivity.layer))
  return socketFolder
})

/** Called by vitest before the first test file; what it returns is called after the last. */
export const setup = async (project: TestProject) => {
  if (findBinaries() === null) {
    process.stdout.write(`No PostgreSQL for ${process.platform}-${process.arch}: tests that need one are skipped.\n`)
  }
  const folder = mkdtempSync(join(tmpdir(), "fathom-test-"))
  const scope = Effect.runSync(Scope.make())
  let started: Promise<string> | undefined
  const door = createServer((socket) => {
    started ??= Effect.runPromise(Scope.provide(start(join(folder, "pg")), scope))
    started.then(
      (socketFolder) => socket.end(JSON.stringify({ socketFolder })),
      (cause: unknown) => socket.end(JSON.stringify({ failure: String(cause) }))
    )
  })
  const path = join(folder, "ask.sock")
  await new Promise<void>((resolve) => door.listen(path, resolve))
  project.provide("databaseServer", path)
  return async () => {
    door.close()
    await started?.catch(() => undefined)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  }
}
