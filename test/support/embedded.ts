/** Folders of embedded servers in tests, and queries on them. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** An empty folder, removed with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-pg-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Runs one query on a server. */
export const query = Effect.fnUntraced(
  function* (host: string, statement: string) {
    const sql = yield* PgClient.make({ host, username: "postgres", database: "postgres" })
    return yield* sql.unsafe(statement).values
  },
  Effect.scoped,
  Effect.provide(Reactivity.layer)
)
