/** States of every source, the chain among them, as answers show them. */
import { Clock, Effect, Layer } from "effect"
import type { PartState } from "../api/System.ts"
import { keepRunning } from "../health/keepRunning.ts"
import { SourceMonitor } from "../health/SourceMonitor.ts"
import { ChainFeed } from "../solana/accounts/ChainFeed.ts"
import { allSources, CHAIN, chainState } from "../solana/accounts/sourceFreshness.ts"

/** Interval at which changes of state are noted. */
const NOTED_EVERY = "1 second"

type Feed = Pick<ChainFeed["Service"], "freshness">

/** Every source with the time of its last change of state and its last error. Notes the states. */
export const partsOf = (feed: Feed, monitor: SourceMonitor, nowMs: number): ReadonlyArray<PartState> =>
  allSources(feed, monitor, nowMs).map(({ programs, source, status }) => ({
    part: source,
    status,
    ...(programs !== undefined && { programs }),
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
