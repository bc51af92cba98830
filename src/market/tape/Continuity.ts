import type { TradeProgress } from "../store/TradeProgress.ts"
import { type Coverage, COMPLETE, covering } from "../../domain/Scalar.ts"
import { type BlockPlace, type Gaps, gapBetween, missingSeconds, withGap } from "./Gaps.ts"

/** The time that blocks were read of, and the gaps in it. Seconds since the Unix epoch. */
export class Continuity {
  private first = Number.POSITIVE_INFINITY
  private last: BlockPlace | null = null
  private missing: Gaps = []

  /** Adds a block; `afterGap` when some between it and the one before were not read. */
  read({ afterGap, slot, timeMs }: BlockPlace & { readonly afterGap: boolean }): void {
    if (this.last === null) {
      // Earlier blocks may have the same second.
      this.first = Math.floor(timeMs / 1000) + 1
    } else if (afterGap) {
      this.missing = withGap(this.missing, gapBetween(this.last, { slot, timeMs }))
    }
    this.last = this.last !== null && this.last.slot > slot ? this.last : { slot, timeMs }
  }

  /** Restores the state of a process before this one. */
  restore({ gaps, readFrom, slot, timeMs }: TradeProgress): void {
    this.first = readFrom
    this.last = { slot, timeMs }
    this.missing = gaps
  }

  /** The first second from which on blocks were read; infinite before the first block. */
  get firstRead(): number {
    return this.first
  }

  /** The first second from which on nothing is missing; infinite before the first block. */
  get since(): number {
    return this.missing.reduce((since, { toSecond }) => Math.max(since, toSecond + 1), this.first)
  }

  /** The newest block that was read; null before the first. */
  get newest(): BlockPlace | null {
    return this.last
  }

  /** Its slot; 0 before the first. */
  get newestSlot(): number {
    return this.last?.slot ?? 0
  }

  /** The gaps, in the order of the chain. */
  get gaps(): Gaps {
    return this.missing
  }

  /** Seconds of `[from, to]` without a missing block. */
  seen(from: number, to: number): number {
    const begin = Math.max(from, this.first)
    return begin > to ? 0 : to - begin + 1 - missingSeconds(this.missing, begin, to)
  }

  /** The coverage of the seconds `[from, to]`; of a single moment when `to` is before `from`. */
  coverage(from: number, to: number): Coverage {
    if (from >= this.since) {
      return COMPLETE
    }
    const width = to - from + 1
    const seen = this.seen(from, to)
    return from >= this.first && seen === width
      ? COMPLETE
      : covering(from >= this.first ? "source_gap" : "not_captured", width <= 0 ? 0 : seen / width)
  }
}
