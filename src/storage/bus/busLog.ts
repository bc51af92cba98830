/** Named logs. Each is a sequence of entries in order. All buses are built on it. */
import { Clock, Effect, Option, Schema, type Scope, Stream } from "effect"
import { keepTrying } from "../../operations/keepRunning.ts"

/** The log already has an entry after the given one, because another process has appended. */
export class AppendRefused extends Schema.TaggedError<AppendRefused>()("AppendRefused", {
  newest: Schema.Int
}) {}

/** The bus cannot be reached. An entry that was being appended may or may not be on it. */
export class BusUnavailable extends Schema.TaggedError<BusUnavailable>()("BusUnavailable", {
  cause: Schema.Defect()
}) {}

/** An entry. Places increase, but not always by one. */
export interface LogEntry<Body = Uint8Array> {
  /** Place of the previous entry; 0 before the first. */
  readonly after: number
  readonly place: number
  readonly body: Body
}

/** An entry as a reader gets it. */
export interface ReadEntry<Body = Uint8Array> {
  readonly place: number
  readonly body: Body
  /**
   * True when entries are missing: the log no longer has some entries between the reader's previous one and this one.
   */
  readonly isAfterGap: boolean
}

/** Entries of one read. */
export interface LogPage<Entry> {
  readonly entries: ReadonlyArray<Entry>
  /** True when the page was full, so more entries may follow. */
  readonly hasMore: boolean
}

/** Reads the entries after a place. Waits when there is none, and returns an empty list after a while. */
export type ReadLog<Body = Uint8Array> = (
  name: string,
  after: number
) => Effect.Effect<LogPage<LogEntry<Body>>, BusUnavailable>

/** Separate logs by name. */
export interface BusLog<Body = Uint8Array> {
  /** Place of the newest entry; null when the log is empty. */
  readonly newest: (name: string) => Effect.Effect<number | null, BusUnavailable>
  /** Appends an entry. Refused when the log has an entry later than `after`. */
  readonly append: (name: string, entry: LogEntry<Body>) => Effect.Effect<void, AppendRefused | BusUnavailable>
  /** Makes a reader. It has its own connection if it needs one. */
  readonly reader: Effect.Effect<ReadLog<Body>, never, Scope.Scope>
  /**
   * When the log last answered, by the local clock, in milliseconds since the Unix epoch; null before the first
   * answer.
   */
  readonly heardAtMs: () => number | null
}

/** Bounds of a log. The oldest entries are removed when either bound is exceeded. */
export interface LogBounds {
  readonly keptMs: number
  /** How many bytes all entries may take; unlimited when left out. */
  readonly mostBytes?: number
}

/** Takes entries, oldest first, and marks each that follows entries which a reader at this place has missed. */
const entriesFrom = <Body>(
  position: number,
  found: ReadonlyArray<LogEntry<Body>>
): readonly [position: number, entries: ReadonlyArray<ReadEntry<Body>>] => {
  let last = position
  const entries = found.map(({ after, body, place }) => {
    const isAfterGap = last > 0 && after > last
    last = place
    return { place, body, isAfterGap }
  })
  return [last, entries]
}

/**
 * Reads the entries after a place: first those that are there, then each new one. Emits what `content` returns for
 * each page.
 */
const readPages = <Body, A>(
  { reader }: BusLog<Body>,
  name: string,
  after: number,
  content: (page: LogPage<ReadEntry<Body>>) => ReadonlyArray<A>
): Stream.Stream<A, BusUnavailable> =>
  Stream.unwrap(
    Effect.map(reader, (read) =>
      Stream.paginate(after, (position) =>
        Effect.map(read(name, position), ({ entries: found, hasMore }) => {
          const [last, entries] = entriesFrom(position, found)
          return [content({ entries, hasMore }), Option.some(last)] as const
        })
      )
    )
  )

/** Pages of the entries after this place: first those that are there, then each new one. */
export const pages = <Body>(
  log: BusLog<Body>,
  name: string,
  after: number
): Stream.Stream<LogPage<ReadEntry<Body>>, BusUnavailable> => readPages(log, name, after, (page) => [page])

const RETRY_EVERY = "250 millis"

/** Like `pages`, but entry by entry. A failed read is repeated until it succeeds. */
export const entriesAfter = <Body>(log: BusLog<Body>, name: string, after: number): Stream.Stream<ReadEntry<Body>> => {
  const patient: BusLog<Body> = {
    ...log,
    // A read changes nothing, so it is repeated after any failure.
    reader: Effect.map(
      log.reader,
      (read) => (name, after) => keepTrying("Reading the bus", { every: RETRY_EVERY })(read(name, after))
    )
  }
  return Stream.orDie(readPages(patient, name, after, ({ entries }) => entries))
}

/** An entry in memory. */
interface KeptEntry<Body> extends LogEntry<Body> {
  readonly atMs: number
}

/** Keeps the last entry, and as many entries before it as fit into the bytes. */
const within = <Body>(
  entries: ReadonlyArray<KeptEntry<Body>>,
  mostBytes: number,
  sizeOf: (body: Body) => number
): ReadonlyArray<KeptEntry<Body>> => {
  let bytes = 0
  const tooOld = entries.findLastIndex(({ body }, place) => {
    bytes += sizeOf(body)
    return bytes > mostBytes && place < entries.length - 1
  })
  return entries.slice(tooOld + 1)
}

/** Logs inside this process. Bodies are the objects that were appended. `sizeOf` counts their bytes. */
export const makeMemoryLog = <Body>(
  { keptMs, mostBytes = Infinity }: LogBounds,
  sizeOf: (body: Body) => number = () => 0
): BusLog<Body> => {
  const logs = new Map<string, ReadonlyArray<KeptEntry<Body>>>()
  const waiting = new Set<() => void>()
  const heard: { atMs: number | null } = { atMs: null }
  const entriesOf = (name: string) => logs.get(name) ?? []

  const arrival = Effect.callback<void>((resume) => {
    const wake = () => resume(Effect.void)
    waiting.add(wake)
    return Effect.sync(() => waiting.delete(wake))
  })
  const next = (name: string, after: number): Effect.Effect<ReadonlyArray<KeptEntry<Body>>> =>
    Effect.suspend(() => {
      const found = entriesOf(name).filter(({ place }) => place > after)
      return found.length > 0 ? Effect.succeed(found) : Effect.andThen(arrival, next(name, after))
    })

  return {
    newest: (name) => Effect.sync(() => entriesOf(name).at(-1)?.place ?? null),
    append: Effect.fnUntraced(function* (name: string, entry: LogEntry<Body>) {
      const atMs = yield* Clock.currentTimeMillis
      heard.atMs = atMs
      const entries = entriesOf(name)
      const newest = entries.at(-1)?.place ?? 0
      if (newest > entry.after) {
        return yield* new AppendRefused({ newest })
      }
      const kept = [...entries.filter((each) => each.atMs >= atMs - keptMs), { ...entry, atMs }]
      logs.set(name, within(kept, mostBytes, sizeOf))
      const woken = Array.from(waiting)
      waiting.clear()
      woken.forEach((wake) => wake())
    }),
    reader: Effect.succeed((name, after) => Effect.map(next(name, after), (entries) => ({ entries, hasMore: false }))),
    heardAtMs: () => heard.atMs
  }
}
