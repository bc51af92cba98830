/** Staleness of the state in memory. It is a property of the feed, not of an account. */
import { StateStale } from "../../api/schemas/Quote.ts"
import type { Freshness } from "../../chain/ChainFeed.ts"

/** Milliseconds since the feed's last message. Zero before the first slot, and for a recording, which cannot age. */
export const silence = (freshness: Freshness, nowMs: number): number =>
  freshness.state === "recorded" || freshness.heardAtMs === null ? 0 : Math.max(0, nowMs - freshness.heardAtMs)

/**
 * The refusal for state that is too old, or null. While the feed reloads what a gap missed, the state is stale. While
 * the feed is merely silent or disconnected, the state is stale after `staleAfterMs` of silence.
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
