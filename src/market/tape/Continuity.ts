import type { TradeProgress } from "../store/TradeProgress.ts"
import { type Coverage, COMPLETE, incomplete } from "../../domain/Scalar.ts"

/** From when on everything was seen. Seconds since the Unix epoch. */
export class Continuity {
  private first = Number.POSITIVE_INFINITY
  private unbroken = Number.POSITIVE_INFINITY

  /** A block of this time was read; `afterGap` when some before it were not. */
  read(second: number, afterGap: boolean): void {
    // Other blocks of the same second may have gone before.
    if (this.first === Number.POSITIVE_INFINITY) {
      this.first = second + 1
    }
    if (afterGap || this.unbroken === Number.POSITIVE_INFINITY) {
      this.unbroken = second + 1
    }
  }

  /** What was read before is known again. */
  restore({ readFrom, unbrokenFrom }: Pick<TradeProgress, "readFrom" | "unbrokenFrom">): void {
    this.first = readFrom
    this.unbroken = unbrokenFrom
  }

  /** The first second from which on blocks were read; infinite before the first block. */
  get firstRead(): number {
    return this.first
  }

  /** The first second from which on nothing is missing; infinite before the first block. */
  get since(): number {
    return this.unbroken
  }

  /** Whether everything since a second was seen, and why not. */
  coverageFrom(second: number): Coverage {
    if (second >= this.unbroken) {
      return COMPLETE
    }
    return incomplete(second >= this.first ? "source_gap" : "not_captured")
  }
}
