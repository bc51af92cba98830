/** The files of a recording: `<milliseconds since 1970>-<first slot>.fathomrec`, oldest first by name. */
import { promises as files } from "node:fs"
import { join } from "node:path"

const NAME = /^(\d{14})-(\d{12})\.fathomrec$/u

export interface RecordFile {
  readonly path: string
  /** When the file was begun, in milliseconds since the Unix epoch. */
  readonly begunAtMs: number
  /** Slot of the state at its beginning. */
  readonly slot: number
}

/** The path of a new file. */
export const pathOfFile = (folder: string, begunAtMs: number, slot: number): string =>
  join(folder, `${String(begunAtMs).padStart(14, "0")}-${String(slot).padStart(12, "0")}.fathomrec`)

/** No names for a folder that does not exist. */
const noNames = (error: NodeJS.ErrnoException): Array<string> => {
  if (error.code === "ENOENT") {
    return []
  }
  throw error
}

/** The files of a folder, oldest first. Other files are left out. None when there is no folder. */
export const listFiles = async (folder: string): Promise<ReadonlyArray<RecordFile>> => {
  const names = (await files.readdir(folder).catch(noNames)).toSorted()
  return names.flatMap((name) => {
    const [, begunAt, slot] = NAME.exec(name) ?? []
    return begunAt === undefined || slot === undefined
      ? []
      : [{ path: join(folder, name), begunAtMs: Number(begunAt), slot: Number(slot) }]
  })
}

export interface FolderBounds {
  readonly mostBytes: number
  /** Files that were last written before this time are removed. */
  readonly keptFromMs: number
  /** The file that is being written, which stays; null for none. */
  readonly open: string | null
}

/** Removes the oldest files until the rest is within the bounds. Returns the size of the rest in bytes. */
export const prune = async (folder: string, { keptFromMs, mostBytes, open }: FolderBounds): Promise<number> => {
  const listed = await listFiles(folder)
  // Another process may remove a file meanwhile.
  const stats = await Promise.all(listed.map(({ path }) => files.stat(path).catch(() => null)))
  let total = stats.reduce((sum, stat) => sum + (stat?.size ?? 0), 0)
  for (const [at, { path }] of listed.entries()) {
    const { mtimeMs = 0, size = 0 } = stats[at] ?? {}
    if (path !== open && (total > mostBytes || mtimeMs < keptFromMs)) {
      await files.rm(path, { force: true })
      total -= size
    }
  }
  return total
}
