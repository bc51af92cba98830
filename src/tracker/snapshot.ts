/** How everything stands that a stream is about. */
import type { LiveGap, SnapshotBody, SnapshotReason } from "../domain/wallets/LiveFrame.ts"
import type { LiveStream } from "./LiveStream.ts"
import { secondOf, statusOf, withActivity } from "./overview.ts"
import type { TrackerFeed } from "./TrackerFeed.ts"

/** Where a snapshot is taken from. */
export type SnapshotSources = Pick<TrackerFeed["Service"], "health" | "lastEventAtMs" | "newestOf" | "pnlSnapshotOf">

/** Why it is taken, and what it makes good. */
export interface SnapshotCause {
  readonly reason: SnapshotReason
  readonly resumed: boolean
  readonly gap: LiveGap | null
}

const EACH = 20
const MOST = 200

/** The state of now, of what the account may see: nothing from before it tracked a wallet. */
export const snapshotOf = (
  feed: SnapshotSources,
  stream: Pick<LiveStream, "grant" | "items">,
  cause: SnapshotCause,
  nowMs: number
): SnapshotBody => {
  const wallets = stream.items.map((item) => withActivity(item, feed.lastEventAtMs(item.wallet)))
  const asked = wallets.map(({ addedAtMs, wallet }) => ({ wallet, sinceMs: secondOf(addedAtMs) }))
  const { pnl, summaries } = feed.pnlSnapshotOf(asked, MOST, nowMs)
  return {
    streamId: stream.grant.streamId,
    ...cause,
    wallets,
    trades: feed.newestOf(asked, EACH, MOST),
    pnl,
    summaries,
    status: statusOf(wallets, feed.health(nowMs), nowMs)
  }
}
