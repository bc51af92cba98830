/** Lag of the chain feed and of every monitored source. */
import type { SourceFreshness } from "../../domain/market/SourceFreshness.ts"
import type { MonitoredSource, SourceMonitor } from "../../health/SourceMonitor.ts"
import type { ChainFeed, Freshness } from "./ChainFeed.ts"

const statuses = {
  live: "known",
  recorded: "known",
  polling: "partial",
  loading: "partial",
  down: "unavailable"
} as const

/** Freshness of the chain feed. A feed that has delivered once and is down now is stale, not unavailable. */
const chainFreshness = ({ heardAtMs, node, state }: Freshness, nowMs: number): SourceFreshness => ({
  source: "chain",
  observedAtMs: heardAtMs,
  lagMs: heardAtMs === null ? null : Math.max(0, nowMs - heardAtMs),
  status: heardAtMs === null ? "unavailable" : state === "down" ? "stale" : statuses[state],
  ...(node !== undefined && { node })
})

/** Freshness of a store or of background work. */
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

/** Lag of every source, the chain first. */
export const allSources = (
  feed: Pick<ChainFeed["Service"], "freshness">,
  monitor: SourceMonitor,
  nowMs: number
): ReadonlyArray<SourceFreshness> => [
  chainFreshness(feed.freshness(), nowMs),
  ...monitor.sources(nowMs).map((source) => monitoredFreshness(source, nowMs))
]
