import type { StoredBatch } from "./StoredBatch.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { type BlockPlace, type Gaps, withGapsBefore, withoutGap } from "./Gaps.ts"

/** How much of a chain is stored. Seconds since the Unix epoch. */
export interface TradeProgress {
  /** The newest block that is stored completely, and its time in milliseconds. */
  readonly slot: number
  readonly timeMs: number
  /** The oldest block that is stored. */
  readonly firstSlot: number
  /** The first second from which blocks were read. */
  readonly readFrom: number
  /** The blocks since then that were not read. */
  readonly gaps: Gaps
  /** The number of repairs that have changed stored trades. */
  readonly repairs: number
}

/** Blocks that were read again, oldest first, and how they change what is missing. */
export interface Repair {
  readonly batches: ReadonlyArray<StoredBatch>
  /** Stored trades after these blocks whose prices change because of them. */
  readonly repriced: ReadonlyArray<TapeTrade>
  /**
   * Replaces the gap that begins at `fromSlot` with what is left of it; null for blocks older than the oldest stored
   * block.
   */
  readonly gap: { readonly fromSlot: number; readonly left: Gaps } | null
  /** The new oldest block, and the second from which blocks were read; null when they stay the same. */
  readonly first: { readonly slot: number; readonly second: number } | null
  /** Gaps among blocks older than the oldest stored block. */
  readonly found: Gaps
  /**
   * Whether the repair counts, so that memory is rebuilt. By default it does when it changes trades. A repair of blocks
   * that are too old for memory need not count.
   */
  readonly counts?: boolean | undefined
}

/** Progress after one more block. A block that is not newer changes nothing. */
const advanced = (known: TradeProgress | null, batch: StoredBatch): TradeProgress => {
  const { afterGap, slot, timeMs } = batch
  if (known === null) {
    // Earlier blocks may have the same second.
    return { slot, timeMs, firstSlot: slot, readFrom: Math.floor(timeMs / 1000) + 1, gaps: [], repairs: 0 }
  }
  return slot <= known.slot
    ? known
    : {
        ...known,
        slot,
        timeMs: Math.max(timeMs, known.timeMs),
        gaps: afterGap ? withGapsBefore(known.gaps, known, batch) : known.gaps
      }
}

/** Progress after these blocks, given in the order of the chain; null while nothing is stored. */
export const joinProgress = (known: TradeProgress | null, batches: ReadonlyArray<StoredBatch>): TradeProgress | null =>
  batches.reduce(advanced, known)

/** Progress of a store that has lost every block after this one. Of a gap around it the part before it is left. */
export const progressUntil = (known: TradeProgress, { slot, timeMs }: BlockPlace): TradeProgress => ({
  ...known,
  slot,
  timeMs,
  gaps: known.gaps
    .filter(({ fromSlot }) => fromSlot < slot)
    .map((gap) =>
      gap.toSlot < slot
        ? gap
        : { ...gap, toSlot: slot - 1, toSecond: Math.min(gap.toSecond, Math.floor(timeMs / 1000)) }
    )
})

export const repairedProgress = (
  known: TradeProgress,
  { batches, counts, first, found, gap, repriced }: Repair
): TradeProgress => ({
  ...known,
  firstSlot: Math.min(known.firstSlot, first?.slot ?? known.firstSlot),
  readFrom: Math.min(known.readFrom, first?.second ?? known.readFrom),
  gaps: [...found, ...(gap === null ? known.gaps : withoutGap(known.gaps, gap.fromSlot, gap.left))],
  repairs: known.repairs + ((counts ?? (batches.length > 0 || repriced.length > 0)) ? 1 : 0)
})
