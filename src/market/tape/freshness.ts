/** Whether the market in memory is current. */
import { STALE_BLOCK_MS } from "../../chain/sourceFreshness.ts"
import type { SourceState } from "../../operations/SourceMonitor.ts"
import type { BlockPlace } from "../model/Gaps.ts"
import type { MarketReads } from "./MarketReads.ts"

/** The market is not current once no block has arrived for this long, in milliseconds, or once its newest block is that old. */
export const MARKET_STALE_MS = STALE_BLOCK_MS

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

/** The own time of the newest applied block, and at most the time of its arrival; null before the first. */
const appliedAtMs = ({ heardAtMs, state }: MarketReads): number | null => {
  const arrivedMs = heardAtMs()
  return arrivedMs === null || state.now === 0 ? arrivedMs : Math.min(state.now * 1000, arrivedMs)
}

/** The state of the source `blocks`: stale while the newest applied block is old, by its own time. */
export const blocksState = (market: MarketReads, nowMs: number): SourceState => {
  const lacking = lackingNow(market, nowMs)
  const gapsOpen = market.gaps().filter(({ state }) => state === "open").length
  const reason = lacking ?? (gapsOpen > 0 ? "source_gap" : market.isRestoring() ? "backfill_running" : null)
  return {
    observedAtMs: appliedAtMs(market),
    status:
      lacking === "not_captured" ? "unavailable" : lacking !== null ? "stale" : reason === null ? "known" : "partial",
    slot: market.newestSlot(),
    gapsOpen,
    ...(reason !== null && { reason })
  }
}

/** The state of the source `trades`: stale while the store lags, or while the newest stored block is old. */
export const storedState = (newest: BlockPlace | null, lags: boolean, nowMs: number): SourceState =>
  newest === null
    ? { observedAtMs: null, status: "unavailable" }
    : {
        observedAtMs: Math.min(newest.timeMs, nowMs),
        status: lags || nowMs - newest.timeMs > MARKET_STALE_MS ? "stale" : "known",
        slot: newest.slot
      }
