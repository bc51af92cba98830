/** Decides where imported blocks belong among the stored ones, and how they change what is missing. */
import { type BlockPlace, type Gaps, gapBetween, type MissingBlocks, MOST_GAPS } from "../model/Gaps.ts"
import type { TradeBatch } from "../model/TradeBatch.ts"
import type { Repair, TradeProgress } from "../model/TradeProgress.ts"
import { TRADED_MS } from "../model/SolPrice.ts"

/** A block with the slot of its parent. */
export interface LinkedBlock {
  readonly batch: TradeBatch
  readonly parentSlot: number
}

/** Where a slot lies: later than everything stored, earlier, in a gap, or among stored blocks. */
export type Region =
  | { readonly _tag: "New" }
  | { readonly _tag: "Old" }
  | { readonly _tag: "Gap"; readonly gap: MissingBlocks }
  | { readonly _tag: "Stored" }

export const regionOf = (progress: TradeProgress | null, slot: number): Region => {
  if (progress === null || slot > progress.slot) {
    return { _tag: "New" }
  }
  if (slot < progress.firstSlot) {
    return { _tag: "Old" }
  }
  const gap = progress.gaps.find(({ fromSlot, toSlot }) => slot >= fromSlot && slot <= toSlot)
  return gap === undefined ? { _tag: "Stored" } : { _tag: "Gap", gap }
}

/** True for two slots in the same stretch of missing blocks. */
export const isSameRegion = (a: Region, b: Region): boolean =>
  a._tag === b._tag && (a._tag !== "Gap" || b._tag !== "Gap" || a.gap.fromSlot === b.gap.fromSlot)

/** The first slot from this one on that is not stored; null when it lies after everything stored. */
export const nextMissing = (progress: TradeProgress, slot: number): number | null => {
  if (slot < progress.firstSlot) {
    return slot
  }
  const gap = progress.gaps.find(({ toSlot }) => toSlot >= slot)
  return gap === undefined ? null : Math.max(slot, gap.fromSlot)
}

/** A block contradicts the blocks that are stored. Says how. */
export type Contradiction = { readonly _tag: "Contradiction"; readonly detail: string }

const contradiction = (block: LinkedBlock, slot: number): Contradiction => ({
  _tag: "Contradiction",
  detail: `the block of slot ${block.batch.slot} follows slot ${block.parentSlot}, but slot ${slot} is stored between them: it is a block of another fork or another chain`
})

const secondOf = ({ timeMs }: BlockPlace): number => Math.floor(timeMs / 1000)

/** Holes between blocks. Whoever reads missing blocks may find them elsewhere. */
const holesIn = (blocks: ReadonlyArray<LinkedBlock>): Gaps =>
  blocks.flatMap(({ batch, parentSlot }, at) => {
    const before = blocks[at - 1]?.batch
    const hole = before === undefined || before.slot === parentSlot ? null : gapBetween(before, batch)
    return hole === null ? [] : [hole]
  })

/** True when the next block proves that nothing is missing between the last block and what is stored after it. */
const isJoined = (last: BlockPlace, next: LinkedBlock | null, storedSlot: number): boolean =>
  last.slot + 1 >= storedSlot || (next !== null && next.batch.slot >= storedSlot && next.parentSlot === last.slot)

/** What is left of a gap around blocks within it. `next` is the block after them. */
const leftOf = (gap: MissingBlocks, blocks: ReadonlyArray<LinkedBlock>, next: LinkedBlock | null): Gaps => {
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined) {
    return [gap]
  }
  const lower =
    first.parentSlot < gap.fromSlot
      ? []
      : [{ ...gap, toSlot: first.batch.slot - 1, toSecond: Math.max(gap.fromSecond, secondOf(first.batch)) }]
  const upper = isJoined(last.batch, next, gap.toSlot + 1)
    ? []
    : [{ ...gap, fromSlot: last.batch.slot + 1, fromSecond: Math.min(gap.toSecond, secondOf(last.batch)) }]
  return [...lower, ...holesIn(blocks), ...upper]
}

/** How blocks of one region change what is missing: a repair, without its trades. */
export const repairBy = (
  progress: TradeProgress,
  region: Exclude<Region, { readonly _tag: "New" | "Stored" }>,
  blocks: ReadonlyArray<LinkedBlock>,
  next: LinkedBlock | null,
  /** Whether what lies between these blocks and the oldest stored one is read by itself. */
  bridge: MissingBlocks["state"]
): Pick<Repair, "first" | "found" | "gap"> | Contradiction => {
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined) {
    return { gap: null, first: null, found: [] }
  }
  if (region._tag === "Gap") {
    const { fromSlot } = region.gap
    return first.parentSlot < fromSlot - 1
      ? contradiction(first, fromSlot - 1)
      : { gap: { fromSlot, left: leftOf(region.gap, blocks, next) }, first: null, found: [] }
  }
  const { firstSlot, readFrom } = progress
  const between = isJoined(last.batch, next, firstSlot)
    ? null
    : gapBetween(last.batch, { slot: firstSlot, timeMs: readFrom * 1000 })
  return {
    gap: null,
    first: { slot: first.batch.slot, second: secondOf(first.batch) + 1 },
    found: [...holesIn(blocks), ...(between === null ? [] : [{ ...between, state: bridge }])]
  }
}

/** Blocks after everything stored, with a mark where blocks before them are missing. */
export const appended = (
  progress: TradeProgress | null,
  blocks: ReadonlyArray<LinkedBlock>
): ReadonlyArray<TradeBatch> | Contradiction => {
  const [first] = blocks
  if (first !== undefined && progress !== null && first.parentSlot < progress.slot) {
    return contradiction(first, progress.slot)
  }
  return blocks.map(({ batch, parentSlot }, at) => ({
    ...batch,
    afterGap: parentSlot !== (blocks[at - 1]?.batch.slot ?? progress?.slot ?? parentSlot)
  }))
}

/** True when stored trades after these blocks are near enough to get another price from them. */
export const hasLater = (progress: TradeProgress, region: Region, last: BlockPlace): boolean => {
  const second = region._tag === "Gap" ? region.gap.toSecond : progress.readFrom
  // Blocks may be out of order by their times.
  return second * 1000 - last.timeMs <= 3 * TRADED_MS
}

/** True when a store may have no more gaps. */
export const isFull = ({ gaps }: TradeProgress): boolean => gaps.length >= MOST_GAPS
