/** Logs of entries in order, each once, under names: what all buses have in common. */
import { Clock, Effect, Option, Schema, type Scope, Stream } from "effect"
import { keepTrying } from "../../operations/keepRunning.ts"

/** The log has a later entry than the given one: another process has appended. */
export class AppendRefused extends Schema.TaggedError<AppendRefused>()("AppendRefused", {
  /** Place of the newest entry. */
  newest: Schema.Int
}) {}

/** The bus cannot be reached. It may have taken an entry that was being appended. */
export class BusUnavailable extends Schema.TaggedError<BusUnavailable>()("BusUnavailable", {
  cause: Schema.Defect()
}) {}

/** An entry. Places rise, with holes between them. */
export interface LogEntry<Body = Uint8Array> {
  /** Place of the previous entry; 0 before the first. */
  readonly after: number
  readonly place: number
  readonly body: Body
}

/** An entry as a reader has it. */
export interface ReadEntry<Body = Uint8Array> {
  readonly place: number
  readonly body: Body
  /** True when the log no longer has the entries between this one and the reader's last. */
  readonly isAfterGap: boolean
}

/** Entries that were read together. */
export interface LogPage<Entry> {
  readonly entries: ReadonlyArray<Entry>
  /** True when a full page was read, so that later entries may be there. */
  readonly hasMore: boolean
}

/** Reads the entries after a place. Waits for one, and may return none after a while. */
export type ReadLog<Body = Uint8Array> = (
  name: string,
  after: number
) => Effect.Effect<LogPage<LogEntry<Body>>, BusUnavailable>

/** A log for each name. */
export interface BusLog<Body = Uint8Array> {
  /** Place of the newest entry; null when there is none. */
  readonly newest: (name: string) => Effect.Effect<number | null, BusUnavailable>
  /** Appends an entry. Refused when the log has an entry later than `after`. */
  readonly append: (name: string, entry: LogEntry<Body>) => Effect.Effect<void, AppendRefused | BusUnavailable>
  /** A reader, with its own connection if it needs one. */
  readonly reader: Effect.Effect<ReadLog<Body>, never, Scope.Scope>
  /** Local time of the last answer, in milliseconds since the Unix epoch; null before the first. */
  readonly heardAtMs: () => number | null
}

/** Bounds of a log. The oldest entries are removed beyond either. */
export interface LogBounds {
  readonly keptMs: number
  /** Most bytes of all entries; no bound when left out. */
  readonly mostBytes?: number
}

/** Marks entries, oldest first, that follow others which a reader at this place has missed. */
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

/** Reads the entries after a place: the present ones, then each new one. Emits what `content` takes from each page. */
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

/** The entries after this place, page by page: the present ones, then each new one. */
export const pages = <Body>(
  log: BusLog<Body>,
  name: string,
  after: number
): Stream.Stream<LogPage<ReadEntry<Body>>, BusUnavailable> => readPages(log, name, after, (page) => [page])

const RETRY_EVERY = "250 millis"

/** The same entries one by one. A failed read is repeated until it succeeds. */
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

/** The last entry, and as many entries before it as the bytes allow. */
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

/** Logs of this process. Bodies stay the appended objects. `sizeOf` counts their bytes. */
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
