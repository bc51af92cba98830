/** How far a chain has been read, block by block. */
import type { StoredBatch, TradeProgress } from "../store/TradeStore.ts"

/** Progress after one more block; a block that is not newer makes none. */
const step = (known: TradeProgress | null, { afterGap, slot, timeMs }: StoredBatch): TradeProgress => {
  // Other blocks of the same second may have gone before.
  const next = Math.floor(timeMs / 1000) + 1
  if (known === null) {
    return { slot, timeMs, readFrom: next, unbrokenFrom: next }
  }
  return slot <= known.slot
    ? known
    : {
        slot,
        timeMs: Math.max(timeMs, known.timeMs),
        readFrom: known.readFrom,
        unbrokenFrom: afterGap ? next : known.unbrokenFrom
      }
}

/** Progress after these blocks, given in the order of the chain; null while there is none. */
export const joinProgress = (known: TradeProgress | null, batches: ReadonlyArray<StoredBatch>): TradeProgress | null =>
  batches.reduce(step, known)
