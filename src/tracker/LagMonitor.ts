import type { NoticeCode } from "../domain/wallets/LiveFrame.ts"
import { type FeedHealth, healthState } from "./FeedHealth.ts"

/** What there is to say of the chain. */
export interface SourceNotice {
  readonly code: NoticeCode
  readonly message: string
}

/** Notices when the chain falls behind and when it is back; each once. */
export class LagMonitor {
  #isLate = false

  look(health: FeedHealth, nowMs: number): SourceNotice | null {
    const isLate = healthState(health, nowMs) !== "live"
    if (isLate === this.#isLate) {
      return null
    }
    this.#isLate = isLate
    return isLate
      ? { code: "source_delayed", message: "The chain is heard late, or not at all." }
      : { code: "source_restored", message: "The chain is heard in time again." }
  }
}
