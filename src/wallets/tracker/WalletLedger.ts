import type { Address, Mint } from "../../domain/Address.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import type { Rational } from "../../domain/rational.ts"
import { settledPosition, unreadPosition } from "../wholeEvents.ts"
import { addEvent, type Draft, emptyPosition, isOpen, isTraded, type Position } from "../ledger.ts"
import type { Lots } from "../lots.ts"
import { type WalletPnl, WalletSums } from "../walletPnl.ts"
import { type OwnerEvents, OwnerPositions, passLots, type PositionEvent } from "../ownerLinks.ts"
import { tradesOf, transactionsOf } from "./packedHistory.ts"
import { PackedLog } from "./PackedLog.ts"

/** Newest trades held per wallet, and newest changes of its positions. */
export const TRADES_PER_WALLET = 250
/**
 * Positions held per book. Beyond it, positions that were never traded are dropped first, then closed ones, the oldest
 * first.
 */
export const POSITIONS_PER_BOOK = 500

/** Why units are not known: token accounts are still being read, or cannot be read. */
export type UnreadReason = "backfill_running" | "not_captured"

/** Cause of a figure update. */
export type Trigger = "trade" | "transfer" | "mark" | "resync"

/** Time of a transaction, in milliseconds since the Unix epoch. */
const timeOf = (together: OwnerEvents | undefined): number | undefined => together?.[0]?.event.timeMs

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
  /** By last event, oldest first. */
  readonly positions = new Map<Mint, HeldPosition>()
  /** True if a position, or a trade since `sinceMs`, is missing. */
  clipped: boolean
  /** Why the units held are not known; null when they are known. */
  unread: UnreadReason | null = null
  summarySentAtMs = Number.NEGATIVE_INFINITY
  /**
   * Positions of other wallets of the owner, from the same second on. They give the cost of units that come from these
   * wallets.
   */
  readonly #others = new OwnerPositions(POSITIONS_PER_BOOK)
  readonly #sums = new WalletSums<Mint>()

  constructor(wallet: Address, sinceMs: number, clipped = false) {
    this.wallet = wallet
    this.sinceMs = sinceMs
    this.clipped = clipped
  }

  /** Applies the events of the next transaction, and returns the positions of this wallet in it. */
  take(together: OwnerEvents): ReadonlyArray<HeldPosition> {
    const touched: Array<HeldPosition> = []
    passLots(together, (wallet, event) => {
      if (wallet !== this.wallet) {
        return this.#others.add(wallet, event)
      }
      const { held, sent } = this.#add(event)
      touched.push(held)
      return sent
    })
    return touched
  }

  /** Profit and loss at these marks, in micro-dollars per smallest unit; null for a mint whose price is not known. */
  pnlAt(markOf: (mint: Mint) => Rational | null): WalletPnl {
    for (const { position } of this.positions.values()) {
      this.#sums.set(position.mint, position, markOf(position.mint))
    }
    return this.#sums.read()
  }

  #add(event: PositionEvent): { readonly held: HeldPosition; readonly sent: Lots } {
    const held = this.positions.get(event.mint) ?? new HeldPosition(this, event.mint)
    const position: Draft = { ...held.position }
    const sent = addEvent(position, event)
    held.position = this.unread === null ? position : unreadPosition(position)
    this.positions.delete(event.mint)
    this.positions.set(event.mint, held)
    this.#clip()
    return { held, sent }
  }

  #clip(): void {
    if (this.positions.size <= POSITIONS_PER_BOOK) {
      return
    }
    const all = Array.from(this.positions.values())
    const gone =
      all.find(({ position }) => !isTraded(position)) ?? all.find(({ position }) => !isOpen(position)) ?? all[0]
    if (gone !== undefined) {
      this.positions.delete(gone.position.mint)
      this.#sums.delete(gone.position.mint)
      // The units of a mint that was never traded are found again in its next balance.
      this.clipped ||= isTraded(gone.position)
    }
  }
}

