/** The stretch of missing blocks to read next, and the change to the progress that reading it makes. */
import type { Repair, TradeProgress } from "../store/TradeProgress.ts"
import type { Gaps, MissingBlocks } from "../tape/Gaps.ts"
import type { ReadBack, ReadBackRequest } from "./readBack.ts"

/** The blocks of a gap, or those from before the oldest stored block. */
export type RepairJob =
  | { readonly _tag: "Gap"; readonly gap: MissingBlocks }
  | { readonly _tag: "History"; readonly slot: number; readonly second: number }

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 600_000

/** The pause after so many failed attempts in a row: from one second doubling to ten minutes. */
export const pauseMs = (tries: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 20))

/** True while blocks from after a time, null for none, are still to be read: no chain has one before block 0. */
export const lacksHistory = (
  { firstSlot, readFrom }: Pick<TradeProgress, "firstSlot" | "readFrom">,
  fromMs: number | null
): boolean => fromMs !== null && firstSlot > 0 && readFrom * 1000 > fromMs

/** An attempt is due at its time, and where the clock was set back by more than the pause before it. */
const isGapDue = ({ nextTryAtMs, state, tries }: MissingBlocks, nowMs: number): boolean =>
  state === "open" && (nextTryAtMs <= nowMs || nextTryAtMs - nowMs > pauseMs(tries))

/** The newest gap that is due, else the history when it is; null when there is nothing to read. `fromMs` is null without history. */
export const nextJob = (
  progress: TradeProgress,
  nowMs: number,
  history: { readonly fromMs: number | null; readonly isDue: boolean }
): RepairJob | null => {
  const gap = progress.gaps.findLast((each) => isGapDue(each, nowMs))
  if (gap !== undefined) {
    return { _tag: "Gap", gap }
  }
  const { firstSlot, readFrom } = progress
  return history.isDue && lacksHistory(progress, history.fromMs)
    ? { _tag: "History", slot: firstSlot, second: readFrom }
    : null
}

/** The request for a job. */
export const requestOf = (job: RepairJob, fromMs: number | null, most: number): ReadBackRequest =>
  job._tag === "Gap"
    ? {
        above: { slot: job.gap.toSlot + 1, timeMs: job.gap.toSecond * 1000 },
        fromSlot: job.gap.fromSlot,
        fromMs: 0,
        most
      }
    : { above: { slot: job.slot, timeMs: job.second * 1000 }, fromSlot: 0, fromMs: fromMs ?? 0, most }

/** The part of a gap below the oldest block that was read. */
const rest = (gap: MissingBlocks, { blocks, end }: ReadBack, nowMs: number): Gaps => {
  if (end === "done") {
    return []
  }
  const [oldest] = blocks
  const left =
    oldest === undefined
      ? gap
      : {
          ...gap,
          toSlot: oldest.slot - 1,
          toSecond: Math.max(gap.fromSecond, Math.floor(oldest.timeMs / 1000)),
          tries: 0
        }
  if (left.toSlot < left.fromSlot) {
    return []
  }
  switch (end) {
    case "more":
      return [left]
    case "gone":
      return [{ ...left, state: "unavailable" }]
    case "failed":
      return [{ ...left, tries: left.tries + 1, nextTryAtMs: nowMs + pauseMs(left.tries) }]
  }
}

const delayed = (holes: Gaps, tries: number, nowMs: number): Gaps =>
  holes.map((hole) => ({ ...hole, tries: tries + 1, nextTryAtMs: nowMs + pauseMs(tries) }))

/** The change that reading a stretch makes. */
export const repairOf = (
  job: RepairJob,
  read: ReadBack,
  { batches, repriced }: Pick<Repair, "batches" | "repriced">,
  nowMs: number
): Repair => {
  if (job._tag === "Gap") {
    const { fromSlot, tries } = job.gap
    const left = [...rest(job.gap, read, nowMs), ...delayed(read.holes, tries, nowMs)]
    return { batches, repriced, gap: { fromSlot, left }, first: null, found: [] }
  }
  const [oldest] = batches
  const first = oldest === undefined ? null : { slot: oldest.slot, second: Math.floor(oldest.timeMs / 1000) + 1 }
  return { batches, repriced, gap: null, first, found: delayed(read.holes, 0, nowMs) }
}
