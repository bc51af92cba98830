/**
 * Collects young garbage at quiet moments after a block. V8 collects once its young space is full, which on a busy chain is in the
 * middle of a block: then it copies what is there of that block, and every request waits for 10 to 20 ms. At a quiet moment
 * little is alive.
 */
import { Effect, Layer, Schedule, Stream } from "effect"
import { isQuiet } from "../../domain/loopTime.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { youngBytes, youngCollector } from "../../operations/youngGarbage.ts"
import { Market } from "./Market.ts"

/** With less than this V8 is left alone: a busy slot makes some 25 MB, and V8's own young space is full at 64 MB. */
const LEAST_BYTES = 16 * 2 ** 20
/** A block keeps the thread busy in bursts: it is applied, framed and stored. */
const CHECK_EVERY = "25 millis"
const CHECKS = 12

/** `collect` runs at a quiet moment with at least so many young bytes in use. */
export const layerWith = (leastBytes: number, collect: () => void): Layer.Layer<never, never, Market> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const tape = yield* Market
      const check = Effect.sync(() => {
        if (isQuiet() && youngBytes() >= leastBytes) {
          collect()
        }
      })
      const afterBlock = Effect.andThen(Effect.sleep(CHECK_EVERY), check).pipe(
        Effect.repeat(Schedule.recurs(CHECKS - 1))
      )
      yield* Effect.suspend(() => Stream.runForEach(tape.applied, () => afterBlock)).pipe(
        keepRunning("Collecting garbage after blocks"),
        Effect.forkScoped({ startImmediately: true })
      )
    })
  )

export const layer: Layer.Layer<never, never, Market> = Layer.suspend(() => layerWith(LEAST_BYTES, youngCollector()))