/** Recent trades and books of one tracked wallet. */
export class WalletLedger {
  readonly wallet: Address
  /** In chain order, newest last. */
  readonly trades: PackedLog<TapeTrade>
  /** Transactions with changes of positions in chain order, newest last. `parts` counts their events. */
  readonly #transactions: PackedLog<OwnerEvents>
  /** Books by their `sinceMs`. Only seconds since which a position has changed have one. */
  readonly books = new Map<number, PnlBook>()
  lastEventAtMs: number | null = null
  truncated = false
  /** The fills of a replay in this ledger; null without any. With fills everything counts, whenever the wallet is tracked. */
  fills: ReadonlyArray<TapeTrade> | null = null
  #eventsTruncated = false
  #unread: UnreadReason | null = null

  constructor(wallet: Address) {
    this.wallet = wallet
    this.trades = new PackedLog(tradesOf(wallet))
    this.#transactions = new PackedLog(transactionsOf(wallet))
  }

  /** Marks the units held as unknown. */
  unread(reason: UnreadReason): void {
    this.#unread = reason
    for (const book of this.books.values()) {
      book.unread = reason
      book.positions.forEach((held) => (held.position = unreadPosition(held.position)))
    }
  }

  /** True when an account that tracks the wallet since then sees what happened at this time. */
  counts(timeMs: number, sinceMs: number): boolean {
    return this.fills !== null || timeMs >= sinceMs
  }

  /** True when there are more trades than are held of a wallet. A replay bounds the fills. */
  get isOverfull(): boolean {
    return this.fills === null && this.trades.length > TRADES_PER_WALLET
  }

  /** Adds the next trade. */
  add(trade: TapeTrade): void {
    this.trades.push(trade, trade.timeMs)
  }

  /**
   * Applies the next transaction to the books of `sinces` that begin no later, and returns the wallet's positions in
   * it.
   */
  apply(together: OwnerEvents, sinces: Iterable<number>): ReadonlyArray<HeldPosition> {
    const timeMs = timeOf(together) ?? 0
    const books = Array.from(sinces).flatMap((sinceMs) => (this.counts(timeMs, sinceMs) ? this.bookSince(sinceMs) : []))
    this.#transactions.push(together, timeMs, together.length)
    while (this.fills === null && this.#transactions.parts > TRADES_PER_WALLET && this.#transactions.length > 1) {
      this.#dropTransaction()
    }
    return books.flatMap((book) => book.take(together))
  }

  /**
   * Builds new books of `sinces` from stored transactions, oldest first. `isClipped` when older transactions were left
   * out.
   */
  restore(transactions: ReadonlyArray<OwnerEvents>, sinces: Iterable<number>, isClipped: boolean): void {
    const oldestMs = timeOf(transactions[0]) ?? 0
    this.truncated ||= isClipped
    this.#eventsTruncated ||= isClipped
    const seconds = Array.from(sinces)
    for (const sinceMs of seconds) {
      this.books.set(sinceMs, new PnlBook(this.wallet, sinceMs, isClipped && oldestMs >= sinceMs))
    }
    for (const together of transactions) {
      this.apply(together, seconds)
      const own = together.find(({ wallet }) => wallet === this.wallet)
      this.lastEventAtMs = own?.event.timeMs ?? this.lastEventAtMs
    }
  }

  /** Gives every position the units that the chain has after its last event. */
  settle(units: ReadonlyMap<Mint, bigint>): void {
    for (const { positions } of this.books.values()) {
      for (const [mint, held] of positions) {
        held.position = settledPosition(held.position, units.get(mint) ?? held.position.held ?? 0n)
      }
    }
  }

  /** The book of that second. A new book is built from the held events. */
  bookSince(sinceMs: number): PnlBook {
    const known = this.books.get(sinceMs)
    if (known !== undefined) {
      return known
    }
    const oldestMs = this.#transactions.oldestMs ?? 0
    const book = new PnlBook(this.wallet, sinceMs, this.#eventsTruncated && oldestMs >= sinceMs)
    book.unread = this.#unread
    for (const { read, timeMs } of this.#transactions.newest()) {
      if (this.counts(timeMs, sinceMs)) {
        book.take(read())
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

  /** Drops the oldest trade, and the events before the next trade. */
  dropTrade(): void {
    this.trades.shift()
    this.truncated = true
    const next = this.trades.oldestMs ?? Infinity
    while ((this.#transactions.oldestMs ?? Infinity) < next) {
      this.#dropTransaction()
    }
  }

  #dropTransaction(): void {
    this.#transactions.shift()
    this.#eventsTruncated = true
  }
}
