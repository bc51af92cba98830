import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"

/**
 * Makes the garbage collector of the whole process count buffers outside the heap as part of it. Otherwise each 64 MiB
 * of new buffers has the whole heap marked, and the accounts of mainnet are some ten megabytes a second. This costs
 * memory: the larger the heap, the more dead buffers wait to be collected, as with other objects.
 */
export const countBuffersWithHeap: Effect.Effect<void> = Effect.sync(() =>
  setFlagsFromString("--external-memory-accounted-in-global-limit")
)
