/** Logs of entries in order, each once, under names: the part that every bus has. */
import { Clock, Effect, Option, Schedule, Schema, type Scope, Stream } from "effect"

/** A later entry than the one given is in the log: another process has appended. */
export class AppendRefused extends Schema.TaggedError<AppendRefused>()("AppendRefused", {
  /** Place of the newest entry. */
  newest: Schema.Int
}) {}

/** The bus cannot be reached. An entry that was being appended may be on it all the same. */
export class BusUnavailable extends Schema.TaggedError<BusUnavailable>()("BusUnavailable", {
  cause: Schema.Defect()
}) {}

/** An entry. Places rise, with holes between them. */
export interface LogEntry {
  /** Place of the entry before it; 0 before the first. */
  readonly after: number
  readonly place: number
  readonly bytes: Uint8Array
}

/** An entry as a reader has it. */
export interface ReadEntry {
  readonly place: number
  readonly bytes: Uint8Array
  /** True when entries between this one and the last that the reader has are not in the log any more. */
  readonly isAfterGap: boolean
}

/** Entries that were read at once. */
export interface LogPage<Entry> {
  readonly entries: ReadonlyArray<Entry>
  /** True when as many were there as are read at once, so that later ones may be there too. */
  readonly hasMore: boolean
}

/** Reads the entries after a place: waits for one, and may return none after a while. */
export type ReadLog = (name: string, after: number) => Effect.Effect<LogPage<LogEntry>, BusUnavailable>

/** A log for each name. */
export interface BusLog {
  /** Place of the newest entry; null when there is none. */
  readonly newest: (name: string) => Effect.Effect<number | null, BusUnavailable>
  /** Appends an entry; refused when an entry later than `after` is there. */
  readonly append: (name: string, entry: LogEntry) => Effect.Effect<void, AppendRefused | BusUnavailable>
  /** A reader, with a connection of its own where it needs one. */
  readonly reader: Effect.Effect<ReadLog, never, Scope.Scope>
  /** Local time of the last answer, in milliseconds since the Unix epoch; null before the first. */
  readonly heardAtMs: () => number | null
}

/** Bounds of a log: the oldest entries are removed beyond either. */
export interface LogBounds {
  readonly keptMs: number
  /** Bytes of all entries; absent for no bound. */
  readonly mostBytes?: number
}

/** Marks the entries, oldest first, that follow others which a reader at this place does not have. */
const entriesFrom = (
  position: number,
  found: ReadonlyArray<LogEntry>
): readonly [position: number, entries: ReadonlyArray<ReadEntry>] => {
  let last = position
  const entries = found.map(({ after, bytes, place }) => {
    const isAfterGap = last > 0 && after > last
    last = place
    return { place, bytes, isAfterGap }
  })
  return [last, entries]
}

/** The entries after this place, page by page, those that are there and then each new one. */
export const pages = (
  { reader }: BusLog,
  name: string,
  after: number
): Stream.Stream<LogPage<ReadEntry>, BusUnavailable> =>
  Stream.unwrap(
    Effect.map(reader, (read) =>
      Stream.paginate(after, (position) =>
        Effect.map(read(name, position), ({ entries: found, hasMore }) => {
          const [last, entries] = entriesFrom(position, found)
          return [[{ entries, hasMore }], Option.some(last)] as const
        })
      )
    )
  )

const RETRY_EVERY = "250 millis"

/** The same entries one by one; a read that fails is repeated until it succeeds. */
export const entriesAfter = (log: BusLog, name: string, after: number): Stream.Stream<ReadEntry> => {
  const patient: BusLog = {
    ...log,
    // A read is repeated, whatever became of it: it changes nothing.
    reader: Effect.map(
      log.reader,
      (read) => (name, after) => Effect.orDie(Effect.retry(read(name, after), Schedule.spaced(RETRY_EVERY)))
    )
  }
  return pages(patient, name, after).pipe(
    Stream.orDie,
    Stream.flatMap(({ entries }) => Stream.fromIterable(entries))
  )
}

/** An entry in memory. */
interface KeptEntry extends LogEntry {
  readonly atMs: number
}

/** The newest entries of those that are kept: the last one always, and the others within the bytes. */
const within = (entries: ReadonlyArray<KeptEntry>, mostBytes: number): ReadonlyArray<KeptEntry> => {
  let from = entries.length
  for (let bytes = 0; from > 0; from--) {
    bytes += entries[from - 1]?.bytes.length ?? 0
    if (bytes > mostBytes && from < entries.length) {
      break
    }
  }
  return entries.slice(from)
}

/** Logs of this process. */
export const makeMemoryLog = ({ keptMs, mostBytes = Infinity }: LogBounds): BusLog => {
  const logs = new Map<string, ReadonlyArray<KeptEntry>>()
  const waiting = new Set<() => void>()
  const heard: { atMs: number | null } = { atMs: null }
  const entriesOf = (name: string) => logs.get(name) ?? []

  const arrival = Effect.callback<void>((resume) => {
    const wake = () => resume(Effect.void)
    waiting.add(wake)
    return Effect.sync(() => waiting.delete(wake))
  })
  const next = (name: string, after: number): Effect.Effect<ReadonlyArray<KeptEntry>> =>
    Effect.suspend(() => {
      const found = entriesOf(name).filter(({ place }) => place > after)
      return found.length > 0 ? Effect.succeed(found) : Effect.andThen(arrival, next(name, after))
    })

  return {
    newest: (name) => Effect.sync(() => entriesOf(name).at(-1)?.place ?? null),
    append: Effect.fnUntraced(function* (name: string, entry: LogEntry) {
      const atMs = yield* Clock.currentTimeMillis
      heard.atMs = atMs
      const entries = entriesOf(name)
      const newest = entries.at(-1)?.place ?? 0
      if (newest > entry.after) {
        return yield* new AppendRefused({ newest })
      }
      const kept = [...entries.filter((each) => each.atMs >= atMs - keptMs), { ...entry, atMs }]
      logs.set(name, within(kept, mostBytes))
      const woken = Array.from(waiting)
      waiting.clear()
      woken.forEach((wake) => wake())
    }),
    reader: Effect.succeed((name, after) => Effect.map(next(name, after), (entries) => ({ entries, hasMore: false }))),
    heardAtMs: () => heard.atMs
  }
}
