/** The state of the snapshots of memory, as a source. */
import { Duration } from "effect"
import type { SourceState } from "../../health/SourceMonitor.ts"
import type { SnapshotNotes } from "../tape/TapeControls.ts"

/** Snapshots are late after so many times the pause between two: none is taken while blocks are read again. */
const LATE_AFTER = 3

/** The pace of a process that takes snapshots, and the time from which on it does. */
interface SnapshotPace {
  readonly every: Duration.Duration
  readonly sinceMs: number
}

/** `pace` is null where a process takes none. */
export const snapshotState = (
  { kept, loaded }: SnapshotNotes,
  nowMs: number,
  pace: SnapshotPace | null = null
): SourceState => {
  const newest = kept ?? loaded?.snapshot ?? null
  const dueFromMs = Math.max(newest?.timeMs ?? 0, pace?.sinceMs ?? 0)
  const isLate = pace !== null && nowMs - dueFromMs > LATE_AFTER * Duration.toMillis(pace.every)
  return {
    observedAtMs: newest?.timeMs ?? null,
    status: isLate ? (newest === null ? "unavailable" : "stale") : "known",
    ...(isLate && { reason: "source_stale" as const }),
    ...(newest !== null && { slot: newest.slot }),
    ...(loaded !== null && {
      restoredSlot: loaded.snapshot.slot,
      restoredAgeMs: Math.max(0, loaded.atMs - loaded.snapshot.timeMs)
    })
  }
}
