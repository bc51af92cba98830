/** Backs up the database as of one moment, while services may be running. */
import { DateTime, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { appliedMigrations, refuseUnconverted } from "../schema.ts"
import { transaction } from "../transaction.ts"
import {
  BackupFailed,
  type BackupSummary,
  type Catalogue,
  FORMAT_VERSION,
  type Header,
  type Progress
} from "./format.ts"
import { exactText, readCatalogue } from "./readCatalogue.ts"
import { writeLines } from "./writeLines.ts"

/** Rows per fetch. */
const FETCHED = 1000
/** About how many characters of rows go into one line. */
const LINE_CHARACTERS = 2 ** 20
/** Rows between two progress messages. */
const REPORTED = 500_000

const decodeTexts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ row: Schema.String })))

/** Groups rows so that each group is about one line long. */
const grouped = (rows: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const groups: Array<Array<string>> = []
  let size = LINE_CHARACTERS
  for (const row of rows) {
    if (size >= LINE_CHARACTERS) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(row)
    size += row.length
  }
  return groups
}

/** The tables to read: the partitions that have rows, or the table itself. */
const leavesOf = ({ partitions }: Catalogue, table: string): ReadonlyArray<string> => {
  const own = partitions.filter(({ root }) => root === table)
  return own.length === 0 ? [table] : own.filter(({ key }) => key === null).map(({ name }) => name)
}

/**
 * Writes every row that the database holds at one moment to a new file that only its owner can read. A cursor reads
 * the rows, so memory holds at most a thousand of them. Partitions are read one by one and their parents are not
 * locked, so a running service can add days; only dropping a table has to wait. Fails when the file exists, or when
 * there is nothing to copy.
 */
export const backUp = Effect.fn("backup.backUp")(function* (options: {
  readonly file: string
  readonly version: string
  readonly progress: Progress
}) {
  const { file, progress, version } = options
  const sql = yield* SqlClient.SqlClient
  const { finish, write } = yield* writeLines(file)
  const whole = createHash("sha256")
  const writeLine = (value: object) => {
    const line = JSON.stringify(value)
    whole.update(line).update("\n")
    return write(line)
  }

  const writeTable = Effect.fnUntraced(function* (catalogue: Catalogue, table: string) {
    const hash = createHash("sha256")
    let count = 0
    for (const leaf of leavesOf(catalogue, table)) {
      yield* sql`
        declare backup_rows no scroll cursor for
        select (each::${sql(table)})::text as row from ${sql(leaf)} as each
      `
      while (true) {
        const texts = yield* sql`fetch ${sql.literal(String(FETCHED))} from backup_rows`.withoutTransform.pipe(
          Effect.flatMap(decodeTexts)
        )
        const rows = texts.map(({ row }) => row)
        rows.forEach((row) => hash.update(row).update("\n"))
        yield* Effect.forEach(grouped(rows), (group) => writeLine({ table, rows: group }), { discard: true })
        count += rows.length
        if (count > 0 && count % REPORTED === 0) {
          yield* progress(`${table}: ${count} rows so far`)
        }
        if (rows.length < FETCHED) {
          break
        }
      }
      yield* sql`close backup_rows`
    }
    yield* writeLine({ end: table, count, sha256: hash.digest("hex") })
    yield* progress(`${table}: ${count} rows`)
    return count
  })

  const copy = Effect.gen(function* () {
    yield* sql`set transaction isolation level repeatable read, read only`
    yield* exactText
    const catalogue = yield* readCatalogue
    const migrations = yield* appliedMigrations
    if (migrations.length === 0) {
      return yield* new BackupFailed({ file, detail: "the database is empty, there is nothing to back up" })
    }
    yield* refuseUnconverted
    // Locked together, so that no partition is dropped before it is read.
    const leaves = catalogue.tables.flatMap(({ name }) => leavesOf(catalogue, name))
    const names = sql.csv(leaves.map((name) => sql`${sql(name)}`))
    yield* sql`lock table ${names} in access share mode`
    const at = DateTime.formatIso(yield* DateTime.now)
    const header: Header = {
      format: "fathom-backup",
      version: FORMAT_VERSION,
      service: version,
      at,
      migrations,
      ...catalogue
    }
    yield* writeLine(header)
    let count = 0
    for (const { name } of catalogue.tables) {
      count += yield* writeTable(catalogue, name)
    }
    return { header, count } satisfies BackupSummary
  })

  const summary = yield* transaction(sql, copy)
  yield* write(JSON.stringify({ complete: true, count: summary.count, sha256: whole.digest("hex") }))
  yield* finish
  return summary
}, Effect.scoped)
