import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Market } from "../../src/index.ts"
import * as SimulatedMarket from "../../src/testing/SimulatedMarket.ts"

layer(SimulatedMarket.layerWithTrades({ seed: "embedding", speed: 10 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("SimulatedMarket with its trades", (it) => {
  it.effect("streams priced trades to an embedder, in the order of the chain", () =>
    Effect.gen(function* () {
      const { applied } = yield* Market
      const batches = yield* applied.pipe(
        Stream.filter(({ trades }) => trades.length > 0),
        Stream.take(3),
        Stream.runCollect
      )
      const slots = batches.map(({ slot }) => slot)
      assert.deepStrictEqual(
        slots,
        slots.toSorted((a, b) => a - b)
      )
      for (const { trades } of batches) {
        assert.isTrue(trades.every(({ amount }) => amount > 0n))
      }
    })
  )
})
