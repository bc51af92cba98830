/** Stretches of the chain whose blocks were not read. */

/**
 * Slots that were not read, and the seconds that their blocks may have; both ends are included. Some of the slots may
 * have been skipped by the chain. The block in the slot after `toSlot` was read.
 */
export interface MissingBlocks {
  readonly fromSlot: number
  readonly toSlot: number
  readonly fromSecond: number
  readonly toSecond: number
  /** `unavailable` once the node no longer has the blocks. */
  readonly state: "open" | "unavailable"
  /** Failed attempts in a row. An attempt that read any of the blocks ends the row: what it left counts from 1. */
  readonly tries: number
  /** No attempt is made before this time, in milliseconds since the Unix epoch. */
  readonly nextTryAtMs: number
}

/** Gaps in the order of the chain. No gap overlaps another. */
export type Gaps = ReadonlyArray<MissingBlocks>

/** Above this number of gaps, the two oldest are joined. */
export const MOST_GAPS = 1000

/** The slot and time of a block. */
export interface BlockPlace {
  readonly slot: number
  readonly timeMs: number
}

/** The whole second counts as missing, because the blocks on either side may share it. */
const secondOf = ({ timeMs }: BlockPlace): number => Math.floor(timeMs / 1000)

/** The gap between two blocks; null when no slot lies between them. */
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

/** What the block in `slot` reported: earlier blocks from the slot `from` on are of another fork. */
export interface ForkReport {
  readonly slot: number
  readonly from: number
}

/** What a block says about earlier blocks of another fork. */
export interface ForkReports {
  /** The first slot of another fork, which this block reports. */
  readonly forkedFrom?: number | undefined
  /** The newest reports of earlier blocks, oldest first, for readers that have lost those blocks. */
  readonly earlierForks?: ReadonlyArray<ForkReport> | undefined
}

/** Above this number of reports, the oldest are joined. */
const MOST_REPORTS = 16

/** Joins the oldest reports when there are too many. */
const newestReports = (all: ReadonlyArray<ForkReport>): ReadonlyArray<ForkReport> => {
  const oldest = all.slice(0, Math.max(1, all.length - MOST_REPORTS + 1))
  const newest = oldest.at(-1)
  return newest === undefined
    ? []
    : [{ slot: newest.slot, from: Math.min(...oldest.map(({ from }) => from)) }, ...all.slice(oldest.length)]
}

/** The reports that a later block repeats: those that this block repeats, and its own. */
export const reportsAfter = ({
  earlierForks = [],
  forkedFrom,
  slot
}: ForkReports & { readonly slot: number }): ReadonlyArray<ForkReport> =>
  newestReports(forkedFrom === undefined ? earlierForks : [...earlierForks, { slot, from: forkedFrom }])

/**
 * The block with the reports of earlier blocks that it does not repeat yet. A block that was read again without its own
 * report gets it back.
 */
export const withReports = <B extends ForkReports & { readonly slot: number; readonly afterGap?: boolean }>(
  block: B,
  reports: ReadonlyArray<ForkReport>
): B => {
  const { earlierForks = [], forkedFrom = Number.POSITIVE_INFINITY, slot } = block
  const [oldest = slot] = earlierForks.map((report) => report.slot)
  const added = reports.filter((report) => report.slot < oldest)
  const own = reports.filter((report) => report.slot === slot).map(({ from }) => from)
  return {
    ...block,
    ...(added.length > 0 && { earlierForks: [...added, ...earlierForks] }),
    ...(own.length > 0 && { afterGap: true, forkedFrom: Math.min(forkedFrom, ...own) })
  }
}

/** The reports of the blocks that a process has read, from its feed or from a bus. */
export class ForkLog {
  #reports: ReadonlyArray<ForkReport> = []

  /** Notes what a block reports and repeats. Blocks may come in any order, and more than once. */
  note(block: ForkReports & { readonly slot: number }): void {
    const added = reportsAfter(block).filter(
      ({ from, slot }) => !this.#reports.some((known) => known.slot >= slot && known.from <= from)
    )
    if (added.length > 0) {
      this.#reports = newestReports([...this.#reports, ...added].toSorted((a, b) => a.slot - b.slot))
    }
  }

