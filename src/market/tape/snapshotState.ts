/** The state of the snapshots of memory, as a source. */
import { Duration } from "effect"
import type { SourceState } from "../../operations/SourceMonitor.ts"
import type { SnapshotNotes } from "./Tape.ts"

/** A snapshot is late after so many pauses: none is taken while blocks are read again. */
const LATE_AFTER = 3

/** How often a process takes snapshots, and since when. */
interface SnapshotPace {
  readonly every: Duration.Duration
  readonly sinceMs: number
}

/** The state of the snapshots. `pace` is null for a process that takes none. */
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
