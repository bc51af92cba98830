/** Quotes by execution in this process: installs them where the engine looks for them, and reports their state. */
import { type Config, Effect, Layer } from "effect"
import { Readings } from "../../operations/Readings.ts"
import { SourceMonitor, type SourceState } from "../../operations/SourceMonitor.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import type { TransactionHistory } from "../../chain/rpc/TransactionHistory.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import { ExecutedQuotes } from "../ExecutedQuotes.ts"
import { executedState } from "./executedStates.ts"
import { executedVenues } from "./executedVenues.ts"
import { EXECUTION, Executor } from "./Executor.ts"
import { improveQuotes } from "./improveQuotes.ts"
import { learnVenues } from "./executionSettings.ts"
import { learnFrom } from "./learnVenues.ts"
import { Learned } from "../pools/LearnedPools.ts"
import { simulateRoutes } from "./simulateRoutes.ts"
import { CurveBook } from "./PoolCurves.ts"

const STATES = ["waiting", "executed", "refused", "learning", "proven"] as const

const make = Effect.gen(function* () {
  const executor = yield* Executor
  const feed = yield* ChainFeed
  const book = yield* PoolBook
  const installed = yield* ExecutedQuotes
  const readings = yield* Readings
  const scope = yield* Effect.scope
  const run = Effect.runForkWith(yield* Effect.context())
  const curves = new CurveBook(executor, yield* Learned)
  const learnedStates = yield* learnFrom(executor, yield* learnVenues)
  const states = () => {
    const sampled = [...curves.all()]
    return [...executedVenues.map((venue) => executedState(venue, executor, sampled)), ...learnedStates()]
  }

  yield* (yield* SourceMonitor).report(EXECUTION, (nowMs): SourceState => {
    const { answeredAtMs, fill, stopped, unavailable } = executor.state()
    return {
      observedAtMs: answeredAtMs ?? nowMs,
      status: unavailable !== null || stopped.size > 0 ? "partial" : "known",
      fill,
      executed: states()
    }
  })
  yield* readings.report(
    {
      name: "fathom_executed_venue_state",
      help: "1 for the current state of a venue that is priced by executing its program, 0 for the other states.",
      kind: "gauge"
    },
    () =>
      states().flatMap(({ dex, state: own }) =>
        STATES.map((state) => ({ value: state === own ? 1 : 0, labels: { dex, state } }))
      )
  )

  const later = (sample: Effect.Effect<unknown>): void => void run(Effect.forkIn(sample, scope))
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      installed.install({
        improve: improveQuotes(executor, curves, later),
        simulate: simulateRoutes(executor, feed, book)
      })
    ),
    () => Effect.sync(() => installed.install(null))
  )
})

/** Lets the engine quote executed venues while the scope is open. */
export const layer: Layer.Layer<never, Config.ConfigError, ChainFeed | Executor | PoolBook | TransactionHistory> =
  Layer.effectDiscard(make)
