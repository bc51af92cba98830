/** Folds stored bars into the bars of a resolution. Nothing is filled in: a bucket without a trade has no bar. */
import { quotient } from "../../domain/decimal.ts"
import { NANOS_PER_USD } from "../../domain/units.ts"
import { BAR, CLOSE, COUNT, HIGH, LOW, OPEN, START, VOLUME } from "./bar.ts"
import type { Visit } from "./BarLog.ts"
import { bucketStart, type Resolution } from "./resolutions.ts"
import type { StoredBars } from "../store/StoredBars.ts"
import { addWide, readWide, wideNumber } from "../columnar/wide.ts"

/** One candle in USD. Prices are per whole token. */
export interface Bar {
  /** Start of the bucket, in seconds since the Unix epoch. */
  readonly second: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** Traded volume in USD, the nearest number to the exact sum. */
  readonly volume: number
  /** Trades of the bucket, those without a known price included. */
  readonly trades: number
}

/** Selects the newest `limit` bars whose buckets begin in `[from, to)`. Seconds; null is open. */
export interface BarWindow {
  readonly resolution: Resolution
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}

/** The bars of a window. */
export interface BarPage {
  /** Oldest first, starts strictly ascending. */
  readonly bars: ReadonlyArray<Bar>
  /** Buckets of the window with trades of which none has a known price. */
  readonly unpriced: number
  /** True when the window holds older bars than these. */
  readonly truncated: boolean
  /** True when older bars than those in memory were dropped: the window may begin before the oldest. */
  readonly trimmed: boolean
}

/** A bucket under construction, from its newest part to its oldest. */
class Bucket {
  readonly second: number
  private open = Number.NaN
  private high = Number.NEGATIVE_INFINITY
  private low = Number.POSITIVE_INFINITY
  private close = Number.NaN
  private trades = 0
  private readonly volume = new Float64Array(2)

  constructor(second: number) {
    this.second = second
  }

  /** Adds an older part. */
  add(cells: Float64Array, at: number): void {
    this.trades += cells[at + COUNT] ?? 0
    addWide(this.volume, 0, cells[at + VOLUME] ?? 0, cells[at + VOLUME + 1] ?? 0)
    const open = cells[at + OPEN] ?? Number.NaN
    if (Number.isNaN(open)) {
      return
    }
    this.open = open
    this.high = Math.max(this.high, cells[at + HIGH] ?? 0)
    this.low = Math.min(this.low, cells[at + LOW] ?? 0)
    this.close = Number.isNaN(this.close) ? (cells[at + CLOSE] ?? 0) : this.close
  }

  /** The finished bar; null when none of its trades was priced. */
  bar(): Bar | null {
    return Number.isNaN(this.open)
      ? null
      : {
          second: this.second,
          open: this.open,
          high: this.high,
          low: this.low,
          close: this.close,
          volume: dollars(this.volume),
          trades: this.trades
        }
  }
}

const dollars = (volume: Float64Array): number => {
  const nanos = wideNumber(volume, 0)
  return nanos <= Number.MAX_SAFE_INTEGER ? nanos / Number(NANOS_PER_USD) : quotient(readWide(volume, 0), NANOS_PER_USD)
}

/** The bars of a window, from stored bars visited newest first; `isCut` when there are older ones than those visited. */
export const foldBars = (
  walkBack: (visit: Visit) => void,
  window: BarWindow,
  trimmed: boolean,
  isCut = false
): BarPage => {
  const { resolution, limit } = window
  const from = window.from === null ? Number.NEGATIVE_INFINITY : bucketStart(resolution, window.from)
  const to = window.to ?? Number.POSITIVE_INFINITY
  const bars: Array<Bar> = []
  const state: { bucket: Bucket | null; unpriced: number; truncated: boolean } = {
    bucket: null,
    unpriced: 0,
    truncated: false
  }
  const finish = () => {
    const bar = state.bucket?.bar() ?? null
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
        state.truncated ||= !Number.isNaN(cells[at + OPEN])
        return !state.truncated
      }
      state.bucket = new Bucket(start)
    }
    state.bucket.add(cells, at)
    return true
  })
  finish()
  return { bars: bars.toReversed(), unpriced: state.unpriced, truncated: state.truncated || isCut, trimmed }
}

/** Visits stored buckets from the newest to the oldest, as the candles in memory are visited. */
export const walkStored =
  ({ cells }: StoredBars) =>
  (visit: Visit): void => {
    for (let at = 0; at < cells.length; at += BAR) {
      if (!visit(cells, at)) {
        return
      }
    }
  }
