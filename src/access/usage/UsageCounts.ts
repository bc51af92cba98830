import type { UsageCaller, UsageSums } from "../../api/schemas/Usage.ts"
import type { UsedRequest } from "./UsageStore.ts"

const DAY_MS = 86_400_000
/** Rows that may wait for the store: about 20 MB. */
export const MOST_ROWS = 50_000

/** Sums that are not stored yet. */
export interface CountedRow extends UsageSums {
  readonly accountId: string
  readonly keyId: string
  readonly operation: string
  /** Days since the Unix epoch. */
  readonly day: number
}

export interface UsageClock {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number
}

interface OpenStream {
  readonly caller: UsageCaller
  readonly operation: string
  readonly sentBytes: () => number
  countedMs: number
  countedBytes: number
}

/**
 * Counts in memory since the last `take`: one row for each credential, operation and day, at most MOST_ROWS. Without
 * room for a row, only `uncounted` counts the change. Counting a request takes two look-ups.
 */
export class UsageCounts {
  readonly #clock: UsageClock
  readonly #mostRows: number
  readonly #streams = new Set<OpenStream>()
  #day = -1
  #rows: Array<CountedRow> = []
  #today = new Map<string, Map<string, CountedRow>>()
  #uncounted = 0

  constructor(clock: UsageClock, mostRows = MOST_ROWS) {
    this.#clock = clock
    this.#mostRows = mostRows
  }

  /** Number of changes since the start that found no room and are not counted. */
  get uncounted(): number {
    return this.#uncounted
  }

  request({ bytes, caller, isError, operation, units }: UsedRequest): void {
    const row = this.#row(caller, operation)
    if (row !== undefined) {
      row.requests++
      row.units += units
      row.errors += isError ? 1 : 0
      row.bytes += bytes
    }
  }

  addUnits(caller: UsageCaller, operation: string, units: number): void {
    const row = this.#row(caller, operation)
    if (row !== undefined) {
      row.units += units
    }
  }

  open(caller: UsageCaller, operation: string, sentBytes: () => number): () => void {
    const stream = { caller, operation, sentBytes, countedMs: this.#clock.monotonicMs(), countedBytes: 0 }
    this.#streams.add(stream)
    return () => {
      if (this.#streams.delete(stream)) {
        this.#accrue(stream)
      }
    }
  }

  /**
   * Removes and returns every row. Open streams are counted up to now, so their last seconds may count for the next
   * day.
   */
  take(): ReadonlyArray<CountedRow> {
    this.#streams.forEach((stream) => this.#accrue(stream))
    const rows = this.#rows
    this.#rows = []
    this.#today.clear()
    return rows
  }

  #accrue(stream: OpenStream): void {
    const row = this.#row(stream.caller, stream.operation)
    if (row !== undefined) {
      const ms = Math.floor(this.#clock.monotonicMs() - stream.countedMs)
      const bytes = stream.sentBytes()
      row.streamMs += ms
      row.bytes += bytes - stream.countedBytes
      stream.countedMs += ms
      stream.countedBytes = bytes
    }
  }

  #row(caller: UsageCaller, operation: string): CountedRow | undefined {
    const day = Math.floor(this.#clock.nowMs() / DAY_MS)
    if (day !== this.#day) {
      this.#today.clear()
      this.#day = day
    }
    return this.#today.get(caller.id)?.get(operation) ?? this.#add(caller, operation, day)
  }

  #add({ accountId, id: keyId }: UsageCaller, operation: string, day: number): CountedRow | undefined {
    if (this.#rows.length >= this.#mostRows) {
      this.#uncounted++
      return undefined
    }
    const row = { accountId, keyId, operation, day, requests: 0, units: 0, errors: 0, bytes: 0, streamMs: 0 }
    this.#rows.push(row)
    const operations = this.#today.get(keyId) ?? new Map<string, CountedRow>()
    this.#today.set(keyId, operations.set(operation, row))
    return row
  }
}
