/** Numbers of the folders that a process depends on: the room on the disk of its data, and the age of the last backup. */
import { Clock, Config, Effect, Layer, Option } from "effect"
import { promises as files } from "node:fs"
import { join } from "node:path"
import { monotonicMs } from "../domain/loopTime.ts"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import { Readings } from "../operations/Readings.ts"
import { dataDir } from "./Database.ts"

/** `BACKUP_DIR`: the folder that backups are written to, by whatever program. */
export const backupDir = Config.option(Config.String("BACKUP_DIR"))

/** How often the disk is looked at. A disk that does not answer holds up nothing but the next look. */
const LOOKED_AT_EVERY = "15 seconds"
/** What was seen counts for so long, in milliseconds: a look may never end. */
const SEEN_FOR_MS = 60_000

interface Seen {
  disk: { readonly free: number; readonly size: number } | null
  /** Milliseconds since the Unix epoch; zero without any file. */
  backedUpAtMs: number | null
  /** When the last look ended, by the monotonic clock in milliseconds. */
  lookedAtMs: number
}

const room = (folder: string) =>
  Effect.map(
    Effect.tryPromise(() => files.statfs(folder)),
    ({ bavail, blocks, bsize }) => ({ free: bavail * bsize, size: blocks * bsize })
  )

/** When the newest whole file of a folder was written, in milliseconds since the Unix epoch; null without a file. */
const newestFile = (folder: string) =>
  Effect.tryPromise(async () => {
    const names = (await files.readdir(folder)).filter((name) => !name.endsWith(".part"))
    const stats = await Promise.all(names.map((name) => files.stat(join(folder, name))))
    const times = stats.flatMap((each) => (each.isFile() && each.size > 0 ? [each.mtimeMs] : []))
    return times.length === 0 ? null : Math.max(...times)
  })

/**
 * Reports until the scope closes. Numbers are absent while the folder cannot be read. Without any backup the age counts
 * from the start of this process.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const readings = yield* Readings
    const folder = yield* dataDir
    const backups = yield* backupDir
    const begunAtMs = yield* Clock.currentTimeMillis
    const clock = yield* Clock.Clock
    const last: Seen = { disk: null, backedUpAtMs: null, lookedAtMs: Number.NEGATIVE_INFINITY }
    const seen = () => (monotonicMs(clock) - last.lookedAtMs < SEEN_FOR_MS ? last : null)
    const look = Effect.gen(function* () {
      last.disk = Option.getOrNull(yield* Effect.option(room(folder)))
      if (Option.isSome(backups)) {
        const newest = yield* Effect.option(newestFile(backups.value))
        last.backedUpAtMs = Option.isSome(newest) ? (newest.value ?? begunAtMs) : null
      }
      last.lookedAtMs = monotonicMs(clock)
    })
    yield* readings.report(
      { name: "fathom_data_disk_free_bytes", help: "Room on the disk of DATA_DIR for this user.", kind: "gauge" },
      () => seen()?.disk?.free ?? null
    )
    yield* readings.report(
      { name: "fathom_data_disk_size_bytes", help: "Size of the disk of DATA_DIR.", kind: "gauge" },
      () => seen()?.disk?.size ?? null
    )
    yield* readings.report(
      {
        name: "fathom_backup_age_seconds",
        help: "Time since the newest file in BACKUP_DIR was written, or since the start without any; absent without the setting.",
        kind: "gauge"
      },
      (nowMs) => {
        const backedUpAtMs = seen()?.backedUpAtMs ?? null
        return backedUpAtMs === null ? null : Math.max(0, nowMs - backedUpAtMs) / 1000
      }
    )
    yield* look.pipe(
      keepGoing("Looking at the disk"),
      Effect.andThen(Effect.sleep(LOOKED_AT_EVERY)),
      Effect.forever,
      keepRunning("Looking at the disk"),
      Effect.forkScoped({ startImmediately: true })
    )
  })
)
