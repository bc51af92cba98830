/** The state of the snapshots of memory, as a source. */
import { Duration } from "effect"
import type { SourceState } from "../../health/SourceMonitor.ts"
import type { SnapshotNotes } from "../tape/TapeControls.ts"

/** A snapshot counts as stale after so many times the pause between two: none is taken while blocks are read again. */
const STALE_AFTER = 3

/** `every` is the time from one snapshot to the next where this process takes them. */
export const snapshotState = (
  { kept, loaded }: SnapshotNotes,
  nowMs: number,
  every: Duration.Duration | null = null
): SourceState => {
  const newest = kept ?? loaded?.snapshot ?? null
  const isStale = newest !== null && every !== null && nowMs - newest.timeMs > STALE_AFTER * Duration.toMillis(every)
  return {
    observedAtMs: newest?.timeMs ?? null,
    status: newest === null ? "unavailable" : isStale ? "stale" : "known",
    ...(newest === null ? { reason: "not_captured" as const } : { slot: newest.slot }),
    ...(loaded !== null && {
      restoredSlot: loaded.snapshot.slot,
      restoredAgeMs: Math.max(0, loaded.atMs - loaded.snapshot.timeMs)
    })
  }
}
