/** Reads the files of a recording, and says which slots they cover. */
import { promises as files } from "node:fs"
import { Effect, Schema } from "effect"
import type { Address } from "../../domain/Address.ts"
import {
  type Entry,
  FORMAT,
  type Header,
  type Moment,
  newestMoment,
  readEntries,
  type RecordedEvent,
  wholeLength
} from "./recordEntry.ts"
import { listFiles, type RecordFile } from "./recordFiles.ts"

/** A folder holds no recording that can be read. */
export class RecordingUnreadable extends Schema.TaggedError<RecordingUnreadable>()("RecordingUnreadable", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `RECORD_DIR: ${this.folder} ${this.detail}`
  }
}

/** A file with its whole entries. */
export interface ReadFile extends RecordFile {
  readonly header: Header
  /** Every entry after the header. Reads again at each iteration. */
  readonly entries: Iterable<Entry>
  /** Size in bytes. */
  readonly bytes: number
  /** True when the file ends in the middle of an entry. */
  readonly isTorn: boolean
}

const attempt = <A>(folder: string, read: () => Promise<A>) =>
  Effect.tryPromise({
    try: read,
    catch: (cause) =>
      new RecordingUnreadable({
        folder,
        detail: `cannot be read: ${cause instanceof Error ? cause.message : "unknown"}`
      })
  })

/** The first and the newest slot of a recording; null without one. Slots between them may be missing. */
export const recordedRange = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<Stretch | null, RecordingUnreadable> {
  const listed = yield* attempt(folder, () => listFiles(folder))
  const last = listed.at(-1)
  if (listed[0] === undefined || last === undefined) {
    return null
  }
  const bytes = yield* attempt(folder, () => files.readFile(last.path))
  return { from: listed[0].slot, to: newestMoment(bytes)?.slot ?? last.slot }
})

/** The files of a folder, oldest first. Fails without one. */
export const recordFilesOf = Effect.fnUntraced(function* (folder: string) {
  const listed = yield* attempt(folder, () => listFiles(folder))
  return listed.length === 0 ? yield* new RecordingUnreadable({ folder, detail: "holds no recording" }) : listed
})

/** Reads one file. Null when its first entry is not whole, as after a start that was killed. */
export const readRecordFile = Effect.fnUntraced(function* (
  folder: string,
  file: RecordFile
): Effect.fn.Return<ReadFile | null, RecordingUnreadable> {
  const bytes = yield* attempt(folder, () => files.readFile(file.path))
  const [first] = readEntries(bytes).take(1)
  if (first?._tag !== "Header") {
    return null
  }
  const { header } = first
  if (header.format !== FORMAT) {
    const detail = `has files of format ${header.format}, and this version reads format ${FORMAT}`
    return yield* new RecordingUnreadable({ folder, detail })
  }
  const isTorn = wholeLength(bytes) < bytes.length
  return {
    ...file,
    header,
    bytes: bytes.length,
    isTorn,
    entries: { [Symbol.iterator]: () => readEntries(bytes).drop(1) }
  }
})

/** Slots whose state is known, both ends included. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** Collects the slots in which the feed followed the chain without a break. */
export class Coverage {
  readonly #stretches: Array<{ from: number; to: number }> = []
  #isOpen = false
  #run: string | null = null
  #part = -1

  /** Begins a file. A file of another run, or one after a lost file, begins another stretch. */
  begin({ part, run }: Header): void {
    this.#isOpen &&= run === this.#run && part === this.#part + 1
    this.#run = run
    this.#part = part
  }

  /** Notes where the feed stood at the end of an entry. What came after a gap ends the stretch before it. */
  reach({ slot, state }: Moment, { events }: { readonly events: ReadonlyArray<RecordedEvent> }): void {
    this.#isOpen &&= events.every(({ moment }) => moment.state !== "reloading")
    if (state !== "live" || slot === 0) {
      this.#isOpen = false
      return
    }
    const last = this.#stretches.at(-1)
    if (this.#isOpen && last !== undefined) {
      last.to = Math.max(last.to, slot)
    } else {
      this.#stretches.push({ from: slot, to: slot })
      this.#isOpen = true
    }
  }

  /** True while the newest stretch goes on. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  get stretches(): ReadonlyArray<Stretch> {
    return this.#stretches
  }
}

/** What a recording holds. */
export interface RecordingSummary {
  readonly files: number
  readonly bytes: number
  /** Hash of the newest chain's first block; null when it is not known. */
  readonly genesis: string | null
  /** Slots with the state of every followed account. */
  readonly covered: ReadonlyArray<Stretch>
  /** Accounts with a state, counted once. */
  readonly accounts: number
  readonly writes: number
  readonly blocks: number
  /** First and last slot with a block; null without one. */
  readonly firstBlock: number | null
  readonly lastBlock: number | null
  /** Ranges of slots whose blocks are missing. */
  readonly gaps: number
  /** Files that end in the middle of an entry, or have no whole entry. */
  readonly torn: number
  /** Compressed bytes of account writes, with the states at the beginning of files, and of blocks. */
  readonly accountBytes: number
  readonly blockBytes: number
}

/** Reads the whole recording in a folder. */
export const summarizeRecording = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<RecordingSummary, RecordingUnreadable> {
  const listed = yield* recordFilesOf(folder)
  const coverage = new Coverage()
  let [blocks, firstBlock, lastBlock]: [number, number | null, number | null] = [0, null, null]
  const known = new Set<Address>()
  let [bytes, writes, gaps, torn, blockBytes] = [0, 0, 0, 0, 0]
  let genesis: string | null = null
  for (const file of listed) {
    const read = yield* readRecordFile(folder, file)
    if (read === null) {
      torn += 1
      continue
    }
    bytes += read.bytes
    torn += read.isTorn ? 1 : 0
    genesis = read.header.genesis
    coverage.begin(read.header)
    for (const entry of read.entries) {
      if (entry._tag === "Block") {
        blocks += 1
        firstBlock ??= entry.block.slot
        lastBlock = entry.block.slot
        blockBytes += entry.block.json.length
      } else if (entry._tag === "Gap") {
        gaps += 1
      } else if (entry._tag === "Accounts") {
        for (const { event } of entry.events) {
          const { accounts } = event._tag === "Writes" ? event : event.snapshot
          writes += entry.isWhole ? 0 : accounts.size
          accounts.forEach((_, address) => known.add(address))
        }
        if (entry.end !== null) {
          coverage.reach(entry.end, entry)
        }
      }
    }
  }
  return {
    files: listed.length,
    bytes,
    genesis,
    covered: coverage.stretches,
    accounts: known.size,
    writes,
    blocks,
    firstBlock,
    lastBlock,
    gaps,
    torn,
    accountBytes: bytes - blockBytes,
    blockBytes
  }
})
