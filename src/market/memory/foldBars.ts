/** Folds stored bars into the bars of a resolution. Nothing is filled in: a bucket without a trade has no bar. */
import { quotient } from "../../domain/decimal.ts"
import {
  BAR,
  BUY_VOLUME,
  BUYS,
  CLOSE,
  COUNT,
  type Denomination,
  HIGH,
  LOW,
  moneyAt,
  OPEN,
  REVISION,
  START,
  TRADERS,
  VOLUME
} from "../model/bar.ts"
import type { Visit } from "./BarLog.ts"
import { bucketStart, countsTraders, type Resolution } from "../model/resolutions.ts"
import type { StoredBars } from "../model/StoredBars.ts"
import { addWide, readWide, wideNumber } from "../columnar/wide.ts"

/** Nano-dollars of a dollar, and lamports of a SOL. */
const UNITS = 1_000_000_000n

/** One candle in its denomination. Prices are per whole token. */
export interface Bar {
  /** Start of the bucket, in seconds since the Unix epoch. */
  readonly second: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** Traded volume, the nearest number to the exact sum. */
  readonly volume: number
  /** The bought part of the volume; null when unknown. */
  readonly buyVolume: number | null
  readonly sellVolume: number | null
  /** Trades of the bucket, including trades without a known price. */
  readonly trades: number
  /** Purchases among the trades; null when unknown. */
  readonly buys: number | null
  /** Distinct wallets; null when unknown, and for every bar that is folded from several. */
  readonly traders: number | null
  /** Trades that came after their part of the bar was closed. */
  readonly revision: number
}

/** Selects the newest `limit` bars whose buckets begin in `[from, to)`, in seconds. Null has no bound. */
export interface BarWindow {
  readonly resolution: Resolution
  /** Dollars unless given. */
  readonly denom?: Denomination
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}

/** The bars of a window. */
export interface BarPage {
  /** Oldest first, starts strictly ascending. */
  readonly bars: ReadonlyArray<Bar>
  /** Buckets of the window with trades but without a known price. */
  readonly unpriced: number
  /** True when the window contains older bars. */
  readonly truncated: boolean
  /** True when bars older than those in memory were dropped: the window may begin before the oldest bar. */
  readonly trimmed: boolean
}

/** A number; null for NaN. */
const known = (value: number): number | null => (Number.isNaN(value) ? null : value)

/** A bucket under construction, from its newest part to its oldest. */
class Bucket {
  readonly second: number
  readonly #money: number
  #parts = 0
  #open = Number.NaN
  #high = Number.NEGATIVE_INFINITY
  #low = Number.POSITIVE_INFINITY
  #close = Number.NaN
  #trades = 0
  #buys = 0
  #traders = 0
  #revision = 0
  /** The volume, then the volume of purchases, then the volume of sales. */
  readonly #volumes = new Float64Array(6)

  constructor(second: number, denom: Denomination) {
    this.second = second
    this.#money = moneyAt[denom]
  }

  /** Adds an older part. */
  add(cells: Float64Array, at: number): void {
    this.#parts++
    this.#trades += cells[at + COUNT] ?? 0
    this.#buys += cells[at + BUYS] ?? 0
    this.#traders += cells[at + TRADERS] ?? 0
    this.#revision += cells[at + REVISION] ?? 0
    this.#addVolumes(cells, at + this.#money)
    this.#addPrices(cells, at + this.#money)
  }

  /** The finished bar; null when none of its trades has a price, or a part of it is unknown in the denomination. */
  bar(resolution: Resolution): Bar | null {
    const volume = wholeUnits(this.#volumes, 0)
    return Number.isNaN(this.#open) || Number.isNaN(volume)
      ? null
      : {
          second: this.second,
          open: this.#open,
          high: this.#high,
          low: this.#low,
          close: this.#close,
          volume,
          buyVolume: known(wholeUnits(this.#volumes, 2)),
          sellVolume: known(wholeUnits(this.#volumes, 4)),
          trades: this.#trades,
          buys: known(this.#buys),
          traders: this.#parts === 1 && countsTraders(resolution) ? known(this.#traders) : null,
          revision: this.#revision
        }
  }

  #addVolumes(cells: Float64Array, at: number): void {
    const [high = 0, low = 0] = [cells[at + VOLUME], cells[at + VOLUME + 1]]
    const [buyHigh = 0, buyLow = 0] = [cells[at + BUY_VOLUME], cells[at + BUY_VOLUME + 1]]
    addWide(this.#volumes, 0, high, low)
    addWide(this.#volumes, 2, buyHigh, buyLow)
    addWide(this.#volumes, 4, high - buyHigh, low - buyLow)
  }

  #addPrices(cells: Float64Array, at: number): void {
    const open = cells[at + OPEN] ?? Number.NaN
    if (Number.isNaN(open)) {
      return
    }
    this.#open = open
    this.#high = Math.max(this.#high, cells[at + HIGH] ?? 0)
    this.#low = Math.min(this.#low, cells[at + LOW] ?? 0)
    this.#close = Number.isNaN(this.#close) ? (cells[at + CLOSE] ?? 0) : this.#close
  }
}

/** An exact sum in two cells as dollars or SOL, the nearest number; NaN when it is unknown. */
const wholeUnits = (cells: Float64Array, at: number): number => {
  const near = wideNumber(cells, at)
  return near > Number.MAX_SAFE_INTEGER ? quotient(readWide(cells, at), UNITS) : near / Number(UNITS)
}

/**
 * Folds stored bars, visited newest first, into the bars of a window. `isCut`: there are older bars, which are not
 * visited.
 */
export const foldBars = (
  walkBack: (visit: Visit) => void,
  window: BarWindow,
  trimmed: boolean,
  isCut = false
): BarPage => {
  const { denom = "usd", limit, resolution } = window
  const from = window.from === null ? Number.NEGATIVE_INFINITY : bucketStart(resolution, window.from)
  const to = window.to ?? Number.POSITIVE_INFINITY
  const bars: Array<Bar> = []
  const state: { bucket: Bucket | null; unpriced: number; truncated: boolean } = {
    bucket: null,
    unpriced: 0,
    truncated: false
  }
  const finish = () => {
    const bar = state.bucket?.bar(resolution) ?? null
    if (bar !== null) {
      bars.push(bar)
    } else if (state.bucket !== null) {
      state.unpriced++
    }
    state.bucket = null
  }
  walkBack((cells, at) => {
    const second = cells[at + START] ?? 0
    if (second < from) {
      return false
    }
    if (state.bucket === null || second < state.bucket.second) {
      const start = bucketStart(resolution, second)
      if (start >= to) {
        return true
      }
      finish()
      if (bars.length === limit) {
        state.truncated ||= !Number.isNaN(cells[at + moneyAt[denom] + OPEN])
        return !state.truncated
      }
      state.bucket = new Bucket(start, denom)
    }
    state.bucket.add(cells, at)
    return true
  })
  finish()
  return { bars: bars.toReversed(), unpriced: state.unpriced, truncated: state.truncated || isCut, trimmed }
}

/** Returns a function that visits stored buckets, newest first. */
export const walkStored =
  ({ cells }: StoredBars) =>
  (visit: Visit): void => {
    for (let at = 0; at < cells.length; at += BAR) {
      if (!visit(cells, at)) {
        return
      }
    }
  }
