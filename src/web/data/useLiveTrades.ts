/** The newest trades of tracked wallets, from the socket, or by polling while there is no socket. */
import { useCallback, useEffect, useState } from "preact/hooks"
import type { TrackerGap } from "../../client/TrackerMemory.ts"
import { followTracker, type StreamState, type TrackedTrade } from "./trackerStream.ts"
import { useRead } from "./useRead.ts"

/** Most trades that a page holds. */
const MOST_TRADES = 200
const POLL_MS = 5000

/** Trades (newest first), how they arrive, and the newest gap in the stream. */
export interface LiveTrades {
  readonly state: StreamState
  readonly trades: ReadonlyArray<TrackedTrade>
  readonly gap: TrackerGap | null
  /** True until the first answer. */
  readonly isLoading: boolean
}

const nothing: LiveTrades = { state: "connecting", trades: [], gap: null, isLoading: true }

/** Follows the trades of a group, or of all groups for null. A new `turn` starts again, after the wallets changed. */
export const useLiveTrades = (group: string | null, turn = 0): LiveTrades => {
  const [live, setLive] = useState<LiveTrades>(nothing)
  const change = useCallback(
    (next: (before: LiveTrades) => Partial<LiveTrades>) => setLive((before) => ({ ...before, ...next(before) })),
    []
  )
  useEffect(() => {
    setLive(nothing)
    return followTracker(group, {
      state: (state) => change(({ isLoading }) => ({ state, isLoading: state === "idle" ? false : isLoading })),
      replace: (trades) => change(() => ({ trades: trades.slice(0, MOST_TRADES), isLoading: false })),
      add: (trade) =>
        change(({ trades }) => ({
          trades: [trade, ...trades.filter(({ eventId }) => eventId !== trade.eventId)].slice(0, MOST_TRADES)
        })),
      gap: (gap) => change(() => ({ gap }))
    })
  }, [change, group, turn])
  const isPolling = live.state === "lost" || live.state === "refused"
  const polled = useRead(
    "GET /api/v1/tracker/trades",
    isPolling ? { query: { limit: MOST_TRADES, group: group ?? undefined } } : null,
    isPolling ? POLL_MS : undefined
  )
  return isPolling && polled.answer !== null ? { ...live, trades: polled.answer.trades, isLoading: false } : live
}
