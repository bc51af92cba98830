import { IdleList } from "../columnar/IdleList.ts"
import { Records } from "../columnar/Records.ts"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"
import { readWide, wideDifference } from "../columnar/wide.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { Buckets, QUEUE } from "./Buckets.ts"
import { Presence } from "./Presence.ts"
import {
  addSum,
  BUYS,
  fillBucket,
  leaveBucket,
  LEFT_CELLS,
  leaveTrade,
  mergeBuckets,
  START_PRICE,
  TOKEN_BUCKET,
  TRADES,
  UNPRICED,
  VOLUME
} from "./tokenBuckets.ts"
import {
  beginCells,
  CELLS,
  DUE,
  FIRST_KEY,
  FIRST_PRICE,
  FIRST_SECOND,
  IDLE,
  LAST_KEY,
  LAST_PRICE,
  LAST_SECOND,
  LEFT,
  PRESENT,
  QUEUES,
  SEEN,
  TRADERS
} from "./tokenCells.ts"
import { bucketSeconds, bucketsOf, windowFrom, WINDOWS } from "../model/windows.ts"

/** Tokens in one step of a scan. */
const SCANNED_AT_ONCE = 512

/** Tokens whose buckets are moved in one step of an image. */
const SETTLED_AT_ONCE = 256

/** One token in one rolling window. */
export interface TokenWindow {
  readonly trades: number
  readonly buys: number
  readonly sells: number
  /** Exact sum of the known volumes, in nano-dollars. */
  readonly volumeUsdNanos: bigint
  /** Trades of unknown volume. When there are any, the volume is a lower bound. */
  readonly unpriced: number
  /** Distinct wallets. */
  readonly traders: number
  /** Price in USD in force when the window began; null when the token had no price by then. */
  readonly startPrice: number | null
  /** The last known price in USD; null before the first. */
  readonly lastPrice: number | null
  /** The first known price in USD since the token is in memory; null before it. */
  readonly firstPrice: number | null
}

/** One token in one rolling window in plain numbers, for scans. The same object is filled for every token. */
export class TokenGlance {
  trades = 0
  buys = 0
  traders = 0
  /** Trades whose volume is unknown. */
  unpriced = 0
  /** The nearest number to the exact sum, in nano-dollars. */
  volume = 0
  /** As in `TokenWindow`; NaN when unknown. */
  startPrice = Number.NaN
  lastPrice = Number.NaN
  firstPrice = Number.NaN
}

/** A price; null for NaN. */
export const knownPrice = (price: number): number | null => (Number.isNaN(price) ? null : price)

/** Keeps the price of a trade if it is the first or the last of its token by the order of the chain. */
const notePrice = (cells: Float64Array, at: number, { key, price }: TradeRecord): void => {
  if (key > (cells[at + LAST_KEY] ?? 0)) {
    cells[at + LAST_PRICE] = price
    cells[at + LAST_KEY] = key
  }
  if (key < (cells[at + FIRST_KEY] ?? 0)) {
    cells[at + FIRST_PRICE] = price
    cells[at + FIRST_KEY] = key
  }
}

/**
 * Rolling sums and prices of every token. A trade lies in a bucket of the shortest window that holds it. A bucket that
 * leaves a window becomes part of a bucket of the next window. The sum of a window is the sum of everything seen less
 * the sum of what has left the window. Buckets move when their token is next read, or when its newest trade leaves a
 * window.
 */
export class TokenWindows {
  /** One record per token, under the token's own number. */
  readonly records = new Records(CELLS)
  /** Tokens that are in no window. */
  readonly idle = new IdleList(this.records, IDLE)
  readonly #buckets = new Buckets(TOKEN_BUCKET, mergeBuckets)
  readonly #presence = new Presence(
    { records: this.records, words: 2 * PRESENT, lastSecond: LAST_SECOND },
    { entered: (window, token) => this.#entered(window, token), left: (window, token) => this.#left(window, token) }
  )
  /** The first second of each window. */
  readonly #from = new Float64Array(WINDOWS)
  #second = 0
  /** A free record for the bucket of the next trade. */
  #spare = this.#buckets.records.take()

  /** Begins an idle token that was first seen in a second. */
  begin(id: number, second: number): void {
    beginCells(this.records, id, second)
    this.idle.add(id)
  }

  /** Ends a token. Its cells show no trades until its number begins again. */
  end(id: number): void {
    this.#presence.remove(id)
    this.idle.remove(id)
    const words = this.records.words(id)
    for (let window = 0; window < WINDOWS; window++) {
      this.#buckets.clear(words, this.#queueAt(id, window))
    }
    this.records.clear(id)
  }

