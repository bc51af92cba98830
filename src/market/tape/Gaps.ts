/** Stretches of the chain whose blocks were not read. */

/**
 * Slots that were not read and the seconds that their blocks may have, both ends included; slots that were skipped may be
 * among them. The slot after `toSlot` has a block that was read.
 */
export interface MissingBlocks {
  readonly fromSlot: number
  readonly toSlot: number
  readonly fromSecond: number
  readonly toSecond: number
  /** `unavailable` once the node no longer has the blocks. */
  readonly state: "open" | "unavailable"
  /** Failed attempts to read the blocks again. */
  readonly tries: number
  /** Time before which no attempt is made, in milliseconds since the Unix epoch. */
  readonly nextTryAtMs: number
}

/** Gaps in the order of the chain. None overlaps another. */
export type Gaps = ReadonlyArray<MissingBlocks>

/** More gaps than this are joined, the oldest first. */
export const MOST_GAPS = 1000

/** A block, as far as gaps are concerned. */
export interface BlockPlace {
  readonly slot: number
  readonly timeMs: number
}

/** The seconds of a gap count as missing as a whole: blocks on either side may share them. */
const secondOf = ({ timeMs }: BlockPlace): number => Math.floor(timeMs / 1000)

/** The gap between two blocks; null when no slot is between them. */
export const gapBetween = (before: BlockPlace, after: BlockPlace): MissingBlocks | null =>
  after.slot <= before.slot + 1
    ? null
    : {
        fromSlot: before.slot + 1,
        toSlot: after.slot - 1,
        fromSecond: Math.min(secondOf(before), secondOf(after)),
        toSecond: Math.max(secondOf(before), secondOf(after)),
        state: "open",
        tries: 0,
        nextTryAtMs: 0
      }

const joined = (a: MissingBlocks, b: MissingBlocks): MissingBlocks => ({
  ...b,
  fromSlot: a.fromSlot,
  fromSecond: Math.min(a.fromSecond, b.fromSecond),
  toSecond: Math.max(a.toSecond, b.toSecond)
})

/** The gaps with a newer one; with too many, the two oldest become one with everything between them. */
export const withGap = (gaps: Gaps, found: MissingBlocks | null): Gaps => {
  if (found === null) {
    return gaps
  }
  const all = [...gaps, found]
  const [first, second, ...rest] = all
  return all.length > MOST_GAPS && first !== undefined && second !== undefined ? [joined(first, second), ...rest] : all
}

/** The gaps with the one that begins at this slot replaced by its parts that are still missing. */
export const withoutGap = (gaps: Gaps, fromSlot: number, left: Gaps): Gaps =>
  gaps.flatMap((gap) => (gap.fromSlot === fromSlot ? left : gap)).toSorted((a, b) => a.fromSlot - b.fromSlot)

/** Seconds of `[from, to]` in which a block may be missing. */
export const missingSeconds = (gaps: Gaps, from: number, to: number): number => {
  let sum = 0
  let counted = from
  for (const { fromSecond, toSecond } of gaps) {
    const begin = Math.max(counted, fromSecond)
    const end = Math.min(to, toSecond)
    if (begin <= end) {
      sum += end - begin + 1
      counted = end + 1
    }
  }
  return sum
}
