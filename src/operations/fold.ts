/** Folds repeated warnings and errors: after a few prints they are only counted. */
import { kindOf, type LogRecord } from "./logRecord.ts"

/** How long events of one kind are counted together. */
export const FOLD_MS = 10_000
/** How many events of one kind are printed in that time. */
const PRINTED = 3
/** How many kinds are counted at the same time. Events of further kinds are always printed. */
const MOST_KINDS = 500

interface Kind {
  readonly sinceMs: number
  printed: number
  folded: number
  last: LogRecord
}

/** Counts events by kind. */
export interface Fold {
  /** True when the event should be printed. Otherwise it is counted. */
  readonly admit: (record: LogRecord, nowMs: number) => boolean
  /** Returns the newest event of each kind whose counting time is over, if any were counted. `times` is how many. */
  readonly due: (nowMs: number) => ReadonlyArray<LogRecord>
}

const isFoldable = ({ level }: LogRecord): boolean => level === "WARN" || level === "ERROR"

/** Makes an empty fold. It expects times from a monotonic clock. */
export const makeFold = (): Fold => {
  const kinds = new Map<string, Kind>()
  const admit = (record: LogRecord, nowMs: number): boolean => {
    const name = kindOf(record)
    const kind = kinds.get(name)
    if (!isFoldable(record) || (kind === undefined && kinds.size >= MOST_KINDS)) {
      return true
    }
    if (kind === undefined) {
      kinds.set(name, { sinceMs: nowMs, printed: 1, folded: 0, last: record })
      return true
    }
    if (kind.printed < PRINTED) {
      kind.printed++
      return true
    }
    kind.folded++
    kind.last = record
    return false
  }
  const due = (nowMs: number): ReadonlyArray<LogRecord> =>
    Array.from(kinds).flatMap(([name, { folded, last, sinceMs }]) => {
      if (nowMs - sinceMs < FOLD_MS) {
        return []
      }
      kinds.delete(name)
      return folded === 0 ? [] : [{ ...last, fields: { ...last.fields, times: folded } }]
    })
  return { admit, due }
}
