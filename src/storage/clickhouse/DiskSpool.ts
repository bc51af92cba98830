/** A bounded queue of entries in files, in the order in which they were added. It outlives the process. */
import { Effect, Schema, type Scope } from "effect"
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import { takeFolder } from "../folderLock.ts"

/** The folder cannot be used, or an entry alone is larger than the bound. */
export class SpoolUnusable extends Schema.TaggedError<SpoolUnusable>()("SpoolUnusable", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `the spool in ${this.folder} cannot be used: ${this.detail}`
  }
}

/** One entry. */
export interface SpoolEntry {
  readonly id: number
  readonly bytes: Uint8Array
  /** True where the entry before this one was dropped for room. */
  readonly afterLoss: boolean
}

interface Stored {
  readonly id: number
  readonly file: string
  readonly size: number
  readonly afterLoss: boolean
}

/** Entries in a folder. */
export interface DiskSpool {
  /** Adds an entry, on disk when it returns. Entries that were dropped for room are returned, the oldest first. */
  add(
    bytes: Uint8Array
  ): Effect.Effect<{ readonly id: number; readonly dropped: ReadonlyArray<SpoolEntry> }, SpoolUnusable>
  /** The oldest entry; null when there is none. */
  readonly first: Effect.Effect<SpoolEntry | null, SpoolUnusable>
  /** Every entry, the oldest first, each read as it is reached. */
  readonly entries: Effect.Effect<Iterable<SpoolEntry>>
  /** The same without their bytes. */
  readonly listed: () => ReadonlyArray<Omit<SpoolEntry, "bytes">>
  remove(id: number): Effect.Effect<void, SpoolUnusable>
  /** Entries, and their bytes. */
  readonly count: () => number
  readonly bytes: () => number
}

const NAME = /^(\d{12})\.(kept|lost)$/u
const DIGITS = 12

const nameOf = (id: number, afterLoss: boolean): string =>
  `${String(id).padStart(DIGITS, "0")}.${afterLoss ? "lost" : "kept"}`

const sync = (path: string): void => {
  const handle = openSync(path, "r")
  fsyncSync(handle)
  closeSync(handle)
}

const writeWhole = (file: string, bytes: Uint8Array): void => {
  const handle = openSync(file, "w", 0o600)
  try {
    let at = 0
    while (at < bytes.length) {
      at += writeSync(handle, bytes, at)
    }
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The entries of a folder; what was written in part is removed. */
const storedIn = (folder: string): Array<Stored> =>
  readdirSync(folder)
    .flatMap((file) => {
      const [, digits, state] = NAME.exec(file) ?? []
      if (file.endsWith(".part")) {
        rmSync(join(folder, file))
      }
      return digits === undefined
        ? []
        : [{ id: Number(digits), file, size: statSync(join(folder, file)).size, afterLoss: state === "lost" }]
    })
    .toSorted((a, b) => a.id - b.id)

/** Opens the queue of a folder until the scope closes. Fails where another process has it. */
export const openSpool = Effect.fnUntraced(function* (
  folder: string,
  limit: number
): Effect.fn.Return<DiskSpool, SpoolUnusable, Scope.Scope> {
  const unusable = (cause: unknown) =>
    new SpoolUnusable({ folder, detail: cause instanceof Error ? cause.message : String(cause) })
  const attempt = <A>(run: () => A) => Effect.try({ try: run, catch: unusable })

  yield* attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  const owner = yield* takeFolder(folder)
  if (owner !== null) {
    return yield* unusable(new Error(`process ${owner} uses it`))
  }
  const all = yield* attempt(() => storedIn(folder))
  let bytes = all.reduce((sum, { size }) => sum + size, 0)
  let next = (all.at(-1)?.id ?? 0) + 1

  const load = ({ afterLoss, file, id }: Stored): SpoolEntry => ({
    id,
    bytes: readFileSync(join(folder, file)),
    afterLoss
  })

  /** Removes the oldest entry, once the next one is marked as after a loss. */
  const dropFirst = (): SpoolEntry => {
    const [first, second] = all
    if (first === undefined) {
      throw new Error("nothing is left to drop")
    }
    const dropped = load(first)
    if (second !== undefined && !second.afterLoss) {
      const file = nameOf(second.id, true)
      renameSync(join(folder, second.file), join(folder, file))
      all[1] = { ...second, file, afterLoss: true }
    }
    rmSync(join(folder, first.file))
    all.shift()
    bytes -= first.size
    return dropped
  }

  const addNow = (entry: Uint8Array) => {
    if (entry.length > limit) {
      throw new Error(`an entry of ${entry.length} bytes exceeds the bound of ${limit}`)
    }
    const dropped: Array<SpoolEntry> = []
    while (all.length > 1 && bytes + entry.length > limit) {
      dropped.push(dropFirst())
    }
    const isLast = all.length === 1 && bytes + entry.length > limit
    const stored: Stored = { id: next, file: nameOf(next, isLast), size: entry.length, afterLoss: isLast }
    const part = join(folder, `${next}.part`)
    writeWhole(part, entry)
    renameSync(part, join(folder, stored.file))
    all.push(stored)
    bytes += entry.length
    next += 1
    if (isLast) {
      dropped.push(dropFirst())
    }
    sync(folder)
    return { id: stored.id, dropped }
  }

  return {
    add: (entry) => attempt(() => addNow(entry)),
    first: attempt(() => (all[0] === undefined ? null : load(all[0]))),
    entries: Effect.sync(() => all.values().map(load)),
    listed: () => all,
    remove: (id) =>
      attempt(() => {
        const at = all.findIndex((stored) => stored.id === id)
        const [stored] = at === -1 ? [] : all.splice(at, 1)
        if (stored !== undefined) {
          rmSync(join(folder, stored.file))
          bytes -= stored.size
        }
      }),
    count: () => all.length,
    bytes: () => bytes
  }
})
