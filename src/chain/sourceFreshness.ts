/** How far the chain feed and every monitored source lag behind. */
import type { SourceFreshness } from "../api/schemas/SourceFreshness.ts"
import type { MonitoredSource, SourceMonitor, SourceState } from "../operations/SourceMonitor.ts"
import type { ChainFeed, Freshness } from "./ChainFeed.ts"

const statuses = {
  live: "known",
  recorded: "known",
  polling: "partial",
  reloading: "partial",
  loading: "partial",
  down: "unavailable"
} as const

/** Name of the chain feed among the sources. */
export const CHAIN = "chain"

/** Blocks are stale once the newest of them is older than this by its own time, in milliseconds. */
export const STALE_BLOCK_MS = 30_000

/** The state of a feed as a source. A feed that is down is `stale` if it has ever delivered, else `unavailable`. */
export const chainState = ({ heardAtMs, node, slot, state }: Freshness): SourceState => ({
  observedAtMs: heardAtMs,
  status: heardAtMs === null ? "unavailable" : state === "down" ? "stale" : statuses[state],
  node,
  ...(slot > 0 && { slot })
})

/** A source as the API answers it. `lagMs` is the time since its last observation. */
const monitoredFreshness = (
  { estimatedTimes, node, observedAtMs, source, status, ...detail }: MonitoredSource,
  nowMs: number
): SourceFreshness => ({
  ...detail,
  source,
  observedAtMs,
  lagMs: observedAtMs === null ? null : Math.max(0, nowMs - observedAtMs),
  status,
  ...(node !== undefined && { node }),
  ...(estimatedTimes !== undefined && { estimatedTimes })
})

/** Every source. The chain comes first, and is listed even when nothing is monitored. */
export const allSources = (
  feed: Pick<ChainFeed["Service"], "freshness">,
  monitor: SourceMonitor,
  nowMs: number
): ReadonlyArray<SourceFreshness> =>
  [
    { source: CHAIN, ...(monitor.stateOf(CHAIN, nowMs) ?? chainState(feed.freshness())) },
    ...monitor.sources(nowMs).filter(({ source }) => source !== CHAIN)
  ].map((source) => monitoredFreshness(source, nowMs))
