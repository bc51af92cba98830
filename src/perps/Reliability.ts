const MINUTE_MS = 60_000
const MINUTES = 60

interface Minute {
  minute: number
  fresh: number
  all: number
}

/** Counts what callers got from one venue, by the minute, over sixty minutes. */
export class Reliability {
  readonly #minutes: ReadonlyArray<Minute> = Array.from({ length: MINUTES }, () => ({ minute: -1, fresh: 0, all: 0 }))

  /** Counts a read that ended at `nowMs`. */
  note(isFresh: boolean, nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    const slot = this.#minutes[minute % MINUTES]
    if (slot === undefined) {
      return
    }
    if (slot.minute !== minute) {
      slot.minute = minute
      slot.fresh = 0
      slot.all = 0
    }
    slot.all++
    slot.fresh += isFresh ? 1 : 0
  }

  /** The share of reads that gave a fresh book in time, from 0 to 1; null without a read in the last hour. */
  share(nowMs: number): number | null {
    const oldest = Math.floor(nowMs / MINUTE_MS) - MINUTES
    const counted = this.#minutes.filter(({ minute }) => minute > oldest)
    const all = counted.reduce((sum, minute) => sum + minute.all, 0)
    return all === 0 ? null : counted.reduce((sum, minute) => sum + minute.fresh, 0) / all
  }
}
