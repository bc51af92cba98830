/** The newest trades of tracked wallets, from the socket, or by polling while there is no socket. */
import { useEffect, useState } from "preact/hooks"
import type { TrackerGap } from "../../client/TrackerMemory.ts"
import type { StreamState } from "./liveSocket.ts"
import { type TrackedTrade, type TrackerEvent, withTrade } from "./trackerStream.ts"
import { useTracker } from "./useLive.ts"
import { useRead } from "./useRead.ts"

/** Most trades that a poll reads. */
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

/** What is shown after an event. */
const after = (before: LiveTrades, event: TrackerEvent): LiveTrades => {
  switch (event.type) {
    case "state":
      return { ...before, state: event.state, isLoading: event.state === "idle" ? false : before.isLoading }
    case "replace":
      return { ...before, trades: event.trades, isLoading: false }
    case "add":
      return { ...before, trades: withTrade(before.trades, event.trade) }
    case "gap":
      return { ...before, gap: event }
    default:
      return before
  }
}

/** Follows the trades of a group, or of all groups for null. A new `turn` starts again, after the wallets changed. */
export const useLiveTrades = (group: string | null, turn = 0): LiveTrades => {
  const [live, setLive] = useState<LiveTrades>(nothing)
  useEffect(() => setLive(nothing), [group, turn])
  useTracker(group, (event) => setLive((before) => after(before, event)), turn)
  const isPolling = live.state === "lost" || live.state === "refused"
  const polled = useRead(
    "GET /api/v1/tracker/trades",
    isPolling ? { query: { limit: MOST_TRADES, group: group ?? undefined } } : null,
    isPolling ? POLL_MS : undefined
  )
  return isPolling && polled.answer !== null ? { ...live, trades: polled.answer.trades, isLoading: false } : live
}
