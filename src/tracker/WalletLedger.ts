import type { Address, Mint } from "../domain/Address.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import type { Rational } from "../domain/rational.ts"
import { isMoney } from "../trades/sides.ts"
import { applyTrade, emptyPosition, type Position } from "../wallets/ledger.ts"

/** How many of its newest trades are held for each wallet. */
export const TRADES_PER_WALLET = 250
/** How many positions are held in each book; then closed ones go, the longest untouched first. */
export const POSITIONS_PER_BOOK = 500

/** Why a figure is to be told. */
export type Trigger = "trade" | "mark"

/** A position, and when and at what it was last told. */
export class HeldPosition {
  readonly book: PnlBook
  position: Position
  toldAtMs = Number.NEGATIVE_INFINITY
  toldAt: Rational | null = null
  /** Why it has to be told again as soon as its pace allows; null when what was told still holds. */
  due: Trigger | null = null

  constructor(book: PnlBook, mint: Mint) {
    this.book = book
    this.position = emptyPosition(mint)
  }
}

/**
 * What a wallet made, to those who track it from one second on: nothing of it comes from before. So nobody learns from a
 * figure whether others track the wallet, and everybody can compute it again from the trades they were told.
 */
export class PnlBook {
  readonly wallet: Address
  /** In milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** In the order in which they last traded. */
  readonly positions = new Map<Mint, HeldPosition>()
  /** Whether a position, or a trade from the beginning, is missing. */
  clipped: boolean
  summaryToldAtMs = Number.NEGATIVE_INFINITY

  constructor(wallet: Address, sinceMs: number, clipped = false) {
    this.wallet = wallet
    this.sinceMs = sinceMs
    this.clipped = clipped
  }

  /** Takes the next trade; gives its position, or null where money was traded, which is no position. */
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

/** What is remembered of one tracked wallet. */
export class WalletLedger {
  readonly wallet: Address
  /** In the order of the chain; the newest is last. */
  readonly trades: Array<TapeTrade> = []
  /** By the second from which on somebody tracks the wallet; of those from which it has traded. */
  readonly books = new Map<number, PnlBook>()
  lastEventAtMs: number | null = null
  truncated = false

  constructor(wallet: Address) {
    this.wallet = wallet
  }

  /** Takes the next trade, into the books of these beginnings that it is not older than; gives its positions there. */
  add(trade: TapeTrade, sinces: Iterable<number>): ReadonlyArray<HeldPosition> {
    const books = Array.from(sinces).flatMap((sinceMs) => (trade.timeMs >= sinceMs ? this.bookSince(sinceMs) : []))
    this.trades.push(trade)
    return books.flatMap((book) => book.take(trade) ?? [])
  }

  /** The book that begins in that second, made from the trades held if need be. */
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

  /** Forgets the books of all other beginnings. */
  keepBooks(sinces: ReadonlySet<number>): void {
    for (const sinceMs of this.books.keys()) {
      if (!sinces.has(sinceMs)) {
        this.books.delete(sinceMs)
      }
    }
  }

  /** Lets the oldest trade go. */
  dropTrade(): void {
    this.trades.shift()
    this.truncated = true
  }
}
