/** States of every source, the chain among them, as answers show them. */
import { Clock, Effect, Layer } from "effect"
import type { PartState, SourceFreshness } from "../api/System.ts"
import { keepRunning } from "../health/keepRunning.ts"
import { type MonitoredSource, SourceMonitor, type SourceState } from "../health/SourceMonitor.ts"
import { ChainFeed, type Freshness } from "../solana/accounts/ChainFeed.ts"

/** Interval at which changes of state are noted. */
const NOTED_EVERY = "1 second"

const statuses = {
  live: "known",
  recorded: "known",
  polling: "partial",
  loading: "partial",
  down: "unavailable"
} as const

const CHAIN = "chain"

/** State of the chain feed. A feed that has delivered once and is down now is stale, not unavailable. */
const chainState = ({ heardAtMs, node, state }: Freshness): SourceState => ({
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

type Feed = Pick<ChainFeed["Service"], "freshness">

/** Every source, the chain first, also where nothing is monitored. */
export const sourcesOf = (feed: Feed, monitor: SourceMonitor, nowMs: number): ReadonlyArray<SourceFreshness> =>
  [
    { source: CHAIN, ...chainState(feed.freshness()) },
    ...monitor.sources(nowMs).filter(({ source }) => source !== CHAIN)
  ].map((source) => monitoredFreshness(source, nowMs))

/** Every source with the time of its last change of state and its last error. Notes the states. */
export const partsOf = (feed: Feed, monitor: SourceMonitor, nowMs: number): ReadonlyArray<PartState> =>
  sourcesOf(feed, monitor, nowMs).map(({ source, status }) => ({
    part: source,
    status,
    ...monitor.history(source, status, nowMs)
  }))

/** Reports the chain to metrics, and notes the states every second, so that their times do not depend on when they are asked for. */
export const noteStates: Layer.Layer<never, never, ChainFeed> = Layer.effectDiscard(
  Effect.gen(function* () {
    const feed = yield* ChainFeed
    const monitor = yield* SourceMonitor
    yield* monitor.report(CHAIN, () => chainState(feed.freshness()))
    yield* Effect.map(Clock.currentTimeMillis, (nowMs) => partsOf(feed, monitor, nowMs)).pipe(
      Effect.andThen(Effect.sleep(NOTED_EVERY)),
      Effect.forever,
      keepRunning("Noting the states of sources"),
      Effect.forkScoped
    )
  })
)
