/** Gives each data folder one owner. The operating system holds the lock and releases it when the owner dies. */
import { Effect, type Scope } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const readOwner = (file: string): number | null => {
  try {
    return Number(readFileSync(file, "utf8")) || null
  } catch {
    return null
  }
}

// Node has no file locks. SQLite's locks work on every system, between containers of one host and inside one process.
const lock = (file: string): DatabaseSync | null => {
  const database = new DatabaseSync(file)
  try {
    database.exec("pragma journal_mode = off; pragma locking_mode = exclusive; begin exclusive")
    return database
  } catch (cause) {
    database.close()
    if (cause instanceof Error && "errcode" in cause && cause.errcode === 5) {
      return null
    }
    throw cause
  }
}

/**
 * Takes the folder until the scope closes, and returns null. When another process owns it, returns the process id
 * that the owner left there, or 0 when it left none. A folder that cannot be written is a defect.
 */
export const takeFolder = (folder: string): Effect.Effect<number | null, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => lock(join(folder, "owner.lock"))),
    (held) => Effect.sync(() => held?.close())
  ).pipe(
    Effect.map((held) => {
      const note = join(folder, "owner.pid")
      if (held === null) {
        return readOwner(note) ?? 0
      }
      writeFileSync(note, String(process.pid))
      return null
    })
  )
