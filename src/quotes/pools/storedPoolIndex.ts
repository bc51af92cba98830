import { Effect, Layer } from "effect"
import { MOST_INDEXED, NOT_INDEXED, PoolIndex } from "./PoolIndex.ts"
import { PoolIndexStore } from "./PoolIndexStore.ts"

/** How many slots behind the index may be: one minute. Pools from a search may be just as old. */
const MOST_BEHIND = 150

/** Reads the stored index, whichever process keeps it. */
export const layer: Layer.Layer<never, never, PoolIndexStore> = Layer.effect(
  PoolIndex,
  Effect.map(PoolIndexStore, (store) => ({
    poolsOf: (mint, slot) =>
      // Before the first slot it is unknown how far behind the index is.
      slot === 0
        ? Effect.succeed(NOT_INDEXED)
        : store
            .poolsOf(mint, { through: Math.max(0, slot - MOST_BEHIND), most: MOST_INDEXED })
            .pipe(
              Effect.catchTag("PoolIndexStoreUnavailable", (failure) =>
                Effect.as(Effect.logDebug("The index of pools cannot be read", failure), NOT_INDEXED)
              )
            )
  }))
)
