/**
 * Collects young garbage at quiet moments after a block. V8 collects once its young space is full, which on a busy chain is in the
 * middle of a block: then it copies what is there of that block, and every request waits for 10 to 20 ms. At a quiet moment
 * little is alive.
 */
import { Effect, Latch, Layer, Stream } from "effect"
import { isQuiet } from "../../domain/loopTime.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { youngBytes, youngCollector } from "../../operations/youngGarbage.ts"
import { Market } from "./Market.ts"

/** With less than this V8 is left alone: a busy slot makes some 25 MB, and V8's own young space is full at 64 MB. */
const LEAST_BYTES = 16 * 2 ** 20
const CHECK_EVERY = "25 millis"
/** Checks after a block. It keeps the thread busy in bursts: it is applied, framed and stored. */
const CHECKS = 12

/** `collect` runs at a quiet moment with at least so many young bytes in use. */
export const layerWith = (leastBytes: number, collect: () => void): Layer.Layer<never, never, Market> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const tape = yield* Market
      const applied = Latch.makeUnsafe(false)
      let checks = 0
      // Takes each block at once: one that waited here would stay in memory.
      const note = Stream.runForEach(tape.applied, () =>
        Effect.sync(() => {
          checks = CHECKS
          applied.openUnsafe()
        })
      )
      const check = Effect.gen(function* () {
        yield* applied.await
        yield* Effect.sleep(CHECK_EVERY)
        checks -= 1
        if (checks <= 0) {
          applied.closeUnsafe()
        }
        if (isQuiet() && youngBytes() >= leastBytes) {
          collect()
        }
      })
      yield* Effect.all([note, Effect.forever(check)], { concurrency: "unbounded", discard: true }).pipe(
        keepRunning("Collecting garbage after blocks"),
        Effect.forkScoped({ startImmediately: true })
      )
    })
  )

export const layer: Layer.Layer<never, never, Market> = Layer.suspend(() => layerWith(LEAST_BYTES, youngCollector()))
