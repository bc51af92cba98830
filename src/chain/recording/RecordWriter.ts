/**
 * Writes a recording. Everything that arrives waits in memory until `flush` appends it to the newest file. A file begins
 * with the state of all followed accounts, so that older files can be removed and a lost write costs one file at most.
 */
import { promises as files } from "node:fs"
import type { Address } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { ChainEvent } from "../ChainFeed.ts"
import { type Entry, encodeEntry, FORMAT, type Moment, type RecordedBlock, type RecordedEvent } from "./recordEntry.ts"
import { pathOfFile, prune } from "./recordFiles.ts"
import type { RecordBounds } from "./recordSettings.ts"

const MIB = 1024 * 1024
/** A file ends at this size or age. */
const LARGEST_FILE = 64 * MIB
const LONGEST_FILE_MS = 3_600_000
/** The smallest share of the whole recording that a file may be, so that removing one file leaves most of it. */
const FILES = 8
/** What may wait for a disk that does not answer. */
const MOST_WAITING = 64 * MIB
/** Bytes of an account apart from its data, in memory. */
const OF_ACCOUNT = 100

/** The disk as the writer uses it. */
export interface RecordDisk {
  /** Appends bytes to a file, which is made when it does not exist. */
  readonly append: (path: string, bytes: Uint8Array) => Promise<void>
  readonly makeFolder: (path: string) => Promise<void>
  readonly remove: (path: string) => Promise<void>
  readonly prune: typeof prune
}

/** The file system. */
export const fileDisk: RecordDisk = {
  append: (path, bytes) => files.appendFile(path, bytes),
  makeFolder: async (path) => void (await files.mkdir(path, { recursive: true })),
  remove: (path) => files.rm(path, { force: true }),
  prune
}

interface OpenFile {
  readonly path: string
  readonly begunAtMs: number
  bytes: number
  /** Size of the state at its beginning. */
  stateBytes: number
}

/** What the recorder did so far. */
export interface RecordState {
  /** When something was last written, in milliseconds since the Unix epoch; null before. */
  readonly writtenAtMs: number | null
  /** True while the last write failed. */
  readonly hasFailed: boolean
  /** The newest slot that was written; 0 before the first. */
  readonly slot: number
  readonly accounts: number
  /** Size of all files together. */
  readonly bytes: number
  readonly writtenBytes: number
  readonly failures: number
}

const isFullDisk = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")

/** True when a gap ends with an event of the entry. */
const endsGap = (entry: Entry): boolean =>
  entry._tag === "Accounts" && entry.events.some(({ moment }) => moment.state === "reloading")

export class RecordWriter {
  readonly #folder: string
  readonly #bounds: RecordBounds
  readonly #disk: RecordDisk
  readonly #run: string
  readonly #followed = new Map<Address, OnChainAccount | null | undefined>()
  #events: Array<RecordedEvent> = []
  #blocks: Array<Entry> = []
  #unwatched = new Set<Address>()
  #waiting = 0
  /** True when something that waited was dropped, so that another file has to begin. */
  #hasLost = false
  #file: OpenFile | null = null
  /** Number of the next file. A number is left out where something was lost. */
  #part = 0
  #genesis: string | null = null
  #writtenAtMs: number | null = null
  #hasFailed = false
  #slot = 0
  #bytes = 0
  #writtenBytes = 0
  #failures = 0
  /** What all files may have together since a disk was full, in bytes. */
  #mostOnDisk = Number.POSITIVE_INFINITY
  /** The flush that is under way. */
  #last: Promise<void> = Promise.resolve()

  /** `run` identifies this process among the writers of the folder. */
  constructor(options: {
    readonly folder: string
    readonly bounds: RecordBounds
    readonly run: string
    readonly disk?: RecordDisk
  }) {
    this.#folder = options.folder
    this.#bounds = options.bounds
    this.#run = options.run
    this.#disk = options.disk ?? fileDisk
  }

  state(): RecordState {
    return {
      writtenAtMs: this.#writtenAtMs,
      hasFailed: this.#hasFailed,
      slot: this.#slot,
      accounts: this.#followed.size,
      bytes: this.#bytes,
      writtenBytes: this.#writtenBytes,
      failures: this.#failures
    }
  }

  /** Names the chain. Another name ends the file. */
  setGenesis(genesis: string | null): void {
    this.#file = genesis === this.#genesis ? this.#file : null
    this.#genesis = genesis
  }

  watch(addresses: Iterable<Address>): void {
    for (const address of addresses) {
      this.#unwatched.delete(address)
      if (!this.#followed.has(address)) {
        this.#followed.set(address, undefined)
      }
    }
  }

  unwatch(addresses: Iterable<Address>): void {
    for (const address of addresses) {
      if (this.#followed.delete(address)) {
        this.#unwatched.add(address)
      }
    }
  }

