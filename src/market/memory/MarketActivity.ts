import { DistinctTraders } from "../model/DistinctTraders.ts"
import { imageCells, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { addWide, readWide } from "../columnar/wide.ts"
import { windowSeconds, WINDOWS } from "../model/windows.ts"

const BUYS = 0
const SELLS = 1
const UNPRICED_BUYS = 2
const UNPRICED_SELLS = 3
const BUY_USD = 4
const SELL_USD = 6
const CREATED = 8
const MIGRATED = 9
const CELLS = 10
const COUNTS = [BUYS, SELLS, UNPRICED_BUYS, UNPRICED_SELLS, CREATED, MIGRATED]

/** A window moves in steps of a three-hundredth of its width: a second for five minutes, 288 seconds for a day. */
const STEPS = 300
/** Steps kept: two whole windows and the running step. */
const KEPT = 2 * STEPS + 1
const WINDOW_CELLS = KEPT * CELLS
/**
 * The distinct traders of a window are sampled this many times per width, so that they can be compared with a later
 * window.
 */
const NOTES = 12
const NOTES_KEPT = NOTES + 2

const stepOf: ReadonlyArray<number> = windowSeconds.map((width) => width / STEPS)
const noteOf: ReadonlyArray<number> = windowSeconds.map((width) => width / NOTES)

/** The activity of one market in one window. */
export interface ActivitySums {
  readonly buys: number
  readonly sells: number
  /** Exact sums of the known volumes, in nano-dollars. */
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

/**
 * The window that ends now, and two windows to compare. Both have the whole width; the later one ends with the newest
 * whole step.
 */
export interface ActivityWindow {
  readonly now: ActivitySums
  readonly after: ActivitySums
  readonly before: ActivitySums
}

/** The first second of the earlier of the two compared windows. */
export const comparedFrom = (window: number, now: number): number => {
  const step = stepOf[window] ?? 1
  return (Math.floor((now + 1) / step) - 2 * STEPS) * step
}

/** The launch events that a launchpad reports. */
export type LaunchEvent = "created" | "migrated"

/** The first cell of a step of a window. */
const placeOf = (window: number, step: number): number =>
  window * WINDOW_CELLS + (((step % KEPT) + KEPT) % KEPT) * CELLS

const addTrade = (cells: Float64Array, at: number, record: TradeRecord): void => {
  const count = at + (record.buy ? BUYS : SELLS)
  cells[count] = (cells[count] ?? 0) + 1
  if (record.usdKnown) {
    addWide(cells, at + (record.buy ? BUY_USD : SELL_USD), record.usdHigh, record.usdLow)
  } else {
    cells[count + UNPRICED_BUYS] = (cells[count + UNPRICED_BUYS] ?? 0) + 1
  }
}

const addCells = (from: Float64Array, fromAt: number, to: Float64Array, toAt: number): void => {
  for (const cell of COUNTS) {
    to[toAt + cell] = (to[toAt + cell] ?? 0) + (from[fromAt + cell] ?? 0)
  }
  addWide(to, toAt + BUY_USD, from[fromAt + BUY_USD] ?? 0, from[fromAt + BUY_USD + 1] ?? 0)
  addWide(to, toAt + SELL_USD, from[fromAt + SELL_USD] ?? 0, from[fromAt + SELL_USD + 1] ?? 0)
}

/**
 * Finds the place of a second among the steps of every window. The places are the same for all rows, so they are found
 * once a second.
 */
export class StepClock {
  /**
   * For each window, the first cell of the step that holds the second of the last `find`; negative when the step is no
   * longer kept.
   */
  readonly places = new Int32Array(WINDOWS)
  #second = -1

  /** Sets `places` for a second. */
  find(second: number, now: number): Int32Array {
    if (second !== this.#second || second !== now) {
      for (let window = 0; window < WINDOWS; window++) {
        const step = stepOf[window] ?? 1
        const at = Math.floor(second / step)
        this.places[window] = at > Math.floor(now / step) - KEPT ? placeOf(window, at) : -1
      }
      this.#second = second
    }
    return this.places
  }
}

/**
 * The activity of one market row: all markets, a venue or a launchpad. It holds the sums of every step of every window
 * and of the previous window. Trades of any age are added to their steps.
 */
export class MarketActivity {
  readonly #steps = new Float64Array(WINDOWS * WINDOW_CELLS)
  readonly #notes = windowSeconds.map(() => new Float64Array(NOTES_KEPT))
  readonly #distinct = new DistinctTraders()
  /** The trades of the newest second, which no step contains yet. */
  readonly #newest = new Float64Array(CELLS)
  /** The window that is being read. */
  readonly #sum = new Float64Array(CELLS)
  #now: number

  /** Begins at a second and must be advanced from then on. */
  constructor(now: number) {
    this.#now = now
  }

  /** Moves every window to end with the second `now`. */
  advance(now: number): void {
    if (now <= this.#now) {
      return
    }
    this.#addNewest()
    for (let window = 0; window < WINDOWS; window++) {
      this.#clear(window, now)
      this.#note(window, now)
    }
    this.#now = now
  }

  /** Adds a trade of this market at the places of its second. */
  add(record: TradeRecord, places: Int32Array): void {
    this.#distinct.add(record.walletHash, record.second)
    if (record.second === this.#now) {
      addTrade(this.#newest, 0, record)
      return
    }
    for (let window = 0; window < WINDOWS; window++) {
      const at = places[window] ?? -1
      if (at >= 0) {
        addTrade(this.#steps, at, record)
      }
    }
  }

  /** Adds a launchpad event at the places of its second. */
  addLaunch(event: LaunchEvent, places: Int32Array): void {
    const cell = event === "created" ? CREATED : MIGRATED
    for (const at of places) {
      if (at >= 0) {
        this.#steps[at + cell] = (this.#steps[at + cell] ?? 0) + 1
      }
    }
  }

  /** Reads one window, given by its place in `windowNames`, and the two windows to compare. */
  read(window: number): ActivityWindow {
    this.#addNewest()
    const step = stepOf[window] ?? 1
    const newest = Math.floor(this.#now / step)
    const whole = Math.floor((this.#now + 1) / step)
    const width = windowSeconds[window] ?? 0
    const note = Math.floor((this.#now - width + 1) / (noteOf[window] ?? 1))
    const traders = this.#distinct.estimate(this.#now - width + 1)
    return {
      now: this.#sumOf(window, newest + 1, traders),
      after: this.#sumOf(window, whole, traders),
      before: this.#sumOf(window, whole - STEPS, this.#notes[window]?.[note % NOTES_KEPT] ?? 0)
    }
  }

  /** Writes the sums of every window, or reads them. */
  *image(image: StateImage): ImageSteps {
    this.#addNewest()
    this.#now = image.number(this.#now)
    yield* imageCells(image, this.#steps)
    for (const notes of this.#notes) {
      image.cells(notes)
    }
    yield* this.#distinct.image(image)
  }

  /** Adds the trades of the newest second to its step in every window. */
  #addNewest(): void {
    const [newest, now, steps] = [this.#newest, this.#now, this.#steps]
    for (let window = 0; window < WINDOWS; window++) {
      addCells(newest, 0, steps, placeOf(window, Math.floor(now / (stepOf[window] ?? 1))))
    }
    newest.fill(0)
  }

  #clear(window: number, now: number): void {
    const step = stepOf[window] ?? 1
    const newest = Math.floor(now / step)
    for (let at = Math.max(Math.floor(this.#now / step), newest - KEPT) + 1; at <= newest; at++) {
      const start = placeOf(window, at)
      this.#steps.fill(0, start, start + CELLS)
    }
  }

  #note(window: number, now: number): void {
    const step = noteOf[window] ?? 1
    const newest = Math.floor(now / step)
    const notes = this.#notes[window] ?? this.#sum
    for (let at = Math.max(Math.floor(this.#now / step), newest - NOTES_KEPT) + 1; at <= newest; at++) {
      notes[at % NOTES_KEPT] = this.#distinct.estimate(at * step - (windowSeconds[window] ?? 0))
    }
  }

  /** The sums of the steps of one width before the step `until`. */
  #sumOf(window: number, until: number, traders: number): ActivitySums {
    const [cells, sum] = [this.#steps, this.#sum]
    sum.fill(0)
    for (let step = until - STEPS; step < until; step++) {
      const at = placeOf(window, step)
      addCells(cells, at, sum, 0)
    }
    return {
      buys: sum[BUYS] ?? 0,
      sells: sum[SELLS] ?? 0,
      buyUsdNanos: readWide(sum, BUY_USD),
      sellUsdNanos: readWide(sum, SELL_USD),
      unpricedBuys: sum[UNPRICED_BUYS] ?? 0,
      unpricedSells: sum[UNPRICED_SELLS] ?? 0,
      tokensCreated: sum[CREATED] ?? 0,
      migrations: sum[MIGRATED] ?? 0,
      traders
    }
  }
}
