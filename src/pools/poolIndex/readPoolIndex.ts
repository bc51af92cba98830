import { Effect, Layer } from "effect"
import { MOST_INDEXED, NOT_INDEXED, PoolIndex } from "./PoolIndex.ts"
import { PoolIndexStore } from "./PoolIndexStore.ts"

/** Slots that the index may be behind: a minute, as long as a search for new pools may be ago. */
const MOST_BEHIND = 150

/** The index in the store, whichever process keeps it. */
export const layer: Layer.Layer<never, never, PoolIndexStore> = Layer.effect(
  PoolIndex,
  Effect.map(PoolIndexStore, (store) => ({
    poolsOf: (mint, slot) =>
      // Before the first slot it is unknown how far the index is behind.
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
