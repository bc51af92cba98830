/** The requests that this process may send to a venue: what its documents allow to one address, or a limit of our own. */

/** Units of a venue's own weights. */
export interface VenueLimit {
  /** The most that may be used in any minute. */
  readonly perMinute: number
  /** How much of it may be used at once. The rest comes back evenly, so that no symbol waits for a whole minute. */
  readonly burst: number
}

/**
 * Limits by venue. Where the venue's documents state one (November 2026), it is theirs less a twentieth for clocks that
 * differ.
 *
 * - `hl`: 1,200 by weight a minute, `l2Book` 2 and most other reads 20 (Rate limits, hyperliquid.gitbook.io).
 * - `dydx`: 100 in 10 seconds for the indexer.
 * - `paradex`: 1,500 a minute for public reads (docs.paradex.trade/api/general-information/rate-limits).
 * - `lighter`: 60 a minute without an account (apidocs.lighter.xyz/docs/rate-limits).
 * - `aster`: 2,400 by weight a minute (`rateLimits` of `exchangeInfo`).
 * - `velocity`: its documents state none. The limit is our own choice, as strict as for dYdX.
 */
export const venueLimits = {
  hl: { perMinute: 1140, burst: 240 },
  dydx: { perMinute: 570, burst: 60 },
  paradex: { perMinute: 1425, burst: 225 },
  lighter: { perMinute: 57, burst: 12 },
  aster: { perMinute: 2280, burst: 280 },
  velocity: { perMinute: 570, burst: 90 }
} as const satisfies Readonly<Record<string, VenueLimit>>

const MINUTE_MS = 60_000
/** Requests of the past leave this part of a burst to books. Below one half, results of books are kept longer (`scarcity`). */
const PAST_LEAVES = 3 / 4
/** The part of what comes back that requests of the past may take even when little is left. */
const PAST_SHARE = 1 / 10

/** Counts the units of one venue. In any minute at most `perMinute` units are taken. */
export class VenueBudget {
  readonly #limit: VenueLimit
  #left: number
  #countedMs: number | null = null
  #restsUntilMs = Number.NEGATIVE_INFINITY
  /** When requests of the past have their share again. */
  #pastShareMs = Number.NEGATIVE_INFINITY

  constructor(limit: VenueLimit) {
    this.#limit = limit
    this.#left = limit.burst
  }

  /** Units that requests of books leave for listings. */
  get kept(): number {
    return this.#limit.burst / 4
  }

  /**
   * Takes units and returns true, or takes nothing and returns false when fewer than `reserve` units would be left.
   * `nowMs` comes from the monotonic clock.
   */
  take(units: number, reserve: number, nowMs: number): boolean {
    this.#count(nowMs)
    if (nowMs < this.#restsUntilMs || this.#left < units + reserve) {
      return false
    }
    this.#left -= units
    return true
  }

  /**
   * Takes units for a request of the past, which can wait: units beyond three quarters of a burst, or else its share. So
   * books have most of the budget, and the past goes on slowly where books use all of it.
   */
  takePast(units: number, nowMs: number): boolean {
    const { burst } = this.#limit
    if (this.take(units, burst * PAST_LEAVES, nowMs)) {
      return true
    }
    if (nowMs < this.#pastShareMs || !this.take(units, 0, nowMs)) {
      return false
    }
    this.#pastShareMs = nowMs + units / (this.#perMs * PAST_SHARE)
    return true
  }

  /** The part of a burst that is used up, from 0.5 to 1; 0 while more than half of it is left. */
  scarcity(nowMs: number): number {
    this.#count(nowMs)
    const left = this.#left / this.#limit.burst
    return left > 1 / 2 ? 0 : 1 - left
  }

  /** What comes back in a millisecond. */
  get #perMs(): number {
    return (this.#limit.perMinute - this.#limit.burst) / MINUTE_MS
  }

  #count(nowMs: number): void {
    const { burst } = this.#limit
    const passedMs = nowMs - (this.#countedMs ?? nowMs)
    this.#countedMs = nowMs
    this.#left = Math.min(burst, this.#left + passedMs * this.#perMs)
  }

  /** Takes nothing until then, because the venue has refused a request. */
  restUntil(untilMs: number): void {
    this.#restsUntilMs = Math.max(this.#restsUntilMs, untilMs)
  }
}