  /**
   * Adds the noted reports to a block. If one of them is of a slot after `last`, no appended block has told of it yet, so
   * the block also has a gap before it.
   */
  told<B extends ForkReports & { readonly slot: number; readonly afterGap: boolean }>(block: B, last: number): B {
    const isNew = this.#reports.some(({ slot }) => slot > last && slot <= block.slot)
    return withReports(isNew ? { ...block, afterGap: true } : block, this.#reports)
  }
}

/** The first slot of another fork for a reader whose newest block is `last`; infinite when it has no such block. */
export const forkedSince = ({ earlierForks = [], forkedFrom }: ForkReports, last: { readonly slot: number }): number =>
  earlierForks.reduce(
    (lowest, { from, slot }) => (slot > last.slot ? Math.min(lowest, from) : lowest),
    forkedFrom ?? Number.POSITIVE_INFINITY
  )

/** The seconds that a slot may take, for gaps whose first time is not known. Most slots take 0.4 s. */
const SLOT_SECONDS = 1

/** The first second that blocks of another fork may have, from this slot up to the last block. */
const forkedSecond = (last: BlockPlace, forkedFrom: number): number =>
  secondOf(last) - SLOT_SECONDS * (last.slot - forkedFrom + 1)

/**
 * When the gap between the last block and the next one begins, in milliseconds: with the last block, or earlier if it
 * is of another fork.
 */
export const gapStartMs = (last: BlockPlace, next: ForkReports): number => {
  const forkedFrom = forkedSince(next, last)
  return forkedFrom > last.slot ? last.timeMs : 1000 * forkedSecond(last, forkedFrom)
}

/**
 * Adds the gaps before a block: the blocks that were not read, and earlier blocks of another fork. The store keeps the
 * trades of the fork, so reading the right blocks again would not end that gap, and it is `unavailable` from the start.
 */
export const withGapsBefore = (gaps: Gaps, last: BlockPlace, next: BlockPlace & ForkReports): Gaps => {
  const forkedFrom = forkedSince(next, last)
  const gap = gapBetween(last, next)
  if (forkedFrom > last.slot) {
    return withGap(gaps, gap)
  }
  const forked: MissingBlocks = {
    fromSlot: forkedFrom,
    toSlot: last.slot,
    fromSecond: forkedSecond(last, forkedFrom),
    toSecond: Math.max(secondOf(last), secondOf(next)),
    state: "unavailable",
    tries: 0,
    nextTryAtMs: 0
  }
  const earlier = gaps.flatMap((each) =>
    each.fromSlot >= forkedFrom ? [] : [each.toSlot < forkedFrom ? each : { ...each, toSlot: forkedFrom - 1 }]
  )
  return withGap(withGap(earlier, forked), gap)
}

const joined = (a: MissingBlocks, b: MissingBlocks): MissingBlocks => ({
  ...b,
  fromSlot: a.fromSlot,
  fromSecond: Math.min(a.fromSecond, b.fromSecond),
  toSecond: Math.max(a.toSecond, b.toSecond)
})

/** Adds a newer gap. With too many gaps the two oldest become one, together with everything between them. */
export const withGap = (gaps: Gaps, found: MissingBlocks | null): Gaps => {
  if (found === null) {
    return gaps
  }
  const all = [...gaps, found]
  const [first, second, ...rest] = all
  return all.length > MOST_GAPS && first !== undefined && second !== undefined ? [joined(first, second), ...rest] : all
}

/** Replaces the gap that begins at `fromSlot` with the parts of it that are still missing. */
export const withoutGap = (gaps: Gaps, fromSlot: number, left: Gaps): Gaps =>
  gaps.flatMap((gap) => (gap.fromSlot === fromSlot ? left : gap)).toSorted((a, b) => a.fromSlot - b.fromSlot)

const meets = (a: MissingBlocks, b: MissingBlocks): boolean => a.fromSlot <= b.toSlot && b.fromSlot <= a.toSlot

/** True when one of the gaps contains this one and has its state. */
const contains = (gaps: Gaps, { fromSlot, state, toSlot }: MissingBlocks): boolean =>
  gaps.some((gap) => gap.fromSlot <= fromSlot && gap.toSlot >= toSlot && gap.state === state)

/** Adds gaps that may overlap with those that are known. Overlapping gaps become one, which is open when one of them is. */
export const withGaps = (gaps: Gaps, found: Gaps): Gaps => {
  const fresh = found.filter((gap) => !contains(gaps, gap))
  if (fresh.length === 0) {
    return gaps
  }
  const all: Array<MissingBlocks> = []
  for (const gap of [...gaps, ...fresh].toSorted((a, b) => a.fromSlot - b.fromSlot)) {
    const last = all.at(-1)
    if (last === undefined || !meets(last, gap)) {
      all.push(gap)
    } else {
      const state = last.state === "open" ? "open" : gap.state
      all[all.length - 1] = { ...joined(last, gap), toSlot: Math.max(last.toSlot, gap.toSlot), state }
    }
  }
  return all
}

/** The number of seconds in `[from, to]` in which a block may be missing. */
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
