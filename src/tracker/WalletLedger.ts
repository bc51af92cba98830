import type { Address, Mint } from "../domain/Address.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import type { Rational } from "../domain/rational.ts"
import { isMoney } from "../trades/sides.ts"
import { applyTrade, emptyPosition, type Position } from "../wallets/ledger.ts"

/** Newest trades held per wallet. */
export const TRADES_PER_WALLET = 250
/** Positions held per book; beyond it closed ones are dropped first, the least recently traded first. */
export const POSITIONS_PER_BOOK = 500

/** Cause of a figure update. */
export type Trigger = "trade" | "mark"

/** A position with the time and mark of its last update sent. */
export class HeldPosition {
  readonly book: PnlBook
  position: Position
  sentAtMs = Number.NEGATIVE_INFINITY
  sentPrice: Rational | null = null
  /** Cause of the pending update; null when the last update is current. */
  due: Trigger | null = null

  constructor(book: PnlBook, mint: Mint) {
    this.book = book
    this.position = emptyPosition(mint)
  }
}

/**
 * Profit and loss of a wallet from one second on, without earlier trades: every reader can recompute it from the trades
 * sent to it, and it does not reveal whether other accounts track the wallet.
 */
export class PnlBook {
  readonly wallet: Address
  /** In milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** By last trade, oldest first. */
  readonly positions = new Map<Mint, HeldPosition>()
  /** True if a position, or a trade since `sinceMs`, is missing. */
  clipped: boolean
  summarySentAtMs = Number.NEGATIVE_INFINITY

  constructor(wallet: Address, sinceMs: number, clipped = false) {
    this.wallet = wallet
    this.sinceMs = sinceMs
    this.clipped = clipped
  }

  /** Applies the next trade and returns its position; null for trades of quote money, which have no position. */
  take(trade: TapeTrade): HeldPosition | null {
    if (isMoney(trade.mint)) {
      return null
    }
    const held = this.positions.get(trade.mint) ?? new HeldPosition(this, trade.mint)
    held.position = applyTrade(held.position, trade)
    this.positions.delete(trade.mint)
    this.positions.set(trade.mint, held)
    this.#clip()
    return held
  }

  #clip(): void {
    if (this.positions.size <= POSITIONS_PER_BOOK) {
      return
    }
    const closed = this.positions.values().find(({ position }) => position.held === 0n)
    const [oldest] = this.positions.values()
    const gone = closed ?? oldest
    if (gone !== undefined) {
      this.positions.delete(gone.position.mint)
      this.clipped = true
    }
  }
}

/** Recent trades and books of one tracked wallet. */
export class WalletLedger {
  readonly wallet: Address
  /** In chain order, newest last. */
  readonly trades: Array<TapeTrade> = []
  /** Books by their `sinceMs`; only seconds since which the wallet has traded. */
  readonly books = new Map<number, PnlBook>()
  lastEventAtMs: number | null = null
  truncated = false

  constructor(wallet: Address) {
    this.wallet = wallet
  }

  /** Applies the next trade to the books of `sinces` that it is not older than, and returns its positions there. */
  add(trade: TapeTrade, sinces: Iterable<number>): ReadonlyArray<HeldPosition> {
    const books = Array.from(sinces).flatMap((sinceMs) => (trade.timeMs >= sinceMs ? this.bookSince(sinceMs) : []))
    this.trades.push(trade)
    return books.flatMap((book) => book.take(trade) ?? [])
  }

  /** The book of that second, built from the held trades if new. */
  bookSince(sinceMs: number): PnlBook {
    const known = this.books.get(sinceMs)
    if (known !== undefined) {
      return known
    }
    const [oldest] = this.trades
    const book = new PnlBook(this.wallet, sinceMs, this.truncated && (oldest?.timeMs ?? 0) >= sinceMs)
    for (const trade of this.trades) {
      if (trade.timeMs >= sinceMs) {
        book.take(trade)
      }
    }
    this.books.set(sinceMs, book)
    return book
  }

  /** Drops the books of all other seconds. */
  keepBooks(sinces: ReadonlySet<number>): void {
    for (const sinceMs of this.books.keys()) {
      if (!sinces.has(sinceMs)) {
        this.books.delete(sinceMs)
      }
    }
  }

  /** Drops the oldest trade. */
  dropTrade(): void {
    this.trades.shift()
    this.truncated = true
  }
}
