import { addToBar, BAR, beginBar, BUY_VOLUME, COUNT, moneyAt, REVISION, START, TRADERS } from "../model/bar.ts"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"
import { addWide, readWide } from "../columnar/wide.ts"
import { BarTraders } from "./BarTraders.ts"
import { BarLog, SERIES, type Visit } from "./BarLog.ts"
import { type BarPage, type BarWindow, foldBars, walkStored } from "./foldBars.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { Records } from "../columnar/Records.ts"
import { COUNTED_LEVELS, FINE_RETENTION, floorTo, levelOf, levels, type Resolution } from "../model/resolutions.ts"
import type { RevisedBar, StoredBars } from "../model/StoredBars.ts"

const MINUTE = 60

/** The most closed bars of a token at each width: 300 of the widest resolution folded from it, or more. */
const perSeries: ReadonlyArray<number> = [9000, 9000, 4320, 1500]

/** The cell after the newest bar of every width. The series of closed bars, one per width, begin there. */
const CLOSED = levels.length * BAR
/** A number that no other token has, and that changes when the token is forgotten. */
const LIFE = CLOSED + levels.length * SERIES
const CELLS = LIFE + 1

/** The candles of every token at every stored width. One writer adds trades; readers read synchronously. */
export class Candles {
  /** The cells that one trade touches lie side by side. */
  readonly #tokens = new Records(CELLS)
  readonly #closed: ReadonlyArray<BarLog>
  readonly #traders = levels.slice(0, COUNTED_LEVELS).map((width) => new BarTraders(width))

  #lives = 0

