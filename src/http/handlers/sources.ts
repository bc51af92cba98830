/** The state of every source, including the chain, as answers show it. */
import { Clock, type Config, Duration, Effect, Layer } from "effect"
import type { PartState } from "../../api/System.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import { staleAfter } from "../../chain/accounts/chainSettings.ts"
import { allSources, CHAIN, chainState } from "../../chain/sourceFreshness.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { staleness } from "../../quotes/pools/freshness.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"

/** How often changes of state are recorded. */
const NOTED_EVERY = "1 second"

type Feed = Pick<ChainFeed["Service"], "freshness">

/** Every source with the time of its last change of state and its last error. Records the states. */
export const partsOf = (feed: Feed, monitor: SourceMonitor, nowMs: number): ReadonlyArray<PartState> =>
  allSources(feed, monitor, nowMs).map(({ decoding, executed, programs, source, status }) => ({
    part: source,
    status,
    ...(decoding !== undefined && { decoding }),
    ...(programs !== undefined && { programs }),
    ...(executed !== undefined && { executed }),
    ...monitor.history(source, status, nowMs)
  }))

/**
 * Reports the chain, which is stale once quotes are refused as stale. Records the states every second, so that the
 * times of changes do not depend on requests.
 */
export const noteStates: Layer.Layer<never, Config.ConfigError, ChainFeed> = Layer.effectDiscard(
  Effect.gen(function* () {
    const feed = yield* ChainFeed
    const monitor = yield* SourceMonitor
    const staleAfterMs = Duration.toMillis(yield* staleAfter)
    yield* monitor.report(CHAIN, (nowMs) => {
      const freshness = feed.freshness()
      const state = chainState(freshness)
      const isRefused = state.status !== "unavailable" && staleness(freshness, nowMs, staleAfterMs) !== null
      return isRefused ? { ...state, status: "stale" } : state
    })
    yield* Effect.map(Clock.currentTimeMillis, (nowMs) => partsOf(feed, monitor, nowMs)).pipe(
      Effect.andThen(Effect.sleep(NOTED_EVERY)),
      Effect.forever,
      keepRunning("Noting the states of sources"),
      Effect.forkScoped
    )
  })
)
