/** Records each start of the service in its data folder, as a folder that the process keeps locked. */
import { Effect, type Scope } from "effect"
import { mkdirSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { takeFolder } from "./folderLock.ts"

/** The ids of the starts that this data folder has recorded. */
export const recordedStarts = (folder: string) =>
  Effect.sync(() => readdirSync(folder)).pipe(Effect.catchDefect(() => Effect.succeed<ReadonlyArray<string>>([])))

/**
 * Records this start with a folder that stays locked until the scope closes. Returns false when that is not possible.
 * Keys of such a start carry no id, so no later start can mistake them for keys of an ended one.
 */
export const recordStart = (folder: string, id: string): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.sync(() => mkdirSync(join(folder, id), { recursive: true, mode: 0o700 })).pipe(
    Effect.andThen(takeFolder(join(folder, id))),
    Effect.map((owner) => owner === null),
    Effect.catchDefect((cause) =>
      Effect.as(Effect.logDebug("The start cannot be recorded in the data folder", cause), false)
    )
  )

/** True when the process of a recorded start has ended: the operating system has released its lock. */
export const hasEnded = (folder: string, id: string): Effect.Effect<boolean> =>
  takeFolder(join(folder, id)).pipe(
    Effect.map((owner) => owner === null),
    Effect.scoped,
    Effect.catchDefect(() => Effect.succeed(false))
  )

/** Removes the record of an ended start. */
export const forgetStart = (folder: string, id: string): Effect.Effect<void> =>
  Effect.sync(() => rmSync(join(folder, id), { recursive: true, force: true }))
