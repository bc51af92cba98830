import type { Mint } from "../domain/Address.ts"
import type { LiveEvent } from "../domain/wallets/LiveFrame.ts"
import { compare } from "../domain/rational.ts"
import type { LiveFollower } from "./LiveFollower.ts"
import { type Mark, pnlBody, pnlSummaryBody } from "./trackerTrades.ts"
import type { HeldPosition, PnlBook } from "./WalletLedger.ts"
import type { WalletLedgers } from "./WalletLedgers.ts"

/** How often a figure is told at most, in milliseconds. */
export const pace = { pnl: 1000, summary: 2000 } as const

/** Positions that may be marked anew in one go. */
const MARKS_AT_A_TIME = 100

/** One moment in which things are told. */
export interface FigureUpdate {
  readonly nowMs: number
  readonly marks: (mint: Mint) => Mark
  readonly wants: LiveFollower["wants"]
  /** From before when blocks may be missing, in milliseconds: what a book from before says is not all there was. */
  readonly gapMs: number
  /** What is told, in order. */
  readonly events: Array<LiveEvent>
}

/** Profits at their pace: a figure that comes too early waits, and the newest is what is told then. */
export class LiveFigures {
  readonly #ledgers: WalletLedgers
  readonly #positions = new Set<HeldPosition>()
  readonly #summaries = new Set<PnlBook>()
  #sweep: Iterator<HeldPosition> | null = null

  constructor(ledgers: WalletLedgers) {
    this.#ledgers = ledgers
  }

  /** Begins anew with the wallets that are left. */
  reset(): void {
    this.#sweep = null
  }

  /** These positions have changed. */
  owe(positions: Iterable<HeldPosition>): void {
    for (const held of positions) {
      this.#positions.add(held)
    }
  }

  /** Tells of the positions whose time has come, and of their books; the others stay due. */
  #tell(positions: Iterable<HeldPosition>, step: FigureUpdate): void {
    const books = new Set<PnlBook>()
    for (const held of positions) {
      const { book } = held
      if (!this.#ledgers.holds(book) || !step.wants(book.wallet, book.sinceMs)) {
        held.due = null
      } else if (step.nowMs - held.toldAtMs < pace.pnl) {
        this.#positions.add(held)
      } else {
        this.#tellPosition(held, step)
        books.add(book)
      }
    }
    for (const book of books) {
      this.#tellSummary(book, step)
    }
  }

  /** Tells what has waited long enough, and of positions whose mark has moved, a few at a time. */
  due(step: FigureUpdate): void {
    this.#markSome(step)
    const positions = Array.from(this.#positions)
    this.#positions.clear()
    this.#tell(positions, step)
    for (const book of Array.from(this.#summaries)) {
      this.#tellSummary(book, step)
    }
  }

  #tellPosition(held: HeldPosition, { events, gapMs, marks, nowMs }: FigureUpdate): void {
    const { book, position } = held
    const mark = marks(position.mint)
    const body = pnlBody({ book, position, mark, gapMs, trigger: held.due ?? "trade", nowMs })
    events.push({ type: "pnl", wallet: book.wallet, sinceMs: book.sinceMs, body })
    held.due = null
    held.toldAtMs = nowMs
    held.toldAt = mark.price
    this.#positions.delete(held)
  }

  #tellSummary(book: PnlBook, { events, gapMs, marks, nowMs, wants }: FigureUpdate): void {
    const { sinceMs, wallet } = book
    const isWanted = wants(wallet, sinceMs)
    if (isWanted && nowMs - book.summaryToldAtMs < pace.summary) {
      this.#summaries.add(book)
      return
    }
    this.#summaries.delete(book)
    if (isWanted) {
      events.push({ type: "pnl_summary", wallet, sinceMs, body: pnlSummaryBody({ book, marks, gapMs, nowMs }) })
      book.summaryToldAtMs = nowMs
    }
  }

  #markSome({ marks, wants }: FigureUpdate): void {
    for (let i = 0; i < MARKS_AT_A_TIME; i++) {
      this.#sweep ??= this.#openPositions(wants)
      const next = this.#sweep.next()
      if (next.done === true) {
        this.#sweep = null
        return
      }
      const held = next.value
      const { price } = marks(held.position.mint)
      if (price !== null && (held.toldAt === null || compare(price, held.toldAt) !== 0)) {
        held.due ??= "mark"
        this.#positions.add(held)
      }
    }
  }

  *#openPositions(wants: FigureUpdate["wants"]): Iterator<HeldPosition> {
    for (const { books, wallet } of this.#ledgers.all()) {
      for (const { positions, sinceMs } of books.values()) {
        for (const held of wants(wallet, sinceMs) ? positions.values() : []) {
          if (held.position.held > 0n) {
            yield held
          }
        }
      }
    }
  }
}
