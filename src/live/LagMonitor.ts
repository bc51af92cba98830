import type { NoticeCode } from "../api/schemas/LiveFrame.ts"
import { type FeedHealth, healthState } from "./FeedHealth.ts"

/** A notice about the age of the chain data. */
export interface LagNotice {
  readonly code: NoticeCode
  readonly message: string
}

/** Reports when the chain data becomes late, and when it is timely again. */
export class LagMonitor {
  #isLate = false

  check(health: FeedHealth, nowMs: number): LagNotice | null {
    const isLate = healthState(health, nowMs) !== "live"
    if (isLate === this.#isLate) {
      return null
    }
    this.#isLate = isLate
    return isLate
      ? { code: "source_delayed", message: "Chain data is delayed or not arriving." }
      : { code: "source_restored", message: "Chain data arrives in time again." }
  }
}
