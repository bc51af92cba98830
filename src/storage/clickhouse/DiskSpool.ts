/** A bounded queue of entries, stored in files in the order they were added. It survives the process. */
import { Effect, Schema, type Scope } from "effect"
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import { takeFolder } from "../folderLock.ts"

/** The folder cannot be used, or a single entry is larger than the bound. */
export class SpoolUnusable extends Schema.TaggedError<SpoolUnusable>()("SpoolUnusable", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `the spool in ${this.folder} cannot be used: ${this.detail}`
  }
}

/** The content of an entry. The head can be read without the body, which may be large. */
export interface SpoolContent {
  readonly head: Uint8Array
  readonly body: Uint8Array
}

export interface SpoolEntry {
  readonly id: number
  /** True when the entry before this one was dropped to make room. */
  readonly afterLoss: boolean
}

interface Stored extends SpoolEntry {
  readonly file: string
  readonly size: number
}

export interface DiskSpool {
  /**
   * Adds an entry, and returns once it is on disk. Returns the entries that were dropped to make room, oldest first.
   */
  add(
    content: SpoolContent
  ): Effect.Effect<{ readonly id: number; readonly dropped: ReadonlyArray<SpoolEntry> }, SpoolUnusable>
  /** Every entry, oldest first. */
  readonly listed: () => ReadonlyArray<SpoolEntry>
  head(id: number): Effect.Effect<Uint8Array, SpoolUnusable>
  body(id: number): Effect.Effect<Uint8Array, SpoolUnusable>
  remove(id: number): Effect.Effect<void, SpoolUnusable>
  /** Number of entries and their bytes. */
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

/** A file begins with the length of its head. The length takes this many bytes. */
const PREFIX_BYTES = 4

const joined = ({ body, head }: SpoolContent): Uint8Array => {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32LE(head.length)
  return Buffer.concat([prefix, head, body])
}

const readHead = (file: string): Uint8Array => {
  const handle = openSync(file, "r")
  try {
    const prefix = Buffer.alloc(PREFIX_BYTES)
    readSync(handle, prefix, 0, PREFIX_BYTES, 0)
    const head = Buffer.alloc(prefix.readUInt32LE())
    const read = readSync(handle, head, 0, head.length, PREFIX_BYTES)
    if (read < head.length) {
      throw new Error("an entry ends early")
    }
    return head
  } finally {
    closeSync(handle)
  }
}

const readBody = (file: string): Uint8Array => {
  const bytes = readFileSync(file)
  return bytes.subarray(PREFIX_BYTES + bytes.readUInt32LE())
}

/** Lists the entries in a folder. Removes files that were written only in part. */
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

/** Opens the queue in a folder until the scope closes. Fails when another process uses it. */
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

  const fileOf = (id: number): string => {
    const stored = all.find((each) => each.id === id)
    if (stored === undefined) {
      throw new Error(`entry ${id} is not there`)
    }
    return join(folder, stored.file)
  }

  /** Removes the oldest entry. Before that, the next entry is marked as following a loss. */
  const dropFirst = (): SpoolEntry => {
    const [first, second] = all
    if (first === undefined) {
      throw new Error("nothing is left to drop")
    }
    if (second !== undefined && !second.afterLoss) {
      const file = nameOf(second.id, true)
      renameSync(join(folder, second.file), join(folder, file))
      all[1] = { ...second, file, afterLoss: true }
    }
    rmSync(join(folder, first.file))
    all.shift()
    bytes -= first.size
    return first
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
    add: (content) => attempt(() => addNow(joined(content))),
    listed: () => all,
    head: (id) => attempt(() => readHead(fileOf(id))),
    body: (id) => attempt(() => readBody(fileOf(id))),
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
