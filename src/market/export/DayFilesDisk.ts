/** Files of whole days in a folder, with a bound in bytes. Each is made once, by one thread at a time. */
import { PgClient } from "@effect/sql-pg"
import { Clock, Deferred, Effect, Exit, Layer, Option, Semaphore } from "effect"
import { randomUUID } from "node:crypto"
import { promises as files } from "node:fs"
import { join } from "node:path"
import { countSetting } from "../../domain/countSetting.ts"
import { clickHouseUrl } from "../../storage/clickhouse/ClickHouse.ts"
import { Readings } from "../../operations/Readings.ts"
import { watchUpstream } from "../../operations/SourceMonitor.ts"
import * as Database from "../../storage/Database.ts"
import { type DayFile, DayFiles, type DayRequest, NoDayFile, type NoFileReason } from "./DayFiles.ts"
import { databaseOf, exportInThread } from "./exportThread.ts"
import { gapsWithin, readStoredRange, type StoredRange } from "./storedRange.ts"

const MIB = 2 ** 20
const DAY_MS = 86_400_000
/** How long a request waits for a file that is being made. */
const PATIENCE = "10 seconds"
/** Most files that wait to be made, with the one that is being made. */
const MOST_WAITING = 8
/** A file that could not be made is not tried again for so long. */
const REST_MS = 30_000
/** An unfinished file that was not written to for so long belongs to no process any more. */
const STALE_MS = 3_600_000
/** A revision of a day that was too large is not tried again for so long. */
const TOO_LARGE_MS = 3_600_000
const TOO_LARGE = "The file is larger than EXPORTS_MIB of this service."
/** Room that stays free on the disk for everything else. */
const SPARE_BYTES = 256 * MIB

/** `EXPORTS_MIB` (4096): most bytes of all files of days; 0 makes none. */
export const exportsMib = countSetting("EXPORTS_MIB", 4096, 0)

const refuse = (reason: NoFileReason, detail: string) => Effect.fail(new NoDayFile({ reason, detail }))

/** A kept file. Its name says what it is: subject, revision, gaps, tag and kind. */
interface Kept extends DayFile {
  /** Data set, width, day and kind, without the revision. */
  readonly subject: string
  readonly name: string
  usedAtMs: number
}

const NAME =
  /^(?<subject>[a-z]+(?:-1[mhd])?-\d{4}-\d\d-\d\d\.(?:parquet|csv|ndjson))~[\w-]+~(?<gaps>\d+)~(?<tag>[\w-]{43})$/u

const subjectOf = ({ dataset, day, format, width }: DayRequest): string =>
  `${dataset}${dataset === "bars" ? `-${width}` : ""}-${day}.${format}`

/** Counts the changes of the columns of files. An earlier release may have left files with fewer columns. */
const COLUMNS = 2

/** Repairs change stored rows, another chain has other rows, and a release may add columns. */
const revisionOf = ({ genesis, repairs }: StoredRange): string =>
  `${genesis.replaceAll(/[^\w-]/gu, "_").slice(0, 44)}-${repairs}-${COLUMNS}`

/** Fails unless every block of the day was read, or is known to be lost. */
const checkWhole = ({ day, dataset }: DayRequest, { endMs, gaps, wholeMs }: StoredRange) => {
  const fromMs = Date.parse(day)
  const toMs = fromMs + DAY_MS
  if (toMs <= wholeMs) {
    return refuse(
      "unknown",
      `No ${dataset} of ${day} are stored: the record begins at ${new Date(wholeMs).toISOString()}.`
    )
  }
  if (fromMs < wholeMs) {
    return refuse("unfinished", `${day} is not whole: the record begins at ${new Date(wholeMs).toISOString()}.`)
  }
  if (endMs < toMs) {
    return refuse(
      "unfinished",
      `${day} is not whole yet: ${dataset} are stored up to ${new Date(endMs).toISOString()}.`
    )
  }
  const missing = gapsWithin(gaps, fromMs, toMs)
  const open = missing.filter(({ state }) => state === "open").length
  return open > 0
    ? refuse("unfinished", `${day} is not whole yet: blocks of ${open} gaps are being read again.`)
    : Effect.void
}

/** An unfinished file of any process, which may share the folder and may still write. */
const PART = /^unfinished(?:-\d+-[\da-f-]{36})?(?:\.part)?$/u

