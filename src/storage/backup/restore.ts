/** Restores a backup into an empty database. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Record, Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { migrations } from "../migrations.ts"
import { currentNames, lockSchema, migrate, migrateTo } from "../schema.ts"
import { transaction } from "../transaction.ts"
import { BackupFailed, type Header, type Progress } from "./format.ts"
import { readBackup, verifyBackup } from "./readBackup.ts"
import { exactText, isFilled, readCatalogue } from "./readCatalogue.ts"

const textList = (values: ReadonlyArray<string>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** Creates the partitions that are in the file and that the migrations have not created. */
const makePartitions = Effect.fnUntraced(function* ({ partitions }: Header) {
  const sql = yield* SqlClient.SqlClient
  const made = new Set((yield* readCatalogue).partitions.map(({ name }) => name))
  for (const { bound, indexes, key, name, parent } of partitions.filter((each) => !made.has(each.name))) {
    const divided = key === null ? sql.literal("") : sql.literal(`partition by ${key}`)
    yield* sql`create table ${sql(name)} partition of ${sql(parent)} ${sql.literal(bound)} ${divided}`
    for (const index of indexes) {
      const kind = sql.literal(index.isUnique ? "unique index" : "index")
      yield* sql`create ${kind} ${sql(index.name)} on ${sql(name)} ${sql.literal(index.using)}`
    }
  }
})

const columnsByTable = (tables: Header["tables"]): ReadonlyMap<string, string> =>
  new Map(tables.map(({ columns, name }) => [name, columns.join(", ")]))

/** The first table whose columns differ between file and database; undefined when all are equal. */
const differing = (file: Header["tables"], database: Header["tables"]): string | undefined => {
  const [own, others] = [columnsByTable(file), columnsByTable(database)]
  return [...own.keys(), ...others.keys()].find((name) => own.get(name) !== others.get(name))
}

/**
 * Restores a backup in one transaction: first the schema of the backup's own migrations, then the rows, then the
 * later migrations. The whole file is checked beforehand, and again while it is read. Fails and changes nothing when
 * the file is cut off, altered, too old or from a later version, or when the database is not empty.
 */
export const restore = Effect.fn("backup.restore")(function* (options: {
  readonly file: string
  readonly progress: Progress
}) {
  const { file, progress } = options
  const sql = yield* SqlClient.SqlClient
  const fail = (detail: string) => new BackupFailed({ file, detail })
  const { header } = yield* verifyBackup(file)
  const names = yield* currentNames("file", header.migrations)
  yield* progress(`the file is whole: ${header.tables.length} tables of ${header.at}`)

  const prepare = Effect.gen(function* () {
    yield* lockSchema
    yield* exactText
    if (yield* isFilled) {
      return yield* fail("the database is not empty; restore into a new DATA_DIR or a new database")
    }
    yield* migrateTo(Record.filter(migrations, (_, name) => names.includes(name)))
    yield* makePartitions(header)
    const { tables } = yield* readCatalogue
    const table = differing(header.tables, tables)
    if (table !== undefined) {
      return yield* fail(`its table ${table} is not the one that its migrations make`)
    }
    // The file also contains the rows that the migrations have just written.
    yield* sql`truncate ${sql.csv(tables.map(({ name }) => sql`${sql(name)}`))}`
  })

  const insert = (table: string, rows: ReadonlyArray<string>) => sql`
    insert into ${sql(table)} overriding system value
    select (given.value).* from (
      select text::${sql(table)} as value from unnest(${textList(rows)}) as text offset 0
    ) as given
  `

  const summary = yield* transaction(
    sql,
    Effect.gen(function* () {
      yield* prepare
      const read = yield* readBackup<BackupFailed | SqlError.SqlError, never>(file, {
        onHeader: (again) =>
          again.at === header.at ? Effect.void : Effect.fail(fail("the file has changed meanwhile")),
        onRows: (table, rows) => Effect.asVoid(insert(table, rows)),
        onTable: (table, count) => progress(`${table}: ${count} rows`)
      })
      yield* Effect.forEach(
        read.header.sequences,
        ({ last, name }) => sql`select setval(format('%I', ${name}::text)::regclass, ${last}::text::bigint)`,
        { discard: true }
      )
      yield* migrate
      return read
    })
  )
  // Without statistics, the first reads of a large table would be planned badly.
  yield* transaction(sql, Effect.andThen(sql`set local statement_timeout = 0`, sql`analyze`))
  return summary
})
