import type { Mint } from "../../domain/Address.ts"
import type { LiveEvent } from "../../api/schemas/LiveFrame.ts"
import { compare } from "../../domain/rational.ts"
import { isOpen } from "../ledger.ts"
import type { LiveFollower } from "./LiveFollower.ts"
import type { Mark } from "../marks.ts"
import { pnlBody, pnlSummaryBody } from "./trackerTrades.ts"
import type { HeldPosition, PnlBook } from "./WalletLedger.ts"
import type { WalletLedgers } from "./WalletLedgers.ts"

/** Minimum interval between two updates of the same figure, in milliseconds. */
export const intervals = { pnl: 1000, summary: 2000 } as const

/** Positions marked to market in one call of `due`. */
const MARKS_AT_A_TIME = 100

/** One pass over figures: prices, listeners and the events produced so far. */
export interface FigurePass {
  readonly nowMs: number
  readonly marks: (mint: Mint) => Mark | null
  readonly wants: LiveFollower["wants"]
  /** Blocks before this time may be missing, in milliseconds. Books that begin earlier are incomplete. */
  readonly gapMs: number
  /** Events to send, in order. */
  readonly events: Array<LiveEvent>
}

/**
 * Profit-and-loss updates at a bounded rate: a figure waits until its interval has passed, then its latest value is
 * sent.
 */
export class LiveFigures {
  readonly #ledgers: WalletLedgers
  readonly #positions = new Set<HeldPosition>()
  readonly #summaries = new Set<PnlBook>()
  #sweep: Iterator<HeldPosition> | null = null

  constructor(ledgers: WalletLedgers) {
    this.#ledgers = ledgers
  }

  /** Restarts the sweep over open positions, after wallets were removed. */
  reset(): void {
    this.#sweep = null
  }

  /** Queues changed positions. */
  enqueue(positions: Iterable<HeldPosition>): void {
    for (const held of positions) {
      this.#positions.add(held)
    }
  }

  /** Queues books and all of their positions. */
  enqueueBooks(books: Iterable<PnlBook>): void {
    for (const book of books) {
      this.#summaries.add(book)
      for (const held of book.positions.values()) {
        held.due = "resync"
        this.#positions.add(held)
      }
    }
  }

  /** Sends the positions whose interval has passed, and their books; the others stay queued. */
  #emit(positions: Iterable<HeldPosition>, pass: FigurePass): void {
    const books = new Set<PnlBook>()
    for (const held of positions) {
      const { book } = held
      if (!this.#ledgers.holds(book) || !pass.wants(book.wallet, book.sinceMs)) {
        held.due = null
      } else if (pass.nowMs - held.sentAtMs < intervals.pnl) {
        this.#positions.add(held)
      } else {
        this.#emitPosition(held, pass)
        books.add(book)
      }
    }
    for (const book of books) {
      this.#emitSummary(book, pass)
    }
  }

  /** Sends queued figures that are due, and positions whose mark has moved, at most 100 positions per call. */
  due(pass: FigurePass): void {
    this.#markSome(pass)
    const positions = Array.from(this.#positions)
    this.#positions.clear()
    this.#emit(positions, pass)
    for (const book of Array.from(this.#summaries)) {
      if (this.#ledgers.holds(book)) {
        this.#emitSummary(book, pass)
      } else {
        this.#summaries.delete(book)
      }
    }
  }

  #emitPosition(held: HeldPosition, { events, gapMs, marks, nowMs }: FigurePass): void {
    const { book, position } = held
    const mark = marks(position.mint)
    const body = pnlBody({ book, position, mark, gapMs, trigger: held.due ?? "trade", nowMs })
    events.push({ type: "pnl", wallet: book.wallet, sinceMs: book.sinceMs, body })
    held.due = null
    held.sentAtMs = nowMs
    held.sentPrice = mark?.price ?? null
    this.#positions.delete(held)
  }

  #emitSummary(book: PnlBook, { events, gapMs, marks, nowMs, wants }: FigurePass): void {
    const { sinceMs, wallet } = book
    const isWanted = wants(wallet, sinceMs)
    if (isWanted && nowMs - book.summarySentAtMs < intervals.summary) {
      this.#summaries.add(book)
      return
    }
    this.#summaries.delete(book)
    if (isWanted) {
      events.push({ type: "pnl_summary", wallet, sinceMs, body: pnlSummaryBody({ book, marks, gapMs, nowMs }) })
      book.summarySentAtMs = nowMs
    }
  }

  #markSome({ marks, wants }: FigurePass): void {
    for (let i = 0; i < MARKS_AT_A_TIME; i++) {
      this.#sweep ??= this.#openPositions(wants)
      const next = this.#sweep.next()
      if (next.done === true) {
        this.#sweep = null
        return
      }
      const held = next.value
      const price = marks(held.position.mint)?.price ?? null
      if (price !== null && (held.sentPrice === null || compare(price, held.sentPrice) !== 0)) {
        held.due ??= "mark"
        this.#positions.add(held)
      }
    }
  }

  *#openPositions(wants: FigurePass["wants"]): Iterator<HeldPosition> {
    for (const { books, wallet } of this.#ledgers.all()) {
      for (const { positions, sinceMs } of books.values()) {
        for (const held of wants(wallet, sinceMs) ? positions.values() : []) {
          if (isOpen(held.position)) {
            yield held
          }
        }
      }
    }
  }
}
