/** `data`: backs the database up, restores and checks a backup. */
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { backUp } from "../../storage/backup/backUp.ts"
import type { BackupSummary } from "../../storage/backup/format.ts"
import { verifyBackup } from "../../storage/backup/readBackup.ts"
import { restore } from "../../storage/backup/restore.ts"
import * as Database from "../../storage/Database.ts"
import { VERSION } from "../version.ts"

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

/** Backs up, restores and verifies. The exit code is 1 when anything is refused. */
export const command = Command.make("data").pipe(
  Command.withDescription("Back up and restore the database"),
  Command.withSubcommands([backup, restored, verify])
)