  /** Takes an event of the account feed. Accounts that are not followed are left out. */
  take(event: ChainEvent, moment: Moment): void {
    const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
    const kept = new Map(Array.from(accounts).filter(([address]) => this.#followed.has(address)))
    for (const [address, account] of kept) {
      this.#followed.set(address, account)
      this.#waiting += OF_ACCOUNT + (account?.data.length ?? 0)
    }
    if (kept.size > 0) {
      const own: ChainEvent =
        event._tag === "Writes"
          ? { _tag: "Writes", slot, accounts: kept }
          : { _tag: "Snapshot", snapshot: { slot, accounts: kept } }
      this.#events.push({ moment, event: own })
    }
    this.#shed()
  }

  takeBlock(block: RecordedBlock): void {
    this.#blocks.push({ _tag: "Block", block })
    this.#waiting += block.json.length
    this.#shed()
  }

  takeGap(gap: Extract<Entry, { readonly _tag: "Gap" }>["gap"]): void {
    this.#blocks.push({ _tag: "Gap", gap })
  }

  /**
   * Writes what waits, after an earlier flush. Fails with the error of the disk; what waited is then lost, and the next file
   * begins anew.
   */
  flush(now: Moment): Promise<void> {
    const flushed = this.#last.then(() => this.#flushNow(now))
    this.#last = flushed.catch(() => undefined)
    return flushed
  }

  async #flushNow(now: Moment): Promise<void> {
    const entries = this.#takeWaiting(now)
    try {
      await this.#write(entries, now)
      this.#hasFailed = false
      this.#writtenAtMs = now.heardAtMs
      this.#slot = Math.max(this.#slot, now.slot)
    } catch (error) {
      this.#file = null
      this.#part += 1
      this.#hasFailed = true
      this.#failures += 1
      if (isFullDisk(error)) {
        this.#mostOnDisk = Math.max(0, this.#bytes - 2 * this.#largest)
      }
      throw error
    }
  }

  /** The waiting entries in the order of the file: accounts, then blocks. Nothing waits afterwards. */
  #takeWaiting(now: Moment): ReadonlyArray<Entry> {
    const accounts: Entry = {
      _tag: "Accounts",
      isWhole: false,
      events: this.#events,
      unwatched: Array.from(this.#unwatched),
      end: now
    }
    const entries = [accounts, ...this.#blocks]
    this.#events = []
    this.#blocks = []
    this.#unwatched = new Set()
    this.#waiting = 0
    return entries
  }

  async #write(entries: ReadonlyArray<Entry>, now: Moment): Promise<void> {
    const open = this.#file
    // What is lost from here on belongs to the next file.
    const hasLost = this.#hasLost
    this.#hasLost = false
    const isEnded =
      open === null ||
      hasLost ||
      // A state that alone is larger than a file does not end it at once.
      open.bytes - open.stateBytes >= Math.max(this.#largest - open.stateBytes, open.stateBytes) ||
      now.heardAtMs - open.begunAtMs >= LONGEST_FILE_MS
    if (isEnded && entries.some(endsGap)) {
      // Its state hides the gap that these events close.
      this.#part += 1
    }
    const file = isEnded ? await this.#begin(now) : open
    // The state at the beginning of a new file contains these events.
    const isNew = file !== open
    const wanted = isNew
      ? entries.map((entry) => (entry._tag === "Accounts" ? { ...entry, events: [] } : entry))
      : entries
    await this.#append(file, Buffer.concat(wanted.map(encodeEntry)))
    this.#file = file
  }

  /** The size at which a file ends, in bytes. */
  get #largest(): number {
    return Math.min(LARGEST_FILE, this.#bounds.mostBytes / FILES)
  }

  /** Removes old files, so that another file has room to grow. */
  async #prune(now: Moment): Promise<void> {
    const keptFromMs = now.heardAtMs - this.#bounds.keptMs
    const mostBytes = Math.min(this.#mostOnDisk, Math.max(0, this.#bounds.mostBytes - this.#largest))
    this.#bytes = await this.#disk.prune(this.#folder, { mostBytes, keptFromMs, open: null })
  }

  /** Begins a file with its header and the state of every followed account. */
  async #begin(now: Moment): Promise<OpenFile> {
    await this.#disk.makeFolder(this.#folder)
    await this.#prune(now)
    const known = Array.from(this.#followed).flatMap(([address, account]) =>
      account === undefined ? [] : [[address, account] as const]
    )
    const snapshot = { slot: now.slot, accounts: new Map(known) }
    const header: Entry = {
      _tag: "Header",
      header: { format: FORMAT, genesis: this.#genesis, run: this.#run, part: this.#part }
    }
    const whole: Entry = {
      _tag: "Accounts",
      isWhole: true,
      events: [{ moment: now, event: { _tag: "Snapshot", snapshot } }],
      unwatched: [],
      end: null
    }
    const file = {
      path: pathOfFile(this.#folder, now.heardAtMs, now.slot),
      begunAtMs: now.heardAtMs,
      bytes: 0,
      stateBytes: 0
    }
    try {
      await this.#append(file, Buffer.concat([header, whole].map(encodeEntry)))
    } catch (error) {
      // A file without its state says nothing. On a full disk there would be one more after each attempt.
      await this.#disk.remove(file.path).catch(() => undefined)
      throw error
    }
    file.stateBytes = file.bytes
    this.#part += 1
    return file
  }

  async #append(file: OpenFile, bytes: Uint8Array): Promise<void> {
    await this.#disk.append(file.path, bytes)
    file.bytes += bytes.length
    this.#bytes += bytes.length
    this.#writtenBytes += bytes.length
  }

  /** Drops what waits once it is too much. */
  #shed(): void {
    if (this.#waiting > MOST_WAITING) {
      this.#events = []
      this.#blocks = []
      this.#waiting = 0
      this.#part += this.#hasLost ? 0 : 1
      this.#hasLost = true
    }
  }
}
