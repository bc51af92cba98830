/** Passes every pool that trades to the pool book, so that a new pool is quoted without another search. */
import { Effect, Layer, Stream } from "effect"
import { ownTurn } from "../../domain/loopTime.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { Market } from "./Market.ts"

export const layer: Layer.Layer<never, never, PoolBook | Market> = Layer.effectDiscard(
  Effect.gen(function* () {
    const book = yield* PoolBook
    const tape = yield* Market
    yield* Effect.suspend(() =>
      Stream.runForEach(tape.applied, ({ trades }) =>
        Effect.map(ownTurn, () => {
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
