import type { TradeProgress } from "../store/TradeProgress.ts"
import { type Coverage, COMPLETE, incomplete } from "../../domain/Scalar.ts"

/** The time from which on every block was read. Seconds since the Unix epoch. */
export class Continuity {
  private first = Number.POSITIVE_INFINITY
  private unbroken = Number.POSITIVE_INFINITY

  /** Adds a block of this time; `afterGap` when some before it were not read. */
  read(second: number, afterGap: boolean): void {
    // Earlier blocks may have the same second.
    if (this.first === Number.POSITIVE_INFINITY) {
      this.first = second + 1
    }
    if (afterGap || this.unbroken === Number.POSITIVE_INFINITY) {
      this.unbroken = second + 1
    }
  }

  /** Restores the state of a process before this one. */
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

  /** The coverage of the time since a second. */
  coverageFrom(second: number): Coverage {
    if (second >= this.unbroken) {
      return COMPLETE
    }
    return incomplete(second >= this.first ? "source_gap" : "not_captured")
  }
}