  /** Moves every window to end with the second `now`. */
  advance(now: number): void {
    this.#second = now
    for (let window = 0; window < WINDOWS; window++) {
      this.#from[window] = windowFrom(window, now)
    }
    this.#presence.advance(now)
  }

  /** Reads the records of tokens and their newest buckets. */
  fetch(count: number, tokens: Uint32Array): number {
    let sum = this.records.fetchGroup(count, tokens)
    for (let place = 0; place < count; place++) {
      const token = tokens[place] ?? 0
      sum += token === 0 ? 0 : this.#buckets.fetchNewest(this.records.words(token), this.#queueAt(token, 0))
    }
    return sum
  }

  /** Adds a swap of one pool, of any age. */
  enter(record: TradeRecord): void {
    const cells = this.records.page(record.token)
    const at = this.records.at(record.token)
    addSum(cells, at + SEEN, record)
    if (!Number.isNaN(record.price)) {
      notePrice(cells, at, record)
    }
    if (this.#second >= (cells[at + DUE] ?? 0)) {
      this.#settle(record.token)
    }
    for (let window = 0; window < WINDOWS; window++) {
      if (record.second >= (this.#from[window] ?? 0)) {
        this.#enterBucket(window, record, cells, at)
        return
      }
      leaveTrade(cells, at + LEFT + window * LEFT_CELLS, record)
    }
  }

  /** Notes the time of a trade of any role. */
  see(token: number, second: number): void {
    const cells = this.records.page(token)
    const at = this.records.at(token)
    if (second > (cells[at + LAST_SECOND] ?? 0)) {
      cells[at + LAST_SECOND] = second
    } else if (second < (cells[at + FIRST_SECOND] ?? 0)) {
      cells[at + FIRST_SECOND] = second
    }
    this.#presence.see(token)
  }

  /** Counts one wallet more, or less, in a window. */
  countTrader(token: number, window: number, change: 1 | -1): void {
    const at = this.records.at(token) + TRADERS + window
    const cells = this.records.page(token)
    cells[at] = (cells[at] ?? 0) + change
  }

  /** The token in the longest window that has been without trades for about the longest; 0 when the window is empty. */
  oldest(): number {
    return this.#presence.oldest()
  }

  /** Reads one window of a token. */
  read(token: number, window: number): TokenWindow {
    const cells = this.#settled(token)
    const at = this.records.at(token)
    const left = at + LEFT + window * LEFT_CELLS
    const trades = (cells[at + TRADES] ?? 0) - (cells[left + TRADES] ?? 0)
    const buys = (cells[at + BUYS] ?? 0) - (cells[left + BUYS] ?? 0)
    return {
      trades,
      buys,
      sells: trades - buys,
      volumeUsdNanos: readWide(cells, at + VOLUME) - readWide(cells, left + VOLUME),
      unpriced: (cells[at + UNPRICED] ?? 0) - (cells[left + UNPRICED] ?? 0),
      traders: cells[at + TRADERS + window] ?? 0,
      startPrice: knownPrice(cells[left + START_PRICE] ?? 0),
      lastPrice: knownPrice(cells[at + LAST_PRICE] ?? 0),
      firstPrice: knownPrice(cells[at + FIRST_PRICE] ?? 0)
    }
  }

  /**
   * Visits every token that traded in a window, in steps. Forgotten tokens are in no window. Trades may be added between
   * two steps, so tokens of different steps are as of different times.
   */
  *scan(window: number, visit: (token: number, glance: TokenGlance) => void): Generator<void, void> {
    const glance = new TokenGlance()
    for (let token = 1; token <= this.records.highest; token++) {
      this.#look(token, window, glance)
      if (glance.trades > 0) {
        visit(token, glance)
      }
      if (token % SCANNED_AT_ONCE === 0) {
        yield
      }
    }
  }

  /** Seconds of the first and the newest trade of a token. */
  seen(token: number): { readonly first: number; readonly last: number } {
    const cells = this.records.page(token)
    const at = this.records.at(token)
    return { first: cells[at + FIRST_SECOND] ?? 0, last: cells[at + LAST_SECOND] ?? 0 }
  }

  /** The last known price in USD and the order key of its trade; null before the first. */
  last(token: number): { readonly price: number; readonly key: number } | null {
    const cells = this.records.page(token)
    const at = this.records.at(token)
    const price = cells[at + LAST_PRICE] ?? Number.NaN
    return Number.isNaN(price) ? null : { price, key: cells[at + LAST_KEY] ?? 0 }
  }

  /** Bytes in use by tokens, and by the buckets of their windows. */
  get usedBytes() {
    return { tokens: this.records.usedBytes, buckets: this.#buckets.records.usedBytes }
  }

  /** Writes or reads every token. No trade may be added while tokens are written. */
  *image(image: StateImage): ImageSteps {
    // A read moves the buckets that are due. They all move now, so that reads change nothing while the image is
    // written.
    for (let token = 1; !image.isRead && token <= this.records.highest; token++) {
      this.#settled(token)
      if (token % SETTLED_AT_ONCE === 0) {
        yield
      }
    }
    this.#second = image.number(this.#second)
    this.#spare = image.number(this.#spare)
    image.cells(this.#from)
    this.idle.image(image)
    yield* this.records.image(image)
    yield* this.#buckets.image(image)
    yield* this.#presence.image(image)
  }

  #entered(window: number, token: number): void {
    if (window === WINDOWS - 1) {
      this.idle.remove(token)
    }
  }

  #left(window: number, token: number): void {
    this.#settle(token)
    if (window === WINDOWS - 1) {
      this.idle.add(token)
    }
  }

  #enterBucket(window: number, record: TradeRecord, cells: Float64Array, at: number): void {
    const step = bucketSeconds[window] ?? 1
    const bucket = Math.floor(record.second / step)
    fillBucket(this.#buckets.records, this.#spare, bucket, record)
    if (!this.#buckets.put(this.records.words(record.token), this.#queueAt(record.token, window), this.#spare)) {
      this.#spare = this.#buckets.records.take()
      const due = (bucket + (bucketsOf[window] ?? 0)) * step
      if (due < (cells[at + DUE] ?? 0)) {
        cells[at + DUE] = due
      }
    }
  }

  /** The cells of a token, after the buckets that are due have left. */
  #settled(token: number): Float64Array {
    const cells = this.records.page(token)
    if (this.#second >= (cells[this.records.at(token) + DUE] ?? 0)) {
      this.#settle(token)
    }
    return cells
  }

