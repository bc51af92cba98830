import type { TradeProgress } from "./TradeProgress.ts"
import { type Coverage, COMPLETE, covering } from "../../domain/Scalar.ts"
import { type BlockPlace, type ForkReports, type Gaps, missingSeconds, withGaps, withGapsBefore } from "./Gaps.ts"

/** The time from which blocks were read, and the gaps since. Seconds since the Unix epoch. */
export class Continuity {
  #first = Number.POSITIVE_INFINITY
  #last: BlockPlace | null = null
  /** Blocks that were not read. */
  #unread: Gaps = []
  /** `#unread`, and blocks that the store lacks. */
  #missing: Gaps = []

  /**
   * Adds a block. `afterGap` says that blocks between it and the previous block were not read, or that the blocks from
   * `forkedFrom` on are of another fork.
   */
  read({
    afterGap,
    earlierForks,
    forkedFrom,
    slot,
    timeMs
  }: BlockPlace & ForkReports & { readonly afterGap: boolean }): void {
    if (this.#last === null) {
      // Earlier blocks may have the same second.
      this.#first = Math.floor(timeMs / 1000) + 1
    } else if (afterGap) {
      const next = { slot, timeMs, forkedFrom, earlierForks }
      this.#unread = withGapsBefore(this.#unread, this.#last, next)
      this.#missing = withGapsBefore(this.#missing, this.#last, next)
    }
    this.#last = this.#last !== null && this.#last.slot > slot ? this.#last : { slot, timeMs }
  }

  /** Continues with the progress of an earlier process. */
  restore({ gaps, readFrom, slot, timeMs }: TradeProgress): void {
    this.#first = readFrom
    this.#last = { slot, timeMs }
    this.#unread = gaps
    this.#missing = gaps
  }

  /** Notes blocks that the store lacks, although they may have been read. They stay noted until `restore`. */
  note(gaps: Gaps): void {
    this.#missing = withGaps(this.#missing, gaps)
  }

  /** The first second from which blocks were read; infinite before the first block. */
  get firstRead(): number {
    return this.#first
  }

  /** The first second since which nothing is missing; infinite before the first block. */
  get since(): number {
    return this.#missing.reduce((since, { toSecond }) => Math.max(since, toSecond + 1), this.#first)
  }

  /** The newest block that was read; null before the first. */
  get newest(): BlockPlace | null {
    return this.#last
  }

  /** The slot of the newest block; 0 before the first. */
  get newestSlot(): number {
    return this.#last?.slot ?? 0
  }

  /** What was not read or is missing in the store, in the order of the chain. */
  get gaps(): Gaps {
    return this.#missing
  }

  /** What was not read. */
  get unread(): Gaps {
    return this.#unread
  }

  /** The number of seconds in `[from, to]` without a missing block. */
  seen(from: number, to: number): number {
    const begin = Math.max(from, this.#first)
    return begin > to ? 0 : to - begin + 1 - missingSeconds(this.#missing, begin, to)
  }

  /** The coverage of the seconds `[from, to]`. When `to` is before `from`, the coverage of a single moment. */
  coverage(from: number, to: number): Coverage {
    if (from >= this.since) {
      return COMPLETE
    }
    const width = to - from + 1
    const seen = this.seen(from, to)
    return from >= this.#first && seen === width
      ? COMPLETE
      : covering(from >= this.#first ? "source_gap" : "not_captured", width <= 0 ? 0 : seen / width)
  }
}
