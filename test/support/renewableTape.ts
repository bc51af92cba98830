import { Effect, Layer, Stream } from "effect"
import { Market } from "../../src/market/tape/Market.ts"

/** A tape that is written by the callers of `apply`; after `renew` the next batch is the first of another chain. */
export const renewableTape = () => {
  let isAnew = false
  const renewed = (tape: Market["Service"]): Market["Service"] => ({
    ...tape,
    appliedCounted: Stream.map(tape.appliedCounted, (counted) => {
      const next = { ...counted, isAnew }
      isAnew = false
      return next
    })
  })
  return {
    layer: Layer.effect(Market, Effect.map(Market, renewed)).pipe(Layer.provideMerge(Market.layerManual())),
    renew: Effect.sync(() => {
      isAnew = true
    })
  }
}