  #settle(token: number): void {
    const cells = this.records.page(token)
    const at = this.records.at(token)
    let due = Number.POSITIVE_INFINITY
    for (let window = 0; window < WINDOWS; window++) {
      due = Math.min(due, this.#settleWindow(token, window, cells, at + LEFT + window * LEFT_CELLS))
    }
    cells[at + DUE] = due
  }

  /**
   * Moves the buckets that have left a window to the next window. Returns the second at which the next bucket leaves.
   */
  #settleWindow(token: number, window: number, cells: Float64Array, left: number): number {
    const buckets = this.#buckets
    const step = bucketSeconds[window] ?? 1
    const words = this.records.words(token)
    const queue = this.#queueAt(token, window)
    const first = (this.#from[window] ?? 0) / step
    while (words[queue] !== 0) {
      const bucket = buckets.bucketOf(words[queue] ?? 0)
      if (bucket >= first) {
        return (bucket + (bucketsOf[window] ?? 0)) * step
      }
      const id = buckets.shift(words, queue)
      leaveBucket(buckets.records, id, cells, left)
      if (window === WINDOWS - 1) {
        buckets.records.give(id)
        continue
      }
      buckets.setBucket(id, Math.floor((bucket * step) / (bucketSeconds[window + 1] ?? 1)))
      if (buckets.put(words, queue + QUEUE, id)) {
        buckets.records.give(id)
      }
    }
    return Number.POSITIVE_INFINITY
  }

  #queueAt(token: number, window: number): number {
    return this.records.wordsAt(token) + 2 * QUEUES + window * QUEUE
  }

  #look(token: number, window: number, glance: TokenGlance): void {
    const cells = this.#settled(token)
    const at = this.records.at(token)
    const left = at + LEFT + window * LEFT_CELLS
    glance.trades = (cells[at + TRADES] ?? 0) - (cells[left + TRADES] ?? 0)
    glance.buys = (cells[at + BUYS] ?? 0) - (cells[left + BUYS] ?? 0)
    glance.unpriced = (cells[at + UNPRICED] ?? 0) - (cells[left + UNPRICED] ?? 0)
    glance.volume = wideDifference(cells, at + VOLUME, left + VOLUME)
    glance.traders = cells[at + TRADERS + window] ?? 0
    glance.startPrice = cells[left + START_PRICE] ?? 0
    glance.lastPrice = cells[at + LAST_PRICE] ?? 0
    glance.firstPrice = cells[at + FIRST_PRICE] ?? 0
  }
}