  /** Room for `bars` closed bars of each stored width. */
  constructor(limits: { readonly bars: number }) {
    this.#closed = levels.map((width, level) => {
      const keepSeconds = width < MINUTE ? FINE_RETENTION : Number.POSITIVE_INFINITY
      const limit = { perSeries: perSeries[level] ?? 0, total: limits.bars, keepSeconds }
      return new BarLog(this.#tokens, CLOSED + level * SERIES, limit)
    })
  }

  /**
   * Adds a trade to the bar of its bucket at every width. A late trade finds its bucket, or creates it. The chain was
   * read up to second `readTo`: a bar that ended by then is closed, so its revision rises.
   */
  add(record: TradeRecord, readTo = Number.NEGATIVE_INFINITY): void {
    const id = record.token
    if (!this.#has(id)) {
      this.#begin(record, readTo)
      return
    }
    const cells = this.#tokens.page(id)
    const base = this.#tokens.at(id)
    for (let level = 0; level < levels.length; level++) {
      const at = base + level * BAR
      const past = record.second - (cells[at + START] ?? 0)
      if (past < 0) {
        this.#addLate(level, record, readTo)
        continue
      }
      if (past >= (levels[level] ?? 1)) {
        this.#close(level, id, record, cells, at)
      }
      this.#addAt(level, cells, at, record, readTo)
    }
  }

  /** Reads the bars of tokens, and the places at which the next bars are appended. */
  fetch(count: number, tokens: Uint32Array): number {
    let sum = this.#tokens.fetchGroup(count, tokens)
    for (let place = 0; place < count; place++) {
      const token = tokens[place] ?? 0
      // The other widths get one bar an hour at most.
      for (let level = 0; level < COUNTED_LEVELS; level++) {
        sum += this.#closed[level]?.fetchNewest(token) ?? 0
      }
    }
    return sum
  }

  /** Bars of one resolution, oldest first. Bars from `older` come before the bars in memory. */
  read(token: number, window: BarWindow, older?: StoredBars): BarPage {
    const level = levelOf(window.resolution)
    const log = this.#closed[level]
    return foldBars(
      (visit) => {
        const state = { goesOn: true }
        const each: Visit = (cells, at) => (state.goesOn = visit(cells, at))
        this.#walkBack(token, level, each)
        if (older !== undefined && state.goesOn) {
          walkStored(older)(each)
        }
      },
      window,
      log?.isTrimmed(token) === true,
      older?.isCut === true
    )
  }

  /**
   * Nano-dollars bought from a second on, by the bars of a stored width. A bar must begin at that second. Null when
   * some bars are not held or do not know it. Trades of unknown value are not included.
   */
  boughtSince(token: number, resolution: Resolution, second: number): bigint | null {
    const held = this.trimmedTo(token, resolution)
    if (held !== null && held > second) {
      return null
    }
    const sum = new Float64Array(2)
    const level = levelOf(resolution)
    const at = moneyAt.usd + BUY_VOLUME
    const add: Visit = (cells, start) => {
      if ((cells[start + START] ?? 0) < second) {
        return false
      }
      addWide(sum, 0, cells[start + at] ?? 0, cells[start + at + 1] ?? 0)
      return true
    }
    this.#walkBack(token, level, add)
    return sum.some(Number.isNaN) ? null : readWide(sum, 0)
  }

  /** From this second on no bar of the resolution was dropped; null when no bar was ever dropped. */
  trimmedTo(token: number, resolution: Resolution): number | null {
    const log = this.#closed[levelOf(resolution)]
    return log?.isTrimmed(token) === true ? log.oldest(token) : null
  }

  /** Sets the revision of a closed bar that changed in an earlier process. Does nothing when the bar is not held. */
  revise(token: number, { revision, second, width }: Pick<RevisedBar, "revision" | "second" | "width">): void {
    const level = levels.indexOf(width)
    const mark: Visit = (cells, at) => {
      const start = cells[at + START] ?? 0
      if (start === second) {
        cells[at + REVISION] = Math.max(cells[at + REVISION] ?? 0, revision)
      }
      return start > second
    }
    if (level >= 0) {
      this.#walkBack(token, level, mark)
    }
  }

  clear(token: number): void {
    if (this.#has(token)) {
      for (const log of this.#closed) {
        log.clear(token)
      }
      this.#tokens.clear(token)
    }
  }

  get usedBytes(): number {
    const open = this.#tokens.highest * CELLS * Float64Array.BYTES_PER_ELEMENT
    return this.#closed.reduce((sum, log) => sum + log.usedBytes, open)
  }

  /** Writes or reads every bar. No trade may be added while bars are written. */
  *image(image: StateImage): ImageSteps {
    this.#lives = image.number(this.#lives)
    yield* this.#tokens.image(image)
    for (const log of this.#closed) {
      yield* log.image(image)
    }
    for (const traders of this.#traders) {
      yield* traders.image(image)
    }
  }

  /** Visits the open bar of a token at a width, then its closed bars, newest first. */
  #walkBack(token: number, level: number, visit: Visit): void {
    if (this.#has(token) && visit(this.#tokens.page(token), this.#tokens.at(token) + level * BAR)) {
      this.#closed[level]?.walkBack(token, visit)
    }
  }

  /** True when the token has a bar: a bar always contains a trade. */
  #has(token: number): boolean {
    return (this.#tokens.page(token)[this.#tokens.at(token) + COUNT] ?? 0) > 0
  }

  #begin(record: TradeRecord, readTo: number): void {
    const id = record.token
    this.#tokens.clear(id)
    const cells = this.#tokens.page(id)
    const base = this.#tokens.at(id)
    cells[base + LIFE] = ++this.#lives
    for (let level = 0; level < levels.length; level++) {
      const at = base + level * BAR
      beginBar(cells, at, floorTo(record.second, levels[level] ?? 1))
      this.#addAt(level, cells, at, record, readTo)
    }
  }

  #addAt(level: number, cells: Float64Array, at: number, record: TradeRecord, readTo: number): void {
    addToBar(cells, at, record)
    cells[at + TRADERS] = (cells[at + TRADERS] ?? 0) + this.#countTrader(level, record)
    if ((cells[at + START] ?? 0) + (levels[level] ?? 1) <= readTo) {
      cells[at + REVISION] = (cells[at + REVISION] ?? 0) + 1
    }
  }

  #countTrader(level: number, record: TradeRecord): number {
    const traders = this.#traders[level]
    const life = this.#tokens.page(record.token)[this.#tokens.at(record.token) + LIFE] ?? 0
    return traders === undefined ? Number.NaN : traders.note(life, record)
  }

  #close(level: number, id: number, record: TradeRecord, cells: Float64Array, at: number): void {
    const width = levels[level] ?? 1
    this.#closed[level]?.append(id, cells, at)
    beginBar(cells, at, floorTo(record.second, width))
  }

  #addLate(level: number, record: TradeRecord, readTo: number): void {
    const log = this.#closed[level]
    const id = record.token
    const start = floorTo(record.second, levels[level] ?? 1)
    const state = { found: false }
    log?.walkBack(id, (cells, at) => {
      const bar = cells[at + START] ?? 0
      if (bar === start) {
        state.found = true
        this.#addAt(level, cells, at, record, readTo)
      }
      return bar > start
    })
    if (!state.found) {
      const bar = new Float64Array(BAR)
      beginBar(bar, 0, start)
      this.#addAt(level, bar, 0, record, readTo)
      log?.insert(id, bar, 0)
    }
  }
}
