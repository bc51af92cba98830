/** Reads everything that is stored into memory. */
import { Duration, Effect } from "effect"
import { keepRunning } from "../../health/keepRunning.ts"
import type { TapeControls } from "../tape/TapeControls.ts"
import { restoreTape } from "../store/restoreTape.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import { stored } from "./priceAgain.ts"

/** The parts of a rebuild. */
export interface RebuildParts {
  readonly store: Pick<TradeStore["Service"], "launchesBefore" | "progress" | "revised" | "since">
  readonly tape: Pick<TapeControls, "newest" | "rebuild" | "revise">
  /** The newest slot that is stored. */
  readonly durable: () => number
  /** The most trades and launches that memory is rebuilt from. */
  readonly most: { readonly trades: number; readonly launches: number }
}

/** Replaces memory by what the store has, once everything on the tape is stored. Returns the number of trades. */
export const rebuildTape = Effect.fnUntraced(function* ({ durable, most, store, tape }: RebuildParts) {
  const done = { trades: 0, from: 0 }
  yield* tape.rebuild(
    Effect.fnUntraced(function* (add) {
      yield* stored(durable, tape.newest())
      const progress = yield* store.progress
      if (progress === null) {
        return yield* Effect.die(new Error("nothing is stored"))
      }
      const { from, trades } = yield* restoreTape(store, progress, most, add)
      done.from = from
      done.trades = trades
      return { progress, from }
    }, Effect.orDie)
  )
  tape.revise(yield* Effect.orDie(store.revised(done.from)))
  return done.trades
})

/** Fills memory after a start. Begins before the first block comes, so that none is missing from memory afterwards. */
export const fillTape = (parts: RebuildParts): Effect.Effect<void> =>
  Effect.timed(rebuildTape(parts)).pipe(
    Effect.flatMap(([took, trades]) =>
      Effect.logInfo("The market is restored", { trades, took: Duration.format(took) })
    ),
    keepRunning("Restoring the market", "blocks")
  )
