/** How stale the state in memory is. This depends on the feed, not on single accounts. */
import { StateStale } from "../../api/schemas/Quote.ts"
import type { Freshness } from "../../chain/ChainFeed.ts"

/**
 * Milliseconds since the feed's slot was received. Zero before the first slot. Always zero for a recording, which cannot
 * age.
 */
export const silence = (freshness: Freshness, nowMs: number): number =>
  freshness.state === "recorded" || freshness.heardAtMs === null ? 0 : Math.max(0, nowMs - freshness.heardAtMs)

/**
 * The refusal when the state is too old, or null. While the feed has no whole state, it is stale at once. A whole state
 * that readers keep while the feed is silent, disconnected or reading again what it missed is stale after `staleAfterMs`.
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
