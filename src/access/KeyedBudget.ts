import type { BudgetTerms } from "../api/schemas/Budget.ts"
import { SlidingLog } from "./SlidingLog.ts"

/** State of the budget of one key. */
export interface KeyBudget {
  /** Units that can be charged now. */
  readonly remaining: number
  /** Milliseconds until the oldest counted unit leaves the window; 0 when nothing is counted. */
  readonly resetInMs: number
}

/** Outcome of a charge. */
export type BudgetDecision =
  | (KeyBudget & { readonly _tag: "Admitted"; readonly seq: number })
  /** `fitsInMs` is the time until the cost fits, or a whole window when it never fits. */
  | (KeyBudget & { readonly _tag: "Refused"; readonly fitsInMs: number })

/** The limit may have been lowered below what is spent. Then nothing fits. */
const standing = (log: SlidingLog, now: number, { limit }: BudgetTerms): KeyBudget => ({
  remaining: Math.max(0, limit - log.spent),
  resetInMs: log.freesIn(1, now)
})

/** One sliding budget for each of many keys. Times are milliseconds of a clock that never steps back. */
export class KeyedBudget {
  readonly limit: number
  readonly windowMs: number
  readonly #logs = new Map<string, SlidingLog>()
  #lastSeq = 0
  #sweepsAt = 0

  constructor(options: { readonly limit: number; readonly windowMs: number }) {
    this.limit = options.limit
    this.windowMs = options.windowMs
  }

  /** Keys in memory. */
  get size(): number {
    return this.#logs.size
  }

  /**
   * Charges the whole cost or nothing, by the key's own limit. Forgets idle keys once a window. A cost of 0 is always
   * admitted and leaves no trace.
   */
  admit(key: string, cost: number, now: number, terms: BudgetTerms = this): BudgetDecision {
    if (now >= this.#sweepsAt) {
      this.#sweep(now)
      this.#sweepsAt = now + this.windowMs
    }
    const known = this.#logs.get(key)
    const log = this.#current(known, now, terms)
    const excess = log.spent + cost - terms.limit
    if (excess > 0) {
      const fitsInMs = cost > terms.limit ? terms.windowMs : log.freesIn(excess, now)
      return { _tag: "Refused", ...standing(log, now, terms), fitsInMs }
    }
    const seq = ++this.#lastSeq
    if (cost > 0) {
      log.append(now, cost, seq)
      if (known === undefined) {
        this.#logs.set(key, log)
      }
    }
    const { remaining, resetInMs } = standing(log, now, terms)
    // Listed, not spread: every tick of a stream is charged here.
    return { _tag: "Admitted", remaining, resetInMs, seq }
  }

  /** Gives the units of one charge back. Changes nothing the second time, or after the charge has expired. */
  refund(key: string, seq: number, now: number, terms: BudgetTerms = this): KeyBudget {
    this.#logs.get(key)?.remove(seq)
    return this.peek(key, now, terms)
  }

  /** State of the budget of a key; charges nothing. */
  peek(key: string, now: number, terms: BudgetTerms = this): KeyBudget {
    return standing(this.#current(this.#logs.get(key), now, terms), now, terms)
  }

  /** Returns the known log, or a new one, without the charges that have left the window. */
  #current(known: SlidingLog | undefined, now: number, { windowMs }: BudgetTerms): SlidingLog {
    const log = known ?? new SlidingLog(windowMs)
    log.windowMs = windowMs
    log.expire(now)
    return log
  }

  #sweep(now: number): void {
    for (const [key, log] of this.#logs) {
      log.expire(now)
      if (log.spent === 0) {
        this.#logs.delete(key)
      }
    }
  }
}
