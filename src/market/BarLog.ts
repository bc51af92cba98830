import { BAR, copyBar, START } from "./bar.ts"
import { Records } from "./Records.ts"

/** Bars of one chunk: small, because most tokens trade rarely. */
const CHUNK = 4
/** Cells behind the bars of a chunk: the chunk before it and the one after it. */
const OLDER = CHUNK * BAR
const NEWER = OLDER + 1

/** How much a log keeps. */
export interface BarLimits {
  /** Bars of one series; its oldest go first. */
  readonly perSeries: number
  /** Bars of all series together; a full log takes turns in trimming those that hold most of their past. */
  readonly total: number
}

/** Looks at one bar; false ends the walk. */
export type Visit = (cells: Float64Array, at: number) => boolean

/** Closed bars of one width, a series per token, in order of time. Bounded: what no longer fits is dropped from the old end. */
export class BarLog {
  private readonly chunks = new Records(CHUNK * BAR + 2)
  private readonly limits: BarLimits
  private readonly oldest: Uint32Array
  private readonly newest: Uint32Array
  /** Bars in the newest chunk. */
  private readonly filled: Uint8Array
  private readonly lengths: Uint32Array
  private readonly trimmed: Uint8Array
  private hand = 0

  constructor(series: number, limits: BarLimits) {
    this.limits = limits
    this.oldest = new Uint32Array(series + 1)
    this.newest = new Uint32Array(series + 1)
    this.filled = new Uint8Array(series + 1)
    this.lengths = new Uint32Array(series + 1)
    this.trimmed = new Uint8Array(series + 1)
  }

  /** Whether bars of the series were dropped to stay within the limits. */
  isTrimmed(series: number): boolean {
    return this.trimmed[series] === 1
  }

  /** Appends a bar; its start is later than every other of the series. */
  append(series: number, from: Float64Array, fromAt: number): void {
    const position = this.room(series)
    const chunk = this.newest[series] ?? 0
    copyBar(from, fromAt, this.chunks.page(chunk), this.chunks.at(chunk) + position * BAR)
  }

  /** Puts a bar where its time belongs. Costs as many moves as there are later bars. */
  insert(series: number, from: Float64Array, fromAt: number): void {
    const start = from[fromAt + START] ?? 0
    this.append(series, from, fromAt)
    const bar = new Float64Array(BAR)
    copyBar(from, fromAt, bar, 0)
    const state: { page: Float64Array; at: number; first: boolean } = { page: bar, at: 0, first: true }
    this.walkBack(series, (cells, at) => {
      if (state.first) {
        state.first = false
      } else if ((cells[at + START] ?? 0) > start) {
        copyBar(cells, at, state.page, state.at)
      } else {
        return false
      }
      state.page = cells
      state.at = at
      return true
    })
    copyBar(bar, 0, state.page, state.at)
  }

  /** Visits the bars of a series from the newest to the oldest. */
  walkBack(series: number, visit: Visit): void {
    for (let chunk = this.newest[series] ?? 0, last = this.filled[series] ?? 0; chunk !== 0; last = CHUNK) {
      const page = this.chunks.page(chunk)
      const at = this.chunks.at(chunk)
      for (let position = last - 1; position >= 0; position--) {
        if (!visit(page, at + position * BAR)) {
          return
        }
      }
      chunk = page[at + OLDER] ?? 0
    }
  }

  /** Drops whole chunks of bars that began before the second. */
  dropBefore(series: number, second: number): void {
    for (;;) {
      const chunk = this.oldest[series] ?? 0
      const end = this.chunks.at(chunk) + (CHUNK - 1) * BAR + START
      const spare = chunk !== 0 && chunk !== this.newest[series]
      if (!spare || (this.chunks.page(chunk)[end] ?? 0) >= second) {
        return
      }
      this.dropOldest(series)
    }
  }

  /** Forgets a series. */
  clear(series: number): void {
    for (let chunk = this.oldest[series] ?? 0; chunk !== 0;) {
      const newer = this.chunks.page(chunk)[this.chunks.at(chunk) + NEWER] ?? 0
      this.chunks.give(chunk)
      chunk = newer
    }
    this.oldest[series] = 0
    this.newest[series] = 0
    this.filled[series] = 0
    this.lengths[series] = 0
    this.trimmed[series] = 0
  }

  /** Bytes in use. */
  get usedBytes(): number {
    return this.chunks.used * this.chunks.stride * Float64Array.BYTES_PER_ELEMENT
  }

  private room(series: number): number {
    const filled = this.filled[series] ?? 0
    this.lengths[series] = (this.lengths[series] ?? 0) + 1
    if (filled < CHUNK && this.newest[series] !== 0) {
      this.filled[series] = filled + 1
      return filled
    }
    if ((this.lengths[series] ?? 0) > this.limits.perSeries) {
      this.dropOldest(series)
    }
    if (this.chunks.used * CHUNK >= this.limits.total) {
      this.trim()
    }
    this.addChunk(series)
    this.filled[series] = 1
    return 0
  }

  private addChunk(series: number): void {
    const chunk = this.chunks.take()
    const before = this.newest[series] ?? 0
    this.chunks.page(chunk)[this.chunks.at(chunk) + OLDER] = before
    if (before === 0) {
      this.oldest[series] = chunk
    } else {
      this.chunks.page(before)[this.chunks.at(before) + NEWER] = chunk
    }
    this.newest[series] = chunk
  }

  /** Takes the oldest chunk from the next series that has more than one; every series in turn, so that none loses all. */
  private trim(): void {
    for (let tries = 0; tries < this.newest.length; tries++) {
      this.hand = (this.hand + 1) % this.newest.length
      if (this.oldest[this.hand] !== this.newest[this.hand]) {
        this.dropOldest(this.hand)
        return
      }
    }
  }

  private dropOldest(series: number): void {
    const chunk = this.oldest[series] ?? 0
    if (chunk === 0 || chunk === this.newest[series]) {
      return
    }
    const newer = this.chunks.page(chunk)[this.chunks.at(chunk) + NEWER] ?? 0
    this.oldest[series] = newer
    this.chunks.page(newer)[this.chunks.at(newer) + OLDER] = 0
    this.lengths[series] = (this.lengths[series] ?? 0) - CHUNK
    this.trimmed[series] = 1
    this.chunks.give(chunk)
  }
}