/** Handles each file of the folder on its own. Folders in it, such as `lost+found`, are left alone. */
const eachFile = Effect.fnUntraced(function* (folder: string, handle: (name: string, path: string) => Promise<void>) {
  const entries = yield* Effect.tryPromise(() => files.readdir(folder, { withFileTypes: true }))
  for (const { name } of entries.filter((entry) => entry.isFile())) {
    yield* Effect.tryPromise(() => handle(name, join(folder, name))).pipe(
      Effect.catch(({ cause }) => Effect.logWarning(`${name} in the folder of exports cannot be read`, cause))
    )
  }
})

/** Removes what is left of processes that ended while they wrote. */
const removeStale = (folder: string) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    eachFile(folder, async (name, path) => {
      if (PART.test(name) && (await files.stat(path)).mtimeMs < nowMs - STALE_MS) {
        await files.rm(path, { force: true })
      }
    })
  )

/** The files that are in the folder already. */
const readFolder = Effect.fnUntraced(function* (folder: string) {
  const kept = new Map<string, Kept>()
  const read = async (name: string, path: string) => {
    const { subject, gaps, tag } = NAME.exec(name)?.groups ?? {}
    if (subject === undefined || tag === undefined) {
      return
    }
    const { mtimeMs: usedAtMs, size: bytes } = await files.stat(path)
    const key = name.slice(0, name.indexOf("~", subject.length + 1))
    kept.set(key, { path, bytes, tag, gaps: Number(gaps), subject, name, usedAtMs })
  }
  yield* Effect.gen(function* () {
    yield* Effect.tryPromise(() => files.mkdir(folder, { recursive: true, mode: 0o700 }))
    yield* removeStale(folder)
    yield* eachFile(folder, read)
  }).pipe(Effect.catch(({ cause }) => Effect.logWarning("The files of days cannot be read", cause)))
  return kept
})

/** True while the file is as it was made. Another process may have removed it. */
const isThere = ({ bytes, path }: Kept) =>
  Effect.promise(() =>
    files.stat(path).then(
      ({ size }) => size === bytes,
      () => false
    )
  )

