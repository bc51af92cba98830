/** Decides which missing blocks to read next, and how reading them changes the progress. */
import type { Repair, TradeProgress } from "../model/TradeProgress.ts"
import type { Gaps, MissingBlocks } from "../model/Gaps.ts"
import type { ReadBack, ReadBackRequest } from "./readBack.ts"

/** A gap to fill, or the blocks before the oldest stored one. */
export type RepairJob =
  | { readonly _tag: "Gap"; readonly gap: MissingBlocks }
  | { readonly _tag: "History"; readonly slot: number; readonly second: number }

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 600_000

/** The pause after so many attempts in a row that read nothing: one second, doubling up to ten minutes. */
export const pauseMs = (tries: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 20))

/** How far back earlier blocks are read: to a time, and not before the chain's first block, which is often block 0. */
export interface HistoryEnd {
  /** Milliseconds since the Unix epoch; null for no history. */
  readonly fromMs: number | null
  readonly firstSlot: number
}

/** True while blocks of the history are still to be read. */
export const lacksHistory = (
  { firstSlot, readFrom }: Pick<TradeProgress, "firstSlot" | "readFrom">,
  end: HistoryEnd
): boolean => end.fromMs !== null && firstSlot > end.firstSlot && readFrom * 1000 > end.fromMs

/** An attempt is due at its time. When the clock was set back by more than the pause, it is due at once. */
const isGapDue = ({ nextTryAtMs, state, tries }: MissingBlocks, nowMs: number): boolean =>
  state === "open" && (nextTryAtMs <= nowMs || nextTryAtMs - nowMs > pauseMs(tries))

/** True for an open gap whose last attempt failed before this time, in milliseconds since the Unix epoch. */
const failedBefore = ({ nextTryAtMs, state, tries }: MissingBlocks, timeMs: number): boolean =>
  state === "open" && tries > 0 && nextTryAtMs - pauseMs(tries - 1) < timeMs

/**
 * What to read next: the newest gap that is due, else the history if it is due; null for nothing. A gap that failed
 * before the node answered again, at `returnedAtMs`, is due at once, and its pauses begin with one second again.
 */
export const nextJob = (
  progress: TradeProgress,
  nowMs: number,
  history: HistoryEnd & { readonly isDue: boolean },
  returnedAtMs: number = Number.NEGATIVE_INFINITY
): RepairJob | null => {
  const gap = progress.gaps.findLast((each) => isGapDue(each, nowMs) || failedBefore(each, returnedAtMs))
  if (gap !== undefined) {
    return { _tag: "Gap", gap: failedBefore(gap, returnedAtMs) ? { ...gap, tries: 0 } : gap }
  }
  const { firstSlot, readFrom } = progress
  return history.isDue && lacksHistory(progress, history)
    ? { _tag: "History", slot: firstSlot, second: readFrom }
    : null
}

export const requestOf = (job: RepairJob, fromMs: number | null, most: number): ReadBackRequest =>
  job._tag === "Gap"
    ? {
        above: { slot: job.gap.toSlot + 1, timeMs: job.gap.toSecond * 1000 },
        fromSlot: job.gap.fromSlot,
        fromMs: 0,
        most
      }
    : { above: { slot: job.slot, timeMs: job.second * 1000 }, fromSlot: 0, fromMs: fromMs ?? 0, most }

/**
 * What is left of a gap, below the oldest block that was read. The pause doubles only when no block was read; otherwise
 * it begins with one second again.
 */
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

/**
 * Holes between blocks that were read. Whatever failed before, this attempt made progress, so each hole begins with the
 * first pause.
 */
const delayed = (holes: Gaps, nowMs: number): Gaps =>
  holes.map((hole) => ({ ...hole, tries: 1, nextTryAtMs: nowMs + pauseMs(0) }))

/** How reading a stretch changes what is stored. */
export const repairOf = (
  job: RepairJob,
  read: ReadBack,
  { batches, repriced }: Pick<Repair, "batches" | "repriced">,
  nowMs: number
): Repair => {
  if (job._tag === "Gap") {
    const left = [...rest(job.gap, read, nowMs), ...delayed(read.holes, nowMs)]
    return { batches, repriced, gap: { fromSlot: job.gap.fromSlot, left }, first: null, found: [] }
  }
  const [oldest] = batches
  const first = oldest === undefined ? null : { slot: oldest.slot, second: Math.floor(oldest.timeMs / 1000) + 1 }
  return { batches, repriced, gap: null, first, found: delayed(read.holes, nowMs) }
}
