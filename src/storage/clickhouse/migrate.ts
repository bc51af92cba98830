/** Brings the tables in a ClickHouse database up to date. */
import { Duration, Effect } from "effect"
import { ClickHouse, ClickHouseUnavailable } from "./ClickHouse.ts"
import { decodeRows } from "./decodeRows.ts"

const DEADLINE = Duration.seconds(30)

/** One change of the schema. */
export interface Migration {
  readonly name: string
  readonly statements: ReadonlyArray<string>
}

const repeatable = (statement: string): string =>
  statement.trim().replace(/^CREATE (TABLE|VIEW|MATERIALIZED VIEW) /u, "CREATE $1 IF NOT EXISTS ")

/**
 * Applies the migrations that the database does not have. ClickHouse has no transactions: an interrupted migration
 * runs again, and tables that exist stay. Fails when the database was changed by a later release.
 */
export const migrate = Effect.fnUntraced(function* (migrations: ReadonlyArray<Migration>) {
  const { read, run } = yield* ClickHouse
  yield* run(
    "CREATE TABLE IF NOT EXISTS migrations (name String, at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY name",
    DEADLINE
  )
  const names = yield* read("SELECT name FROM migrations ORDER BY name", DEADLINE)
  const done = new Set(yield* decodeRows(names, (row) => row.text()))
  const later = [...done].find((name) => migrations.every((migration) => migration.name !== name))
  if (later !== undefined) {
    return yield* new ClickHouseUnavailable({ cause: new Error(`a later release has changed the tables: ${later}`) })
  }
  for (const { name, statements } of migrations.filter(({ name }) => !done.has(name))) {
    for (const statement of statements) {
      yield* run(repeatable(statement), DEADLINE)
    }
    yield* run(`INSERT INTO migrations (name) VALUES ('${name}')`, DEADLINE)
  }
})
