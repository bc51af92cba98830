import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Readings from "../../src/operations/Readings.ts"
import * as DiskReadings from "../../src/storage/diskReadings.ts"

const HOUR_SECONDS = 3600

/** The numbers at a time by their names, once the folders were looked at. */
const numbersOf = (readings: Readings.Readings, nowMs: number) =>
  new Map(readings.collect(nowMs).map(({ name, samples }) => [name, samples[0]?.value]))

const age = (numbers: ReadonlyMap<string, number | undefined>) => numbers.get("fathom_backup_age_seconds")

const turn = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))

const scene = Effect.fnUntraced(function* (env: (folder: string) => Readonly<Record<string, string>>) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-disk-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  )
  mkdirSync(join(folder, "backups"))
  yield* Layer.build(
    DiskReadings.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: env(folder) }))))
  )
  const readings = yield* Readings.Readings
  const until = (isSeen: (numbers: ReadonlyMap<string, number | undefined>) => boolean, nowMs: number) =>
    TestClock.adjust("15 seconds").pipe(
      Effect.andThen(turn),
      Effect.map(() => numbersOf(readings, nowMs)),
      Effect.repeat({ until: isSeen })
    )
  return { folder, backups: join(folder, "backups"), until }
})

it.effect("the room on the disk of the data is known, and no backup without the folder of backups", () =>
  Effect.gen(function* () {
    const { until } = yield* scene((folder) => ({ DATA_DIR: folder }))
    const numbers = yield* until((seen) => seen.get("fathom_data_disk_free_bytes") !== undefined, 0)
    assert.isAbove(numbers.get("fathom_data_disk_size_bytes") ?? 0, numbers.get("fathom_data_disk_free_bytes") ?? 0)
    assert.isUndefined(numbers.get("fathom_backup_age_seconds"))
  }).pipe(Effect.provide(Readings.layer))
)

it.effect("a backup is as old as the newest whole file, and as the process without any", () =>
  Effect.gen(function* () {
    const { backups, until } = yield* scene((folder) => ({ DATA_DIR: folder, BACKUP_DIR: join(folder, "backups") }))
    const nowMs = 10 * HOUR_SECONDS * 1000
    const write = (name: string, atSeconds: number, text = "x") => {
      writeFileSync(join(backups, name), text)
      utimesSync(join(backups, name), atSeconds, atSeconds)
    }
    yield* until((seen) => age(seen) === 10 * HOUR_SECONDS, nowMs)
    write("old.zst", HOUR_SECONDS)
    write("new.zst", 3 * HOUR_SECONDS)
    write("running.zst.part", 8 * HOUR_SECONDS)
    write("empty.zst", 8 * HOUR_SECONDS, "")
    yield* until((seen) => age(seen) === 7 * HOUR_SECONDS, nowMs)
    // A clock that was set back.
    assert.strictEqual(age(yield* until(() => true, 0)), 0)
    rmSync(backups, { recursive: true })
    yield* until((seen) => age(seen) === undefined, nowMs)
    mkdirSync(backups)
  }).pipe(Effect.provide(Readings.layer))
)
