import type { Address, Mint } from "../domain/Address.ts"
import type { LiveEvent } from "../domain/LiveFrame.ts"
import { compare } from "../domain/rational.ts"
import { type Mark, pnlBody, pnlSummaryBody } from "./trackerTrades.ts"
import type { HeldPosition, WalletLedger } from "./WalletLedger.ts"
import type { WalletLedgers } from "./WalletLedgers.ts"

/** How often a figure is told at most, in milliseconds. */
export const pace = { pnl: 1000, summary: 2000 } as const

/** Positions that may be marked anew in one go. */
const MARKS_AT_A_TIME = 100

/** One moment in which things are told. */
export interface Step {
  readonly nowMs: number
  readonly marks: (mint: Mint) => Mark
  /** Whether anyone listens to the wallet. */
  readonly wants: (wallet: Address) => boolean
  /** What is told, in order. */
  readonly events: Array<LiveEvent>
}

/** Profits at their pace: a figure that comes too early waits, and the newest is what is told then. */
export class LiveFigures {
  readonly #ledgers: WalletLedgers
  readonly #positions = new Set<HeldPosition>()
  readonly #summaries = new Set<WalletLedger>()
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

  /** Tells of the positions whose time has come, and of their wallets; the others stay due. */
  #tell(positions: Iterable<HeldPosition>, step: Step): void {
    const ledgers = new Set<WalletLedger>()
    for (const held of positions) {
      const ledger = this.#ledgers.get(held.wallet)
      if (ledger === undefined || !step.wants(held.wallet)) {
        held.due = null
      } else if (step.nowMs - held.toldAtMs < pace.pnl) {
        this.#positions.add(held)
      } else {
        this.#tellPosition(held, step)
        ledgers.add(ledger)
      }
    }
    for (const ledger of ledgers) {
      this.#tellSummary(ledger, step)
    }
  }

  /** Tells what has waited long enough, and of positions whose mark has moved, a few at a time. */
  due(step: Step): void {
    this.#markSome(step)
    const positions = Array.from(this.#positions)
    this.#positions.clear()
    this.#tell(positions, step)
    for (const ledger of Array.from(this.#summaries)) {
      this.#tellSummary(ledger, step)
    }
  }

  #tellPosition(held: HeldPosition, { events, marks, nowMs }: Step): void {
    const mark = marks(held.position.mint)
    const ledger = this.#ledgers.of(held.wallet)
    const body = pnlBody({ ledger, position: held.position, mark, trigger: held.due ?? "trade", nowMs })
    events.push({ type: "pnl", wallet: held.wallet, body })
    held.due = null
    held.toldAtMs = nowMs
    held.toldAt = mark.price
    this.#positions.delete(held)
  }

  #tellSummary(ledger: WalletLedger, { events, marks, nowMs, wants }: Step): void {
    if (wants(ledger.wallet) && nowMs - ledger.summaryToldAtMs < pace.summary) {
      this.#summaries.add(ledger)
      return
    }
    this.#summaries.delete(ledger)
    if (wants(ledger.wallet)) {
      events.push({ type: "pnl_summary", wallet: ledger.wallet, body: pnlSummaryBody(ledger, marks, nowMs) })
      ledger.summaryToldAtMs = nowMs
    }
  }

  #markSome({ marks, wants }: Step): void {
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

  *#openPositions(wants: Step["wants"]): Iterator<HeldPosition> {
    for (const { positions, wallet } of this.#ledgers.all()) {
      for (const held of wants(wallet) ? positions.values() : []) {
        if (held.position.held > 0n) {
          yield held
        }
      }
    }
  }
}
