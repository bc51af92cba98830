import { DistinctTraders } from "./DistinctTraders.ts"
import type { TradeRecord } from "../tape/TradeRecord.ts"
import { addWide, readWide } from "../columnar/wide.ts"
import { windowSeconds, WINDOWS } from "./windows.ts"

const BUYS = 0
const SELLS = 1
const UNPRICED_BUYS = 2
const UNPRICED_SELLS = 3
const BUY_USD = 4
const SELL_USD = 6
const CREATED = 8
const MIGRATED = 9
const CELLS = 10

/** A window moves in steps of a three hundredth of its width: a second for five minutes, 288 seconds for a day. */
const STEPS = 300
/** Sums kept: those at the beginning of every step of a window and of the one before it. */
const KEPT = 2 * STEPS
/** The distinct traders of a window are sampled this many times per width, to be compared with a later window. */
const NOTES = 12
const NOTES_KEPT = NOTES + 2

const stepOf: ReadonlyArray<number> = windowSeconds.map((width) => width / STEPS)
const noteOf: ReadonlyArray<number> = windowSeconds.map((width) => width / NOTES)

/** The activity of one market in one window. */
export interface ActivitySums {
  readonly buys: number
  readonly sells: number
  /** Nano-dollars, the exact sums of the known volumes. */
  readonly buyUsdNanos: bigint
  readonly sellUsdNanos: bigint
  /** Trades without a known volume. */
  readonly unpricedBuys: number
  readonly unpricedSells: number
  readonly tokensCreated: number
  readonly migrations: number
  /** Distinct wallets, approximately. */
  readonly traders: number
}

/** A window, and the one of equal length before it. */
export interface ActivityWindow {
  readonly now: ActivitySums
  readonly before: ActivitySums
}

/** The launch events that a launchpad reports. */
export type LaunchEvent = "created" | "migrated"

/**
 * The activity of one market row: all markets, a venue or a launchpad. It keeps one running sum and its value at every step
 * of every window; a window is the difference of two. A late trade corrects the steps after it.
 */
export class MarketActivity {
  private readonly total = new Float64Array(CELLS)
  private readonly marks = windowSeconds.map(() => new Float64Array(KEPT * CELLS))
  private readonly notes = windowSeconds.map(() => new Float64Array(NOTES_KEPT))
  private readonly distinct = new DistinctTraders()
  private now: number

  /** Begins at a second, from which on it must be advanced. */
  constructor(now: number) {
    this.now = now
  }

  /** Moves every window to end with the second `now`. */
  advance(now: number): void {
    if (now <= this.now) {
      return
    }
    for (let window = 0; window < WINDOWS; window++) {
      this.mark(window, now)
      this.note(window, now)
    }
    this.now = now
  }

  /** Adds a trade of this market; `hash` is that of its wallet. */
  add(record: TradeRecord, hash: number): void {
    this.addTrade(this.total, 0, record)
    this.distinct.add(hash, record.second)
    if (record.second < this.now) {
      this.eachMarkAfter(record.second, (marks, at) => this.addTrade(marks, at, record))
    }
  }

  /** Adds an event of a launchpad. */
  addLaunch(event: LaunchEvent, second: number): void {
    const cell = event === "created" ? CREATED : MIGRATED
    this.total[cell] = (this.total[cell] ?? 0) + 1
    this.eachMarkAfter(second, (marks, at) => {
      marks[at + cell] = (marks[at + cell] ?? 0) + 1
    })
  }

  /** One window, given by its place in `windowNames`, and the one before it. */
  read(window: number): ActivityWindow {
    const step = Math.floor(this.now / (stepOf[window] ?? 1))
    const marks = this.marks[window] ?? this.total
    const start = ((step - STEPS + 1) % KEPT) * CELLS
    const before = ((step - KEPT + 1) % KEPT) * CELLS
    const width = windowSeconds[window] ?? 0
    const note = Math.floor((this.now - width + 1) / (noteOf[window] ?? 1))
    return {
      now: this.difference(this.total, 0, marks, start, this.distinct.estimate(this.now - width + 1)),
      before: this.difference(marks, start, marks, before, this.notes[window]?.[note % NOTES_KEPT] ?? 0)
    }
  }

  private mark(window: number, now: number): void {
    const step = stepOf[window] ?? 1
    const marks = this.marks[window] ?? this.total
    const newest = Math.floor(now / step)
    for (let at = Math.max(Math.floor(this.now / step), newest - KEPT) + 1; at <= newest; at++) {
      marks.set(this.total, (at % KEPT) * CELLS)
    }
  }

  private note(window: number, now: number): void {
    const step = noteOf[window] ?? 1
    const newest = Math.floor(now / step)
    const notes = this.notes[window] ?? this.total
    for (let at = Math.max(Math.floor(this.now / step), newest - NOTES_KEPT) + 1; at <= newest; at++) {
      notes[at % NOTES_KEPT] = this.distinct.estimate(at * step - (windowSeconds[window] ?? 0))
    }
  }

  private eachMarkAfter(second: number, visit: (marks: Float64Array, at: number) => void): void {
    for (let window = 0; window < WINDOWS; window++) {
      const step = stepOf[window] ?? 1
      const marks = this.marks[window] ?? this.total
      for (let at = Math.floor(second / step) + 1; at <= Math.floor(this.now / step); at++) {
        visit(marks, (at % KEPT) * CELLS)
      }
    }
  }

  private addTrade(cells: Float64Array, at: number, record: TradeRecord): void {
    const count = at + (record.buy ? BUYS : SELLS)
    cells[count] = (cells[count] ?? 0) + 1
    if (record.usdKnown) {
      addWide(cells, at + (record.buy ? BUY_USD : SELL_USD), record.usdHigh, record.usdLow)
    } else {
      const unpriced = at + (record.buy ? UNPRICED_BUYS : UNPRICED_SELLS)
      cells[unpriced] = (cells[unpriced] ?? 0) + 1
    }
  }

  private difference(
    cells: Float64Array,
    at: number,
    less: Float64Array,
    lessAt: number,
    traders: number
  ): ActivitySums {
    const number = (cell: number) => (cells[at + cell] ?? 0) - (less[lessAt + cell] ?? 0)
    const wide = (cell: number) => readWide(cells, at + cell) - readWide(less, lessAt + cell)
    return {
      buys: number(BUYS),
      sells: number(SELLS),
      buyUsdNanos: wide(BUY_USD),
      sellUsdNanos: wide(SELL_USD),
      unpricedBuys: number(UNPRICED_BUYS),
      unpricedSells: number(UNPRICED_SELLS),
      tokensCreated: number(CREATED),
      migrations: number(MIGRATED),
      traders
    }
  }
}
