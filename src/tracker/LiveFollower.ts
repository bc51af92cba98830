import type { Address } from "../domain/Address.ts"
import type { LiveEvent, LiveGap } from "../domain/wallets/LiveFrame.ts"

/** Callbacks that the feed's writer invokes synchronously: they must not block and must not throw. */
export interface LiveFollower {
  /**
   * True if a listener exists for the wallet; with `sinceMs`, one that tracks it from that second on. Events without a
   * listener are not built.
   */
  readonly wants: (wallet: Address, sinceMs?: number) => boolean
  /** Takes the events of one block or tick: per wallet by slot and index, a trade before its consequences. */
  readonly take: (events: ReadonlyArray<LiveEvent>, nowMs: number) => void
  /** Blocks were missed: state sent earlier has to be sent again. */
  readonly lost: (gap: LiveGap, nowMs: number) => void
}
