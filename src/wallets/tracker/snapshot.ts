/** Snapshots of live streams. */
import type { SnapshotGap, SnapshotBody, SnapshotReason } from "../../api/schemas/LiveFrame.ts"
import type { LiveStream } from "./LiveStream.ts"
import { secondOf, statusOf, withActivity } from "./overview.ts"
import type { TrackerFeed } from "./TrackerFeed.ts"

/** Reads of the feed that a snapshot needs. */
export type SnapshotSources = Pick<TrackerFeed["Service"], "health" | "lastEventAtMs" | "newestOf" | "pnlSnapshotOf">

/** Reason of a snapshot and the gap that it covers. */
export interface SnapshotCause {
  readonly reason: SnapshotReason
  readonly resumed: boolean
  readonly gap: SnapshotGap | null
}

const EACH = 20
const MOST = 200

/**
 * Current wallets of a stream, with at most 200 trades (20 per wallet) and 200 positions, since each wallet is tracked.
 */
export const snapshotOf = (
  feed: SnapshotSources,
  stream: Pick<LiveStream, "grant" | "items">,
  cause: SnapshotCause,
  nowMs: number
): SnapshotBody => {
  const wallets = stream.items.map((item) => withActivity(item, feed.lastEventAtMs(item.wallet)))
  const tracked = wallets.map(({ addedAtMs, wallet }) => ({ wallet, sinceMs: secondOf(addedAtMs) }))
  const { pnl, summaries } = feed.pnlSnapshotOf(tracked, MOST, nowMs)
  return {
    streamId: stream.grant.streamId,
    ...cause,
    wallets,
    trades: feed.newestOf(tracked, EACH, MOST),
    pnl,
    summaries,
    status: statusOf(wallets, feed.health(nowMs), nowMs)
  }
}