const make = Effect.fnUntraced(function* (folder: string, mostBytes: number) {
  const sql = yield* PgClient.PgClient
  const scope = yield* Effect.scope
  const turns = yield* Semaphore.make(1)
  const kept = yield* readFolder(folder)
  const jobs = new Map<string, Deferred.Deferred<DayFile, NoDayFile>>()
  const failures = new Map<string, { readonly detail: string; readonly untilMs: number }>()
  const watched = (yield* watchUpstream("exports"))(({ detail }: NoDayFile) => detail === TOO_LARGE)
  const total = () => kept.values().reduce((sum, { bytes }) => sum + bytes, 0)

  const readings = yield* Readings
  yield* readings.report(
    { name: "fathom_exports_waiting", help: "Files of days that are being made or wait for it.", kind: "gauge" },
    () => jobs.size
  )
  yield* readings.report({ name: "fathom_exports_bytes", help: "Bytes of the files of days.", kind: "gauge" }, total)

  let removed: Promise<unknown> = Promise.resolve()
  const drop = (key: string, { path }: Kept) => {
    kept.delete(key)
    const removal = files.rm(path, { force: true }).catch(() => undefined)
    removed = Promise.all([removed, removal])
  }

  /** Removes the files that were not used for longest until the others leave `bytes` of `most` free. */
  const makeRoom = (bytes: number, most: number) => {
    const oldest = [...kept].toSorted(([, a], [, b]) => a.usedAtMs - b.usedAtMs)
    for (const [key, file] of oldest) {
      if (total() + bytes <= most) {
        break
      }
      drop(key, file)
    }
  }

  const write = Effect.fnUntraced(function* (key: string, request: DayRequest, { genesis }: StoredRange) {
    yield* Effect.promise(() => files.mkdir(folder, { recursive: true, mode: 0o700 }))
    yield* Effect.ignore(removeStale(folder))
    const { bavail, bsize } = yield* Effect.promise(() => files.statfs(folder))
    const subject = subjectOf(request)
    kept.forEach((file, old) => file.subject === subject && drop(old, file))
    const room = Math.min(mostBytes, total() + bavail * bsize - SPARE_BYTES)
    if (room <= 0) {
      return yield* refuse("failed", "The disk of the service is full.")
    }
    const fromMs = Date.parse(request.day)
    const file = join(folder, `unfinished-${process.pid}-${randomUUID()}`)
    const made = yield* exportInThread(
      {
        database: databaseOf(sql.config),
        request: { ...request, file, genesis, fromMs, toMs: fromMs + DAY_MS }
      },
      { mostBytes: room, grown: (bytes) => makeRoom(bytes, room) }
    ).pipe(
      Effect.catch(({ detail, isTooLarge }) =>
        Effect.andThen(
          Effect.logError("A file of a day could not be made", detail),
          isTooLarge && room === mostBytes
            ? refuse("failed", TOO_LARGE)
            : refuse("failed", "The file could not be made.")
        )
      )
    )
    const name = `${key}~${made.gaps}~${made.tag}`
    const path = join(folder, name)
    const { size } = yield* Effect.promise(async () => {
      const whole = await files.stat(file)
      makeRoom(whole.size, room)
      await removed
      await files.rename(file, path)
      return whole
    })
    const usedAtMs = yield* Clock.currentTimeMillis
    const found: Kept = {
      path,
      bytes: size,
      tag: made.tag,
      gaps: made.gaps,
      subject,
      name,
      usedAtMs
    }
    kept.set(key, found)
    return found
  })

  /** Makes a file in the background. Requests that come meanwhile wait for the same work. */
  const start = Effect.fnUntraced(function* (key: string, request: DayRequest, range: StoredRange) {
    const job = yield* Deferred.make<DayFile, NoDayFile>()
    jobs.set(key, job)
    yield* turns.withPermit(watched(write(key, request, range))).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("A file of a day could not be made", defect),
          refuse("failed", "The file could not be made.")
        )
      ),
      Effect.onExit((exit) =>
        Effect.gen(function* () {
          if (Exit.isFailure(exit)) {
            const failed = Option.getOrUndefined(Exit.findErrorOption(exit))
            const detail = failed?.detail === TOO_LARGE ? TOO_LARGE : "The file could not be made a moment ago."
            const restMs = detail === TOO_LARGE ? TOO_LARGE_MS : REST_MS
            failures.set(key, { detail, untilMs: (yield* Clock.currentTimeMillis) + restMs })
          }
          jobs.delete(key)
          yield* Deferred.done(job, exit)
        })
      ),
      Effect.ignore,
      Effect.forkIn(scope)
    )
    return job
  })

  return DayFiles.of({
    find: Effect.fn("market.findDayFile")(function* (request: DayRequest) {
      const range = yield* readStoredRange(sql, { ...request, genesis: null }).pipe(
        Effect.catch((cause) =>
          Effect.andThen(
            Effect.logError("The stored range cannot be read", cause),
            refuse("failed", "The database does not answer.")
          )
        )
      )
      if (range === null) {
        return yield* refuse("unknown", "Nothing is stored.")
      }
      yield* checkWhole(request, range)
      const key = `${subjectOf(request)}~${revisionOf(range)}`
      const nowMs = yield* Clock.currentTimeMillis
      const known = kept.get(key)
      if (known !== undefined) {
        known.usedAtMs = nowMs
        if (yield* isThere(known)) {
          return known
        }
        if (kept.get(key) === known) {
          kept.delete(key)
        }
      }
      failures.forEach(({ untilMs }, failed) => untilMs <= nowMs && failures.delete(failed))
      const failure = failures.get(key)
      if (failure !== undefined) {
        return yield* refuse("failed", failure.detail)
      }
      if (!jobs.has(key) && jobs.size >= MOST_WAITING) {
        return yield* refuse("busy", `${MOST_WAITING} files are being made already.`)
      }
      const job = jobs.get(key) ?? (yield* start(key, request, range))
      const file = yield* Effect.timeoutOption(Deferred.await(job), PATIENCE)
      return Option.isSome(file) ? file.value : yield* refuse("making", "The file is being made.")
    })
  })
})

/** Files in the folder `exports` of `DATA_DIR`. With ClickHouse no trades are in PostgreSQL, and no files are made. */
export const layer = Layer.effect(
  DayFiles,
  Effect.gen(function* () {
    const mib = yield* exportsMib
    const isElsewhere = Option.isSome(yield* clickHouseUrl)
    const folder = join(yield* Database.dataDir, "exports")
    if (mib > 0 && !isElsewhere) {
      return yield* make(folder, mib * MIB)
    }
    const detail = isElsewhere
      ? "Trades of this service are in ClickHouse, which writes files itself."
      : "This service makes no files of days: EXPORTS_MIB is 0."
    return DayFiles.of({ find: () => refuse("off", detail) })
  })
)
