/** Staleness of the state in memory. It belongs to the feed, not to an account. */
import { StateStale } from "../domain/quotes/Quote.ts"
import type { Freshness } from "../solana/accounts/ChainFeed.ts"

/** Milliseconds since the last message of the feed; zero for a recording, which cannot age, and before the first slot. */
export const silence = (freshness: Freshness, nowMs: number): number =>
  freshness.state === "recorded" || freshness.heardAtMs === null ? 0 : Math.max(0, nowMs - freshness.heardAtMs)

/**
 * The refusal for state that is too old, or null. A feed that reloads what a gap missed is stale until it is done;
 * one that is merely silent or disconnected is, once it has been silent for longer than `staleAfterMs`.
 */
export const staleness = (freshness: Freshness, nowMs: number, staleAfterMs: number): StateStale | null => {
  if (freshness.state === "recorded") {
    return null
  }
  if (freshness.heardAtMs === null) {
    return new StateStale({ lastSlot: freshness.slot, silentMs: null })
  }
  const silentMs = silence(freshness, nowMs)
  const old = freshness.state === "loading" || silentMs > staleAfterMs
  return old ? new StateStale({ lastSlot: freshness.slot, silentMs }) : null
}
