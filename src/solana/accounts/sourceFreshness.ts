/** Lag of the chain feed and of every monitored source. */
import type { SourceFreshness } from "../../domain/market/SourceFreshness.ts"
import type { MonitoredSource, SourceMonitor, SourceState } from "../../health/SourceMonitor.ts"
import type { ChainFeed, Freshness } from "./ChainFeed.ts"

const statuses = {
  live: "known",
  recorded: "known",
  polling: "partial",
  loading: "partial",
  down: "unavailable"
} as const

/** Name of the chain feed among the sources. */
export const CHAIN = "chain"

/** State of the chain feed. A feed that has delivered once and is down now is stale, not unavailable. */
export const chainState = ({ heardAtMs, node, state }: Freshness): SourceState => ({
  observedAtMs: heardAtMs,
  status: heardAtMs === null ? "unavailable" : state === "down" ? "stale" : statuses[state],
  node
})

/** Freshness of a source as it is answered. */
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

/** Every source, the chain first, also where nothing is monitored. */
export const allSources = (
  feed: Pick<ChainFeed["Service"], "freshness">,
  monitor: SourceMonitor,
  nowMs: number
): ReadonlyArray<SourceFreshness> =>
  [
    { source: CHAIN, ...chainState(feed.freshness()) },
    ...monitor.sources(nowMs).filter(({ source }) => source !== CHAIN)
  ].map((source) => monitoredFreshness(source, nowMs))
