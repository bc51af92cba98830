/** Whether the market in memory is current. */
import type { SourceState } from "../../operations/SourceMonitor.ts"
import type { MarketReads } from "./MarketReads.ts"

/** The market is not current once no block has arrived for this long, in milliseconds, or once its newest block is that old. */
export const MARKET_STALE_MS = 30_000

/**
 * Why the market is not current; null when it is. `not_captured`: no block was read. `source_gap`: blocks have stopped.
 * `backfill_running`: blocks arrive, but they are old.
 */
export const lackingNow = (
  { aliveAtMs, state }: Pick<MarketReads, "aliveAtMs" | "state">,
  nowMs: number
): "backfill_running" | "not_captured" | "source_gap" | null => {
  const atMs = aliveAtMs()
  if (atMs === null || nowMs - atMs > MARKET_STALE_MS) {
    return atMs === null ? "not_captured" : "source_gap"
  }
  return nowMs - state.now * 1000 > MARKET_STALE_MS ? "backfill_running" : null
}

/** The state of the source `blocks`. */
export const blocksState = (market: MarketReads, nowMs: number): SourceState => {
  const lacking = lackingNow(market, nowMs)
  const gapsOpen = market.gaps().filter(({ state }) => state === "open").length
  const reason = lacking ?? (gapsOpen > 0 ? "source_gap" : market.isRestoring() ? "backfill_running" : null)
  return {
    observedAtMs: market.heardAtMs(),
    status: reason === null ? "known" : reason === "not_captured" ? "unavailable" : "partial",
    slot: market.newestSlot(),
    gapsOpen,
    ...(reason !== null && { reason })
  }
}
