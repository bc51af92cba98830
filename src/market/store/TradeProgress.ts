import type { StoredBatch } from "./StoredBatch.ts"

/** The part of a chain that is stored. Seconds since the Unix epoch. */
export interface TradeProgress {
  /** The newest block that is wholly stored, and its time in milliseconds. */
  readonly slot: number
  readonly timeMs: number
  /** The first second from which on blocks were read. */
  readonly readFrom: number
  /** The first second from which on no block is missing. */
  readonly unbrokenFrom: number
}

/** Progress after one more block; a block that is not newer makes none. */
const advanced = (known: TradeProgress | null, { afterGap, slot, timeMs }: StoredBatch): TradeProgress => {
  // Earlier blocks may have the same second.
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
  batches.reduce(advanced, known)
