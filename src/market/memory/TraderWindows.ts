import type { Records } from "../columnar/Records.ts"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { Buckets, QUEUE } from "./Buckets.ts"
import { addBucket, addBucketVolume, fillBucket, mergeBuckets, TRADER_BUCKET } from "./traderBuckets.ts"
import { firstBucket } from "../model/windows.ts"

/** Width and step of the windows in which wallets are ranked: an hour moves by minutes, a day by two hours. */
const WIDTHS: ReadonlyArray<number> = [3600, 86_400]
const STEPS: ReadonlyArray<number> = [60, 7200]
const RANKED = 2

/**
 * The first second of a window that ends with the second `now`; 0 is the hour, 1 the day. It is the first second of a
 * bucket.
 */
export const rankedFrom = (window: number, now: number): number => {
  const step = STEPS[window] ?? 1
  return firstBucket(WIDTHS[window] ?? 0, step, now) * step
}

/**
 * Cells of a wallet: the second at which the next bucket leaves a window, the queues of buckets in words, the volume of
 * each window.
 */
const DUE = 0
const QUEUES = 1
const VOLUMES = QUEUES + (RANKED * QUEUE) / 2

/** Cells of one wallet in its record. */
export const TRADER_WINDOWS = VOLUMES + 2 * RANKED

/**
 * The sums of wallets in the windows that rank them; 0 is the hour, 1 the day. A trade lies in a bucket of the hour, or
 * of the day when it is older. Buckets that leave the hour become part of a bucket of the day. They move when their
 * wallet is next looked at, so a page that shows an earlier time can still be read until then.
 */
export class TraderWindows {
  readonly #buckets = new Buckets(TRADER_BUCKET, mergeBuckets)
  readonly #rows: Records
  readonly #offset: number
  readonly #beforeChange: (trader: number) => void
  /** The first second of each window. */
  readonly #from = new Float64Array(RANKED)
  #second = 0
  /** A free record for the bucket of the next trade. */
  #spare = this.#buckets.records.take()

  /**
   * The cells of each wallet begin at `offset` of its row. `beforeChange` is called before buckets of a wallet move.
   */
  constructor(rows: Records, offset: number, beforeChange: (trader: number) => void) {
    this.#rows = rows
    this.#offset = offset
    this.#beforeChange = beforeChange
  }

  begin(trader: number): void {
    this.#rows.page(trader)[this.#at(trader) + DUE] = Number.POSITIVE_INFINITY
  }

  end(trader: number): void {
    for (let window = 0; window < RANKED; window++) {
      this.#buckets.clear(this.#rows.words(trader), this.#queueAt(trader, window))
    }
  }

  /** Moves both windows to end with the second `now`. */
  advance(now: number): void {
    this.#second = now
    for (let window = 0; window < RANKED; window++) {
      this.#from[window] = rankedFrom(window, now)
    }
  }

  /** Reads the newest bucket of a wallet's hour. Most trades are added to it. */
  fetch(trader: number): number {
    return trader === 0 ? 0 : this.#buckets.fetchNewest(this.#rows.words(trader), this.#queueAt(trader, 0))
  }

  /** Adds a trade, of any age. */
  enter(record: TradeRecord): void {
    const cells = this.#rows.page(record.trader)
    const at = this.#at(record.trader)
    if (this.#second >= (cells[at + DUE] ?? 0)) {
      this.settle(record.trader)
    }
    const window = this.#windowOf(record.second)
    if (window === RANKED) {
      return
    }
    const step = STEPS[window] ?? 1
    const bucket = Math.floor(record.second / step)
    fillBucket(this.#buckets.records, this.#spare, bucket, record)
    for (let wider = window; wider < RANKED; wider++) {
      addBucketVolume(this.#buckets.records, this.#spare, cells, at + VOLUMES + 2 * wider, 1)
    }
    if (!this.#buckets.put(this.#rows.words(record.trader), this.#queueAt(record.trader, window), this.#spare)) {
      this.#spare = this.#buckets.records.take()
      cells[at + DUE] = Math.min(cells[at + DUE] ?? 0, bucket * step + (WIDTHS[window] ?? 0))
    }
  }

  /** Moves the buckets of a wallet that have left a window. */
  settle(trader: number): void {
    const cells = this.#rows.page(trader)
    const at = this.#at(trader)
    if (this.#second < (cells[at + DUE] ?? 0)) {
      return
    }
    this.#beforeChange(trader)
    cells[at + DUE] = Math.min(this.#settleWindow(trader, 0, cells, at), this.#settleWindow(trader, 1, cells, at))
  }

  /** Writes the known USD volume of a wallet in a window, bought and sold, into two cells. */
  volume(trader: number, window: number, to: Float64Array): void {
    this.settle(trader)
    const at = this.#at(trader) + VOLUMES + 2 * window
    to.set(this.#rows.page(trader).subarray(at, at + 2))
  }

  /** Adds the sums of a wallet's trades in a window that began with the second `from`, now or at the time of a view. */
  addTo(sums: Float64Array, trader: number, window: number, from: number): void {
    const words = this.#rows.words(trader)
    for (let each = 0; each <= window; each++) {
      const first = from / (STEPS[each] ?? 1)
      for (let id = words[this.#queueAt(trader, each)] ?? 0; id !== 0; id = this.#buckets.newer(id)) {
        if (this.#buckets.bucketOf(id) >= first) {
          addBucket(this.#buckets.records, id, sums, 0)
        }
      }
    }
  }

  /** Writes or reads the buckets. Settle every wallet before they are written. */
  *image(image: StateImage): ImageSteps {
    this.#second = image.number(this.#second)
    this.#spare = image.number(this.#spare)
    image.cells(this.#from)
    yield* this.#buckets.image(image)
  }

  /** Bytes in use by buckets. */
  get usedBytes(): number {
    return this.#buckets.records.usedBytes
  }

  #windowOf(second: number): number {
    let window = 0
    while (window < RANKED && second < (this.#from[window] ?? 0)) {
      window++
    }
    return window
  }

  /**
   * Moves the buckets that have left a window to the next window. Returns the second at which the next bucket leaves.
   */
  #settleWindow(trader: number, window: number, cells: Float64Array, at: number): number {
    const buckets = this.#buckets
    const words = this.#rows.words(trader)
    const queue = this.#queueAt(trader, window)
    const step = STEPS[window] ?? 1
    while (words[queue] !== 0) {
      const start = buckets.bucketOf(words[queue] ?? 0) * step
      if (start >= (this.#from[window] ?? 0)) {
        return start + (WIDTHS[window] ?? 0)
      }
      const id = buckets.shift(words, queue)
      addBucketVolume(buckets.records, id, cells, at + VOLUMES + 2 * window, -1)
      if (window === RANKED - 1) {
        buckets.records.give(id)
        continue
      }
      buckets.setBucket(id, Math.floor(start / (STEPS[window + 1] ?? 1)))
      if (buckets.put(words, queue + QUEUE, id)) {
        buckets.records.give(id)
      }
    }
    return Number.POSITIVE_INFINITY
  }

  #at(trader: number): number {
    return this.#rows.at(trader) + this.#offset
  }

  #queueAt(trader: number, window: number): number {
    return this.#rows.wordsAt(trader) + 2 * (this.#offset + QUEUES) + window * QUEUE
  }
}
