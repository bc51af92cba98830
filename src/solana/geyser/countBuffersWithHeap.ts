import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"

/**
 * Makes the collector count the buffers beside the heap with it, in the whole process. Without this each 64 MiB of new ones have the
 * whole heap marked, and the accounts of a mainnet are some ten megabytes a second. Costs memory: as with other objects, more of
 * them wait to be collected the larger the heap is.
 */
export const countBuffersWithHeap: Effect.Effect<void> = Effect.sync(() =>
  setFlagsFromString("--external-memory-accounted-in-global-limit")
)
