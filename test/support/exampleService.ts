/** The service that examples of the documents run against: a simulated market, and a tracked wallet that trades. */
import { Clock, Effect, Layer, Schedule } from "effect"
import * as SimulatedMarket from "../../src/testing/SimulatedMarket.ts"
import { keyOf } from "./http.ts"
import { happen, liveService, trackAll } from "./live.ts"
import { blockOf, walletOf } from "../wallets/tracker/liveScene.ts"

/** A tracked wallet that never stops trading. */
const trading = Layer.effectDiscard(
  Effect.gen(function* () {
    const wallet = walletOf(1)
    yield* trackAll([wallet])
    let slot = 0
    const trade = Effect.gen(function* () {
      yield* happen(blockOf(++slot, [{ wallet }], { timeMs: yield* Clock.currentTimeMillis }))
    })
    yield* trade.pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.forkScoped)
  })
)

/** The service, with the secret of the key "a". */
export const exampleService = Layer.unwrap(
  Effect.map(Layer.build(SimulatedMarket.layer({ seed: "readme" })), (built) => {
    const shared = Layer.succeedContext(built)
    const keys = [keyOf("a", { scopes: ["md.read", "tracker.read"] })]
    return trading.pipe(Layer.provideMerge(liveService({ keys, engine: shared, feed: shared })), Layer.merge(shared))
  })
)
