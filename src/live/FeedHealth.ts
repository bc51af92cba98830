import type { TrackerStatus } from "../api/schemas/Tracker.ts"

/** Age of the chain data. */
export interface FeedHealth {
  /** Age of the newest block by its own block time, in milliseconds; null before the first block. */
  readonly ingestLagMs: number | null
  /** Local time at which the newest block arrived; null before the first block. */
  readonly heardAtMs: number | null
}

const DELAYED_MS = 5000
const DOWN_MS = 30_000

/** `down` after 30 s without a block, `delayed` while the newest block is more than 5 s old, otherwise `live`. */
export const healthState = ({ heardAtMs, ingestLagMs }: FeedHealth, nowMs: number): TrackerStatus["state"] => {
  if (heardAtMs === null || nowMs - heardAtMs >= DOWN_MS) {
    return "down"
  }
  return ingestLagMs !== null && ingestLagMs > DELAYED_MS ? "delayed" : "live"
}
