/** The version of the schema: which migrations a database has, and which this version of the service has. */
import { Effect, Schedule, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { migrations } from "./migrations.ts"
import { transaction } from "./transaction.ts"

// Any number, the same in every process.
const MIGRATION_LOCK = 7_426_110
const TABLE = "schema_migrations"

/** The database, or a backup, has migrations from a later version. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {
  /** `database`, or a file name. */
  subject: Schema.String,
  migrations: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const names = this.migrations.join(", ")
    return `the ${this.subject} has migrations that this version does not know (${names}): use the version that made them, or a later one`
  }
}

/** Numbers of the migrations that built the schema of `0060_schema` step by step. */
const STEPS: ReadonlySet<number> = new Set([
  1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 24, 26, 27, 30, 31, 32, 36, 38, 40, 41, 42, 44, 46, 50, 51, 52, 53, 54, 55, 56,
  57, 58, 59
])
const ALL_STEPS = "0060_schema"
/** The last version that has the steps. */
const LAST_WITH_STEPS = "0.1.0 at commit 391aa525"

/** The database, or a backup, is older than the schema that this version starts from. */
export class SchemaTooOld extends Schema.TaggedError<SchemaTooOld>()("SchemaTooOld", {
  /** `database`, or a file name. */
  subject: Schema.String
}) {
  override get message(): string {
    return `the ${this.subject} is older than migration 0059: start version ${LAST_WITH_STEPS} first, the last version that can upgrade it`
  }
}

/** The database still has trades in the table from before migration 0021. */
export class TradesUnconverted extends Schema.TaggedError<TradesUnconverted>()("TradesUnconverted", {}) {
  override get message(): string {
    return `the database has trades in an old form (table old_trades): start version ${LAST_WITH_STEPS} without CLICKHOUSE_URL until the table is gone`
  }
}

const Found = Schema.Array(Schema.Struct({ found: Schema.Boolean }))
const Applied = Schema.Array(Schema.Struct({ id: Schema.Int, name: Schema.String }))

const hasTable = Effect.fnUntraced(
  function* (name: string) {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* Effect.flatMap(
      sql`select to_regclass(${name}) is not null as found`.withoutTransform,
      Schema.decodeUnknownEffect(Found)
    )
    return row?.found === true
  },
  Effect.catchTag("SchemaError", Effect.die)
)

/**
 * Names of the migrations that the database has, oldest first, spelled as in `migrations`; empty for a new database.
 */
export const appliedMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* hasTable(TABLE))) {
    return []
  }
  const rows = yield* Effect.flatMap(
    sql`select migration_id as id, name from ${sql(TABLE)} order by migration_id`.withoutTransform,
    Schema.decodeUnknownEffect(Applied)
  )
  return rows.map(({ id, name }) => `${String(id).padStart(4, "0")}_${name}`)
}).pipe(Effect.catchTag("SchemaError", Effect.die))

/**
 * Fails for a database whose trades are still in the table that migration 0021 replaced. The version that ran that
 * migration moves them in the background; this version does not.
 */
export const refuseUnconverted = Effect.gen(function* () {
  if (yield* hasTable("old_trades")) {
    return yield* new TradesUnconverted()
  }
})

const isStep = (name: string): boolean => STEPS.has(Number(name.slice(0, 4)))

/** Migrations by name, such as `0061_key_notes`. They are applied in the order of their names. */
export type Migrations = Readonly<Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>>

/**
 * Translates a list of applied migrations into today's names: all the steps together become `0060_schema`. Fails when
 * the list has a migration that is not `known`, or only some of the steps.
 */
export const currentNames = (
  subject: string,
  applied: ReadonlyArray<string>,
  known: Migrations = migrations
): Effect.Effect<ReadonlyArray<string>, SchemaTooNew | SchemaTooOld> => {
  const [steps, later] = [applied.filter(isStep), applied.filter((name) => !isStep(name))]
  const unknown = later.filter((name) => !Object.hasOwn(known, name))
  if (unknown.length > 0) {
    return Effect.fail(new SchemaTooNew({ subject, migrations: unknown }))
  }
  if (steps.length > 0 && steps.length < STEPS.size) {
    return Effect.fail(new SchemaTooOld({ subject }))
  }
  return Effect.succeed(steps.length > 0 ? [ALL_STEPS, ...later] : later)
}

/**
 * How long a change of the schema waits for a lock. Whoever comes after it waits behind it, so a long read, such as an
 * export, would hold up a running service for as long as it takes.
 */
const LOCK_TIMEOUT = "2s"
const LOCK_PAUSE = "3 seconds"

/** True when a lock was not free in time. */
const isLockTimeout = (failure: unknown): boolean => {
  const cause = failure instanceof Migrator.MigrationError ? failure.cause : failure
  return SqlError.isSqlError(cause) && cause.reason._tag === "LockTimeoutError"
}

/** Waits until no other process changes the schema, then keeps others out until the transaction ends. */
export const lockSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`set local statement_timeout = 0`
  yield* sql`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`
})

const record = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const row = { migration_id: Number(name.slice(0, 4)), name: name.slice(5) }
  yield* sql`insert into ${sql(TABLE)} ${sql.insert(row)}`.withoutTransform
})

/** Records that a database built by the steps has today's schema. The tables stay as they are. */
const adoptSteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* refuseUnconverted
  yield* sql`delete from ${sql(TABLE)} where migration_id in ${sql.in([...STEPS])}`
  yield* record(ALL_STEPS)
})

/**
 * Applies missing migrations with a number below the database's newest one. The migrator would skip them. They exist
 * because migrations written in parallel are released in any order.
 */
const applyEarlier = Effect.fnUntraced(function* (wanted: Migrations, applied: ReadonlyArray<string>) {
  const newest = applied.at(-1) ?? ""
  for (const [name, up] of Object.entries(wanted)) {
    if (name < newest && !applied.includes(name)) {
      yield* up
      yield* record(name)
    }
  }
})

/**
 * Applies the wanted migrations that the database lacks, in one transaction. When several processes start at once,
 * one of them does it and the others wait. While somebody else holds a lock on a table, it gives up its own locks and
 * tries again every few seconds. Fails when the database has unknown migrations, or is too old.
 */
export const migrateTo = (
  wanted: Migrations
): Effect.Effect<
  void,
  Migrator.MigrationError | SchemaTooNew | SchemaTooOld | SqlError.SqlError | TradesUnconverted,
  SqlClient.SqlClient
> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* transaction(
      sql,
      Effect.gen(function* () {
        yield* lockSchema
        yield* sql`set local lock_timeout = ${sql.literal(`'${LOCK_TIMEOUT}'`)}`
        const applied = yield* appliedMigrations
        const current = yield* currentNames("database", applied, wanted)
        yield* applied.some(isStep) ? adoptSteps : Effect.void
        yield* applyEarlier(wanted, current)
        yield* Migrator.make({})({ loader: Migrator.fromRecord(wanted), table: TABLE })
      })
    ).pipe(
      Effect.tapError((failure) =>
        isLockTimeout(failure)
          ? Effect.logWarning(
              "The schema is changed once its tables are free: an export or another long read uses them"
            )
          : Effect.void
      ),
      Effect.retry({ while: isLockTimeout, schedule: Schedule.spaced(LOCK_PAUSE) })
    )
  })

/** Brings the schema up to date. */
export const migrate = migrateTo(migrations)
