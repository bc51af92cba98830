import type { Address } from "../../domain/Address.ts"
import type { SourceState } from "../../operations/SourceMonitor.ts"
import type { Sample } from "../../operations/Readings.ts"
import { STREAM_SILENCE_MS } from "../../chain/geyser/ProgramWrites.ts"
import type { IndexedListing } from "./PoolEntries.ts"
import type { IndexedProgram } from "./PoolIndexStore.ts"

/** A refused snapshot is requested again after this many milliseconds: a provider may change what it offers. */
const REFUSED_MS = 3_600_000
/** A failed snapshot is read again after this many milliseconds. The pause doubles with each further failure. */
const FAILED_MS = 5000
const LONGEST_FAILED_MS = 600_000
/** After this many failed reads in a row the operator gets advice. */
const ADVISED_AFTER = 3

const STREAM_ADVICE =
  "The Geyser refuses the stream of pools: it must allow a filter of accounts by owner for each program. " +
  "Set GEYSER_URL to one that does, or POOL_INDEX=off. Until then pools are searched for each token."

/**
 * Why a program's snapshot is missing: the node refuses the read (`refused`), the read fails (`unread`), or the
 * database cannot store it (`unstored`).
 */
export type SnapshotFailure = "refused" | "unread" | "unstored"

interface ProgramProgress {
  readonly listing: IndexedListing
  isWhole: boolean
  entries: number
  /** The failure since the last snapshot; null when there was none. */
  failure: SnapshotFailure | null
  /** Failures in a row, without refusals. */
  failures: number
  /** By the monotonic clock. */
  retryAtMs: number
}

/** How far the index is, in the process that keeps it. */
export class IndexProgress {
  readonly #programs: ReadonlyArray<ProgramProgress>
  /** The newest slot of the stream; 0 before the first. */
  slot = 0
  /** When that slot arrived, by the monotonic clock. */
  heardAtMs = Number.NEGATIVE_INFINITY
  /** When the last stored slot arrived, by the monotonic clock. */
  keptAtMs = Number.NEGATIVE_INFINITY
  /** True after the Geyser refused a stream. A stream that starts, or a different failure, resets it. */
  isStreamRefused = false
  /** The last write to the store, in milliseconds since the Unix epoch; null before the first. */
  storedAtMs: number | null = null

  constructor(listings: ReadonlyArray<IndexedListing>) {
    this.#programs = listings.map((listing) => ({
      listing,
      isWhole: false,
      entries: 0,
      failure: null,
      failures: 0,
      retryAtMs: Number.NEGATIVE_INFINITY
    }))
  }

  /** Takes the stored state. */
  load(stored: ReadonlyMap<Address, IndexedProgram>): void {
    for (const program of this.#programs) {
      const known = stored.get(program.listing.program.programId)
      program.isWhole = known?.isWhole === true
      program.entries = known?.entries ?? 0
    }
  }

  /** Marks every program as incomplete. */
  lose(): void {
    this.#programs.forEach((program) => (program.isWhole = false))
  }

  /** The next program to read; undefined when none is due. */
  next(nowMs: number): IndexedListing | undefined {
    return this.#programs.find(({ isWhole, retryAtMs }) => !isWhole && retryAtMs <= nowMs)?.listing
  }

  finish(listing: IndexedListing, entries: number): void {
    this.#change(listing, () => ({ isWhole: true, entries, failure: null, failures: 0 }))
  }

  /** Records a failed snapshot. Returns the milliseconds until it is read again. */
  fail(listing: IndexedListing, failure: SnapshotFailure, nowMs: number): number {
    let waitMs = REFUSED_MS
    this.#change(listing, ({ failures }) => {
      if (failure === "refused") {
        return { failure, failures: 0, retryAtMs: nowMs + waitMs }
      }
      waitMs = Math.min(FAILED_MS * 2 ** failures, LONGEST_FAILED_MS)
      return { failure, failures: failures + 1, retryAtMs: nowMs + waitMs }
    })
    return waitMs
  }

  /**
   * Names the programs whose snapshot is refused or keeps failing, and the settings that help; null when there are
   * none.
   */
  get advice(): string | null {
    const refused = this.#named(({ failure }) => failure === "refused")
    const unread = this.#named(({ failure, failures }) => failure === "unread" && failures >= ADVISED_AFTER)
    const parts = [
      ...(refused === null
        ? []
        : [
            `The node refuses getProgramAccounts of whole programs for ${refused}: set SOLANA_RPC_URL to one that answers it, ` +
              "or POOL_INDEX=off."
          ]),
      ...(unread === null
        ? []
        : [
            `getProgramAccounts of whole programs fails again and again for ${unread}: raise SOLANA_SCAN_TIMEOUT, ` +
              "set SOLANA_RPC_URL to a node that answers sooner, or POOL_INDEX=off."
          ])
    ]
    return parts.length === 0 ? null : [...parts, "Until then their pools are searched for each token."].join(" ")
  }

  /** The state as a source. `monotonicMs` is the monotonic clock. */
  state(monotonicMs: number): SourceState {
    const whole = this.#programs.filter(({ isWhole }) => isWhole).length
    const share = this.#programs.length === 0 ? 1 : whole / this.#programs.length
    const base = { observedAtMs: this.storedAtMs, share, ...(this.slot > 0 && { slot: this.slot }) }
    const advice = this.isStreamRefused ? STREAM_ADVICE : this.advice
    if (share === 1) {
      return monotonicMs - this.keptAtMs > STREAM_SILENCE_MS
        ? { ...base, status: "stale", reason: "source_stale", ...(advice !== null && { advice }) }
        : { ...base, status: "known" }
    }
    return {
      ...base,
      status: whole === 0 ? "unavailable" : "partial",
      ...(advice === null
        ? { reason: this.slot === 0 ? ("source_gap" as const) : ("backfill_running" as const) }
        : { reason: "not_captured" as const, advice })
    }
  }

  /** Entries by venue. */
  samples(): ReadonlyArray<Sample> {
    return this.#programs.map(({ entries, listing }) => ({ value: entries, labels: { dex: listing.program.dex } }))
  }

  /** The venues of the programs that satisfy the predicate, separated by commas; null when there are none. */
  #named(isSo: (program: ProgramProgress) => boolean): string | null {
    const names = this.#programs.filter(isSo).map(({ listing }) => listing.program.dex)
    return names.length === 0 ? null : names.join(", ")
  }

  #change(listing: IndexedListing, change: (program: ProgramProgress) => Partial<ProgramProgress>): void {
    const program = this.#programs.find((each) => each.listing === listing)
    if (program !== undefined) {
      Object.assign(program, change(program))
    }
  }
}
