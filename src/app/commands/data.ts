/**
 * `data`: backs the database up, restores and checks a backup, exports trades and candles, reads recordings, and imports
 * blocks of the past.
 */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { summarizeRecording } from "../../chain/recording/readRecording.ts"
import { recordDir } from "../../chain/recording/recordSettings.ts"
import { backUp } from "../../storage/backup/backUp.ts"
import type { BackupSummary } from "../../storage/backup/format.ts"
import { verifyBackup } from "../../storage/backup/readBackup.ts"
import { restore } from "../../storage/backup/restore.ts"
import * as Database from "../../storage/Database.ts"
import { ExportFailed, formats } from "../../storage/tableFile.ts"
import { VERSION } from "../version.ts"
import { historyCommands } from "./importData.ts"

// Other commands load nothing of the market.
const market = Effect.promise(() => import("../../market/export/exportRows.ts"))

const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one line of JSON at the end instead of text"),
  Flag.withDefault(false)
)
const file = Argument.String("file").pipe(Argument.withDescription("Path of the backup"))

const report = (verb: string, file: string, isJson: boolean, { count, header }: BackupSummary) => {
  const { at, migrations, service, tables } = header
  const last = migrations.at(-1) ?? null
  return Console.log(
    isJson
      ? JSON.stringify({ file, at, service, schema: last, tables: tables.length, rows: count })
      : `${verb} ${file}: ${count} rows in ${tables.length} tables of ${at}, schema ${last}, version ${service}`
  )
}

/** Prints lines of progress, unless the output is for a program. */
const progressOf = (isJson: boolean) => (text: string) => (isJson ? Effect.void : Console.log(text))

const backup = Command.make("backup", { file, json }, ({ file, json }) =>
  Effect.gen(function* () {
    yield* Database.isThere
    const summary = yield* backUp({ file, version: VERSION, progress: progressOf(json) }).pipe(
      Effect.provide(Database.layerAsIs)
    )
    yield* report("Written", file, json, summary)
  })
).pipe(Command.withDescription("Write every table to a new file, beside a running service"))

const restored = Command.make("restore", { file, json }, ({ file, json }) =>
  Effect.gen(function* () {
    // Checked before a server is started for it.
    yield* verifyBackup(file)
    const summary = yield* restore({ file, progress: progressOf(json) }).pipe(Effect.provide(Database.layerAlone))
    yield* report("Restored", file, json, summary)
  })
).pipe(Command.withDescription("Fill an empty DATA_DIR, or the empty database of DATABASE_URL, from a file"))

const verify = Command.make("verify", { file, json }, ({ file, json }) =>
  Effect.flatMap(verifyBackup(file), (summary) => report("Whole:", file, json, summary))
).pipe(Command.withDescription("Check that a file is whole and unaltered, without a database"))

/** A moment in ISO 8601, or in seconds since the Unix epoch. */
const momentOf = (name: string, text: Option.Option<string>): Effect.Effect<number | null, ExportFailed> => {
  if (Option.isNone(text)) {
    return Effect.succeed(null)
  }
  const ms = /^\d{1,11}$/u.test(text.value) ? Number(text.value) * 1000 : Date.parse(text.value)
  return Number.isNaN(ms)
    ? Effect.fail(new ExportFailed({ detail: `--${name}: ${text.value} is neither a date nor seconds since 1970` }))
    : Effect.succeed(ms)
}

const exported = Command.make(
  "export",
  {
    dataset: Argument.Literals("dataset", ["trades", "wallets", "holders", "bars"]).pipe(
      Argument.withDescription(
        "trades: pool swaps. wallets: net trades and transfers. holders: what these wallets held. bars: closed candles"
      )
    ),
    file: Argument.String("file").pipe(Argument.withDescription("Path of the new file")),
    format: Flag.Literals("format", formats).pipe(
      Flag.withDescription("Kind of the file"),
      Flag.withDefault("parquet" as const)
    ),
    from: Flag.String("from").pipe(Flag.withDescription("First moment, ISO 8601 or Unix seconds"), Flag.optional),
    to: Flag.String("to").pipe(Flag.withDescription("First moment after the range"), Flag.optional),
    width: Flag.Literals("width", ["1m", "1h", "1d"]).pipe(
      Flag.withDescription("Width of candles"),
      Flag.withDefault("1m" as const)
    ),
    genesis: Flag.String("genesis").pipe(
      Flag.withDescription("Genesis hash of the chain; by default the chain written last"),
      Flag.optional
    ),
    json
  },
  ({ file, from, genesis, json, to, ...request }) =>
    Effect.gen(function* () {
      const [fromMs, toMs] = [yield* momentOf("from", from), yield* momentOf("to", to)]
      yield* Database.isThere
      const { exportRows } = yield* market
      const summary = yield* exportRows({
        ...request,
        file,
        fromMs,
        toMs,
        genesis: Option.getOrNull(genesis)
      }).pipe(Effect.provide(Database.layerAsIs))
      const [first, last] = [summary.fromMs, summary.toMs].map((ms) => new Date(ms).toISOString())
      const missing = summary.isWhole
        ? "Every block of the range was read."
        : `Not every block of the range was read: ${summary.gaps.length} gaps, and stored is what lies between these times.`
      yield* Console.log(
        json
          ? JSON.stringify({ file, ...summary })
          : `Written ${file}: ${summary.rows} rows from ${first} to ${last}. ${missing}`
      )
    })
).pipe(Command.withDescription("Write stored trades, holders or candles to a Parquet, CSV or NDJSON file"))

const KIB = 1024

/** Size for reading. */
const sizeText = (bytes: number): string =>
  bytes < KIB * KIB ? `${(bytes / KIB).toFixed(1)} KiB` : `${(bytes / KIB / KIB).toFixed(1)} MiB`

const recording = Command.make(
  "recording",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("Folder of the recording; by default RECORD_DIR"),
      Argument.optional
    ),
    json
  },
  ({ folder, json }) =>
    Effect.gen(function* () {
      const path = Option.isSome(folder) ? folder.value : yield* recordDir
      const summary = yield* summarizeRecording(path)
      const { accountBytes, accounts, blockBytes, blocks, bytes, covered, files, gaps, torn, writes } = summary
      const slots = covered.reduce((sum, { from, to }) => sum + to - from + 1, 0)
      const share = (part: number, count: number) => (count === 0 ? "unknown" : sizeText(part / count))
      const lines = [
        `${path}: ${files} files, ${sizeText(bytes)}, ${accounts} accounts, ${writes} writes, ${blocks} blocks`,
        `Slots with the state of every followed account: ${covered.map(({ from, to }) => `${from} to ${to}`).join(", ") || "none"}`,
        `The accounts of a slot take ${share(accountBytes, slots)}, a block takes ${share(blockBytes, blocks)}`,
        ...(gaps > 0 ? [`Blocks are missing in ${gaps} places`] : []),
        ...(torn > 0 ? [`${torn} files end in the middle of an entry and are read up to it`] : [])
      ]
      yield* Console.log(json ? JSON.stringify({ folder: path, slots, ...summary }) : lines.join("\n"))
    })
).pipe(Command.withDescription("Say which slots a recording covers and what a slot takes"))

/** Backs up, restores, verifies and exports. The exit code is 1 when anything is refused. */
export const command = Command.make("data").pipe(
  Command.withDescription("Back up and restore the database, import and export trades, and look at recordings"),
  Command.withSubcommands([backup, restored, verify, exported, recording, ...historyCommands])
)
