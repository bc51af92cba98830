import { Effect, Layer, Stream } from "effect"
import { TradeTape } from "../../src/market/tape/TradeTape.ts"

/** A tape that is written by the callers of `apply`; after `renew` the next batch is the first of another chain. */
export const renewableTape = () => {
  let isAnew = false
  const renewed = (tape: TradeTape["Service"]): TradeTape["Service"] => ({
    ...tape,
    appliedCounted: Stream.map(tape.appliedCounted, (counted) => {
      const next = { ...counted, isAnew }
      isAnew = false
      return next
    })
  })
  return {
    layer: Layer.effect(TradeTape, Effect.map(TradeTape, renewed)).pipe(Layer.provide(TradeTape.layerManual())),
    renew: Effect.sync(() => {
      isAnew = true
    })
  }
}
