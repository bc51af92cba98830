import type { TradeRecord } from "../tape/TradeRecord.ts"
import { Records } from "../columnar/Records.ts"
import { addWide, readWide, wideDifference } from "../columnar/wide.ts"
import { WINDOWS } from "./windows.ts"

/** Cells of a sum: trades, buys, trades without a known volume, and the volume in two. */
const TRADES = 0
const BUYS = 1
const UNPRICED = 2
const VOLUME = 3
const SUM = 5

/** The cells that every trade touches come first, eight to a cache line: the sum of everything seen, and the last price. */
const SEEN = 0
const LAST_PRICE = SUM
const LAST_KEY = 6
const LAST_SECOND = 7
/** Trades of the token in the expiry log, its first second, the links of the idle list, the distinct traders of each window. */
const HELD = 8
const FIRST_SECOND = 9
const IDLE = 10
const TRADERS = 12
/** For each window: the sum of what has left it, the price in force when it began, and the order key of that price. */
const LEFT = TRADERS + WINDOWS
const START_PRICE = SUM
const START_KEY = 6
const LEFT_CELLS = 8
const CELLS = LEFT + WINDOWS * LEFT_CELLS

/** The cell of the idle list's links in a record. */
export const IDLE_LINK = IDLE

/** One token in one rolling window. */
export interface TokenWindow {
  readonly trades: number
  readonly buys: number
  readonly sells: number
  /** Nano-dollars, the exact sum of the known volumes. */
  readonly volumeUsdNanos: bigint
  /** Trades whose volume is unknown; with any, the volume is a lower bound. */
  readonly unpriced: number
  /** Distinct wallets. */
  readonly traders: number
  /** Price in USD in force when the window began; null when the token had not been priced by then. */
  readonly startPrice: number | null
  /** The last known price in USD; null before the first. */
  readonly lastPrice: number | null
}

/** One token in one rolling window in plain numbers, for looking at many: the same object is filled for each of them. */
export class TokenGlance {
  trades = 0
  traders = 0
  /** Trades whose volume is unknown. */
  unpriced = 0
  /** Nano-dollars, the nearest number to the exact sum. */
  volume = 0
  /** As in `TokenWindow`; NaN when unknown. */
  startPrice = Number.NaN
  lastPrice = Number.NaN
}

/** A price, or null for NaN. */
export const knownPrice = (price: number): number | null => (Number.isNaN(price) ? null : price)

const addSum = (cells: Float64Array, at: number, record: TradeRecord): void => {
  cells[at + TRADES] = (cells[at + TRADES] ?? 0) + 1
  if (record.buy) {
    cells[at + BUYS] = (cells[at + BUYS] ?? 0) + 1
  }
  if (record.usdKnown) {
    addWide(cells, at + VOLUME, record.usdHigh, record.usdLow)
  } else {
    cells[at + UNPRICED] = (cells[at + UNPRICED] ?? 0) + 1
  }
}

/** Rolling sums and prices of every token: each trade is added once, and subtracted once per window by the expiry log. */
export class TokenWindows {
  /** One record per token, under the token's own number. */
  readonly records = new Records(CELLS)

  /** Begins a token, first seen in a second. */
  begin(id: number, second: number): void {
    this.records.clear(id)
    const cells = this.records.page(id)
    const at = this.records.at(id)
    cells[at + LAST_PRICE] = Number.NaN
    cells[at + LAST_KEY] = -1
    cells[at + FIRST_SECOND] = second
    cells[at + LAST_SECOND] = second
    for (let window = 0; window < WINDOWS; window++) {
      cells[at + LEFT + window * LEFT_CELLS + START_PRICE] = Number.NaN
      cells[at + LEFT + window * LEFT_CELLS + START_KEY] = -1
    }
  }

  /** Adds a trade to every window. */
  enter(record: TradeRecord): void {
    const cells = this.records.page(record.token)
    const at = this.records.at(record.token)
    addSum(cells, at + SEEN, record)
    if (record.second > (cells[at + LAST_SECOND] ?? 0)) {
      cells[at + LAST_SECOND] = record.second
    } else if (record.second < (cells[at + FIRST_SECOND] ?? 0)) {
      cells[at + FIRST_SECOND] = record.second
    }
    if (!Number.isNaN(record.price) && record.key > (cells[at + LAST_KEY] ?? 0)) {
      cells[at + LAST_PRICE] = record.price
      cells[at + LAST_KEY] = record.key
    }
  }

  /** Subtracts a trade from one window; its price was in force when the rest of the window began. */
  leave(window: number, record: TradeRecord): void {
    const cells = this.records.page(record.token)
    const at = this.records.at(record.token) + LEFT + window * LEFT_CELLS
    addSum(cells, at, record)
    if (!Number.isNaN(record.price) && record.key > (cells[at + START_KEY] ?? 0)) {
      cells[at + START_PRICE] = record.price
      cells[at + START_KEY] = record.key
    }
  }

  /** One wallet more, or less, in a window. */
  countTrader(token: number, window: number, change: 1 | -1): void {
    const at = this.records.at(token) + TRADERS + window
    const cells = this.records.page(token)
    cells[at] = (cells[at] ?? 0) + change
  }

  /** Adds to the number of trades of the token in the expiry log; returns the new number. */
  hold(token: number, change: 1 | -1): number {
    const at = this.records.at(token) + HELD
    const cells = this.records.page(token)
    const held = (cells[at] ?? 0) + change
    cells[at] = held
    return held
  }

  /** One window of a token. */
  read(token: number, window: number): TokenWindow {
    const cells = this.records.page(token)
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
      lastPrice: knownPrice(cells[at + LAST_PRICE] ?? 0)
    }
  }

  /** Visits every token that traded in a window. Those that were forgotten are in no window. */
  scan(window: number, visit: (token: number, glance: TokenGlance) => void): void {
    const glance = new TokenGlance()
    for (let token = 1; token <= this.records.highest; token++) {
      this.look(token, window, glance)
      if (glance.trades > 0) {
        visit(token, glance)
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

  private look(token: number, window: number, glance: TokenGlance): void {
    const cells = this.records.page(token)
    const at = this.records.at(token)
    const left = at + LEFT + window * LEFT_CELLS
    glance.trades = (cells[at + TRADES] ?? 0) - (cells[left + TRADES] ?? 0)
    glance.unpriced = (cells[at + UNPRICED] ?? 0) - (cells[left + UNPRICED] ?? 0)
    glance.volume = wideDifference(cells, at + VOLUME, left + VOLUME)
    glance.traders = cells[at + TRADERS + window] ?? 0
    glance.startPrice = cells[left + START_PRICE] ?? 0
    glance.lastPrice = cells[at + LAST_PRICE] ?? 0
  }
}
