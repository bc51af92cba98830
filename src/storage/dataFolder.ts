/** The folder of an embedded server. It is created on first use and checked before a server starts in it. */
import { Effect, Schema } from "effect"
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { majorVersion } from "./binaries.ts"
import { commandText } from "../domain/commandText.ts"

/** The folder cannot hold the database. `detail` says why. */
export class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.folder} cannot hold the database: ${this.detail}. Set DATA_DIR to another folder, or DATABASE_URL to a server.`
  }
}

/** The folder holds no database. */
export class NoDatabase extends Schema.TaggedError<NoDatabase>()("NoDatabase", { folder: Schema.String }) {
  override get message(): string {
    return `${this.folder} holds no database: set DATA_DIR to the folder of a service, or DATABASE_URL to a server`
  }
}

/** True when a server has created its database in the folder. */
export const holdsDatabase = (folder: string): boolean => existsSync(join(folder, "data", "PG_VERSION"))

const MIB = 2 ** 20
/** A new cluster takes 40 MiB. Half of it is the write-ahead log. */
const NEW_CLUSTER_MIB = 128
/** A start may need another 16 MiB segment for the write-ahead log, and space for the server's log file. */
const START_MIB = 32

/**
 * Creates a folder and its parents for the owner alone. Node's own `recursive` never returns when the system denies
 * that a parent exists, as under /proc.
 */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) {
    return
  }
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may have created it.
    if (!existsSync(folder)) {
      throw cause
    }
  }
}

const tryWrite = (folder: string): void => {
  const probe = join(folder, `probe.${process.pid}`)
  writeFileSync(probe, "probe", { mode: 0o600 })
  rmSync(probe)
}

/**
 * Why the file system cannot hold a new or existing cluster; null when it can. Sizes that the file system does not
 * report are ignored.
 */
const spaceRefusal = (folder: string, isNew: boolean): string | null => {
  const { bavail, blocks, bsize } = statfsSync(folder)
  const freeMib = Math.floor((bavail * bsize) / MIB)
  const neededMib = isNew ? NEW_CLUSTER_MIB : START_MIB
  return blocks > 0 && freeMib < neededMib ? `the disk has ${freeMib} MiB left, ${neededMib} MiB are needed` : null
}

const refusal = (folder: string): string | null => {
  makeFolder(folder)
  const versionFile = join(folder, "data", "PG_VERSION")
  const version = existsSync(versionFile) ? readFileSync(versionFile, "utf8").trim() : null
  const own = majorVersion()
  if (version !== null && own !== null && version !== own) {
    return (
      `it was written by PostgreSQL ${version}, and this package comes with PostgreSQL ${own}. To move it, run ` +
      `\`${commandText("data", "backup FILE")}\` of the version that wrote it, and \`${commandText("data", "restore FILE")}\` of this one ` +
      "with a new DATA_DIR"
    )
  }
  // Checked before the attempt to write, because that error would not name a size.
  const space = spaceRefusal(folder, version === null)
  if (space === null) {
    tryWrite(folder)
  }
  return space
}

/**
 * Creates the folder if it is missing. Fails when it cannot be written, its disk is full, or another version has
 * written it.
 */
export const prepareFolder = (folder: string): Effect.Effect<void, FolderUnusable> =>
  Effect.try({
    try: () => refusal(folder),
    catch: (cause) => new FolderUnusable({ folder, detail: cause instanceof Error ? cause.message : String(cause) })
  }).pipe(
    Effect.flatMap((detail) => (detail === null ? Effect.void : Effect.fail(new FolderUnusable({ folder, detail }))))
  )
