/** The version of the schema: migrations that a database has, and those that this version brings. */
import { Effect, Schema } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import { migrations } from "./migrations.ts"
import { transaction } from "./transaction.ts"

// Any number, the same in every process.
const MIGRATION_LOCK = 7_426_110
const TABLE = "schema_migrations"

/** The database, or a backup of one, has migrations of a later version. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {
  /** `database`, or the name of a file. */
  subject: Schema.String,
  migrations: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const names = this.migrations.join(", ")
    return `the ${this.subject} has migrations that this version does not know (${names}): use the version that made them, or a later one`
  }
}

const Found = Schema.Array(Schema.Struct({ found: Schema.Boolean }))
const Applied = Schema.Array(Schema.Struct({ id: Schema.Int, name: Schema.String }))

/** Names of the migrations that the database has, oldest first, as `migrations` names them; empty for a new database. */
export const appliedMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.flatMap(
    sql`select to_regclass(${TABLE}) is not null as found`.withoutTransform,
    Schema.decodeUnknownEffect(Found)
  )
  if (row?.found !== true) {
    return []
  }
  const rows = yield* Effect.flatMap(
    sql`select migration_id as id, name from ${sql(TABLE)} order by migration_id`.withoutTransform,
    Schema.decodeUnknownEffect(Applied)
  )
  return rows.map(({ id, name }) => `${String(id).padStart(4, "0")}_${name}`)
}).pipe(Effect.catchTag("SchemaError", Effect.die))

/** Fails when a list of migrations has one that this version does not know. */
export const refuseNewer = (subject: string, applied: ReadonlyArray<string>): Effect.Effect<void, SchemaTooNew> => {
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name))
  return unknown.length === 0 ? Effect.void : Effect.fail(new SchemaTooNew({ subject, migrations: unknown }))
}

/** Waits until no other process changes the schema, and keeps others out until the transaction ends. */
export const lockSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`set local statement_timeout = 0`
  yield* sql`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`
})

/**
 * Applies those migrations that the database lacks and that have a lower number than its newest one, which the migrator takes
 * for applied. Migrations that were written at the same time come in any order.
 */
const applyEarlier = Effect.fnUntraced(function* (names: ReadonlyArray<string>, applied: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const newest = applied.at(-1) ?? ""
  const lacking = Object.entries(migrations).filter(
    ([name]) => name < newest && names.includes(name) && !applied.includes(name)
  )
  for (const [name, up] of lacking) {
    yield* up
    const row = { migration_id: Number(name.slice(0, 4)), name: name.slice(5) }
    yield* sql`insert into ${sql(TABLE)} ${sql.insert(row)}`.withoutTransform
  }
})

/**
 * Applies those of the named migrations that the database lacks, in one transaction. Of several processes that start at once,
 * one does it and the others wait. Fails when the database has migrations of a later version.
 */
export const migrateTo = (
  names: ReadonlyArray<string>
): Effect.Effect<void, Migrator.MigrationError | SchemaTooNew | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wanted = Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name)))
    yield* transaction(
      sql,
      Effect.gen(function* () {
        yield* lockSchema
        const applied = yield* appliedMigrations
        yield* refuseNewer("database", applied)
        yield* applyEarlier(names, applied)
        yield* Migrator.make({})({ loader: Migrator.fromRecord(wanted), table: TABLE })
      })
    )
  })

/** Brings the schema up to date. */
export const migrate = migrateTo(Object.keys(migrations))
