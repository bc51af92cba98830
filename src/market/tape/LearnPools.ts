/** Notes the pools of trades for quotes, so that a new pool is quoted without another search. */
import { Effect, Layer, Stream } from "effect"
import { keepRunning } from "../../health/keepRunning.ts"
import { PoolBook } from "../../pools/PoolBook.ts"
import { TradeTape } from "./TradeTape.ts"

/** Follows the tape for as long as the layer lives. */
export const layer: Layer.Layer<never, never, PoolBook | TradeTape> = Layer.effectDiscard(
  Effect.gen(function* () {
    const book = yield* PoolBook
    const tape = yield* TradeTape
    yield* Effect.suspend(() =>
      Stream.runForEach(tape.applied, ({ trades }) =>
        Effect.sync(() => {
          for (const { mint, pool } of trades) {
            if (pool !== null) {
              book.learn(mint, pool)
            }
          }
        })
      )
    ).pipe(keepRunning("Noting new pools"), Effect.forkScoped({ startImmediately: true }))
  })
)
