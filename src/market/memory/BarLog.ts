import { BAR, copyBar, START } from "../model/bar.ts"
import { Records } from "../columnar/Records.ts"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"

/** The number of bars in a chunk: small, because most tokens trade rarely. */
const CHUNK = 4
/** Cells after the bars of a chunk: the numbers of the older and the newer chunk. */
const OLDER = CHUNK * BAR
const NEWER = OLDER + 1

/** The limits of a log. */
export interface BarLimits {
  /** The most bars of one series. The oldest are dropped first. */
  readonly perSeries: number
  /** The most bars of all series together. A full log trims the series in turn. */
  readonly total: number
  /** Bars that began this many seconds before the newest are dropped, a chunk at a time. */
  readonly keepSeconds: number
}

/** Visits one bar. Returns false to stop. */
export type Visit = (cells: Float64Array, at: number) => boolean

/**
 * Cells of a series: its oldest and newest chunk, the number of bars in the newest, the number of all bars, and whether
 * some were dropped.
 */
const OLDEST = 0
const NEWEST = 1
const FILLED = 2
const LENGTH = 3
const TRIMMED = 4

/**
 * The number of cells in a series, zeros at first. They lie in a record of the caller, beside cells that are used
 * together with them.
 */
export const SERIES = 5

/**
 * Closed bars of one width, a series per record, in order of time. Bounded: bars that no longer fit are dropped from
 * the old end.
 */
export class BarLog {
  readonly #chunks = new Records(CHUNK * BAR + 2)
  readonly #limits: BarLimits
  readonly #series: Records
  readonly #offset: number
  #hand = 0

  /** The cells of each series begin at `offset` of its record. */
  constructor(series: Records, offset: number, limits: BarLimits) {
    this.#series = series
    this.#offset = offset
    this.#limits = limits
  }

  /** True when bars of the series were dropped to stay within the limits. */
  isTrimmed(series: number): boolean {
    return this.#series.page(series)[this.#series.at(series) + this.#offset + TRIMMED] === 1
  }

  /** The second at which the oldest bar of a series begins; null when there is none. */
  oldest(series: number): number | null {
    const chunk = this.#series.page(series)[this.#series.at(series) + this.#offset + OLDEST] ?? 0
    return chunk === 0 ? null : (this.#chunks.page(chunk)[this.#chunks.at(chunk) + START] ?? null)
  }

  /** Appends a bar. It must start later than every other bar of the series. */
  append(series: number, from: Float64Array, fromAt: number): void {
    const cells = this.#series.page(series)
    const at = this.#series.at(series) + this.#offset
    const position = this.#room(cells, at, from[fromAt + START] ?? 0)
    const chunk = cells[at + NEWEST] ?? 0
    copyBar(from, fromAt, this.#chunks.page(chunk), this.#chunks.at(chunk) + position * BAR)
  }

  /** Reads the chunk to which the next bar will be appended. */
  fetchNewest(series: number): number {
    const chunk = this.#series.page(series)[this.#series.at(series) + this.#offset + NEWEST] ?? 0
    return chunk === 0 ? 0 : this.#chunks.fetch(chunk)
  }

  /** Puts a bar where its time belongs. Moves every later bar once. */
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

  /** Visits the bars of a series, newest first. */
  walkBack(series: number, visit: Visit): void {
    const cells = this.#series.page(series)
    const at = this.#series.at(series) + this.#offset
    for (let chunk = cells[at + NEWEST] ?? 0, last = cells[at + FILLED] ?? 0; chunk !== 0; last = CHUNK) {
      const page = this.#chunks.page(chunk)
      const start = this.#chunks.at(chunk)
      for (let position = last - 1; position >= 0; position--) {
        if (!visit(page, start + position * BAR)) {
          return
        }
      }
      chunk = page[start + OLDER] ?? 0
    }
  }

  /** Forgets a series. */
  clear(series: number): void {
    const cells = this.#series.page(series)
    const at = this.#series.at(series) + this.#offset
    for (let chunk = cells[at + OLDEST] ?? 0; chunk !== 0;) {
      const newer = this.#chunks.page(chunk)[this.#chunks.at(chunk) + NEWER] ?? 0
      this.#chunks.give(chunk)
      chunk = newer
    }
    cells.fill(0, at, at + SERIES)
  }

  get usedBytes(): number {
    return this.#chunks.used * this.#chunks.stride * Float64Array.BYTES_PER_ELEMENT
  }

  /** Writes or reads the bars. The ends of each series are in the records of the caller. */
  *image(image: StateImage): ImageSteps {
    this.#hand = image.number(this.#hand)
    yield* this.#chunks.image(image)
  }

  #room(cells: Float64Array, at: number, start: number): number {
    const filled = cells[at + FILLED] ?? 0
    const length = (cells[at + LENGTH] ?? 0) + 1
    cells[at + LENGTH] = length
    if (filled < CHUNK && cells[at + NEWEST] !== 0) {
      cells[at + FILLED] = filled + 1
      return filled
    }
    this.#dropBefore(cells, at, start - this.#limits.keepSeconds)
    if (length > this.#limits.perSeries) {
      this.#dropOldest(cells, at)
    }
    if (this.#chunks.used * CHUNK >= this.#limits.total) {
      this.#trim()
    }
    this.#addChunk(cells, at)
    cells[at + FILLED] = 1
    return 0
  }

  #dropBefore(cells: Float64Array, at: number, second: number): void {
    for (;;) {
      const chunk = cells[at + OLDEST] ?? 0
      const end = this.#chunks.at(chunk) + (CHUNK - 1) * BAR + START
      if (chunk === cells[at + NEWEST] || (this.#chunks.page(chunk)[end] ?? 0) >= second) {
        return
      }
      this.#dropOldest(cells, at)
    }
  }

  #addChunk(cells: Float64Array, at: number): void {
    const chunk = this.#chunks.take()
    const before = cells[at + NEWEST] ?? 0
    this.#chunks.page(chunk)[this.#chunks.at(chunk) + OLDER] = before
    if (before === 0) {
      cells[at + OLDEST] = chunk
    } else {
      this.#chunks.page(before)[this.#chunks.at(before) + NEWER] = chunk
    }
    cells[at + NEWEST] = chunk
  }

  /**
   * Drops the oldest chunk of the next series that has more than one. Every series has its turn, so none loses all its
   * bars.
   */
  #trim(): void {
    const { highest } = this.#series
    for (let tries = 0; tries < highest; tries++) {
      this.#hand = (this.#hand % highest) + 1
      const cells = this.#series.page(this.#hand)
      const at = this.#series.at(this.#hand) + this.#offset
      if (cells[at + OLDEST] !== cells[at + NEWEST]) {
        this.#dropOldest(cells, at)
        return
      }
    }
  }

  #dropOldest(cells: Float64Array, at: number): void {
    const chunk = cells[at + OLDEST] ?? 0
    if (chunk === cells[at + NEWEST]) {
      return
    }
    const newer = this.#chunks.page(chunk)[this.#chunks.at(chunk) + NEWER] ?? 0
    cells[at + OLDEST] = newer
    this.#chunks.page(newer)[this.#chunks.at(newer) + OLDER] = 0
    cells[at + LENGTH] = (cells[at + LENGTH] ?? 0) - CHUNK
    cells[at + TRIMMED] = 1
    this.#chunks.give(chunk)
  }
}
