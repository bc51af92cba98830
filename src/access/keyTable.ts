/** The tables `api_keys` and `service_secrets`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Redacted, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { ApiKey, ApiScope, KeyNotFound, MAX_ACTIVE_KEYS, TooManyKeys } from "../domain/ApiKey.ts"

const Row = Schema.Struct({ ...ApiKey.fields, scopes: Schema.Array(Schema.String) })
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeHashed = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ secretHash: Schema.String, ...Row.fields }))
)
const isScope = Schema.is(ApiScope)
// A scope of a later version grants nothing here, and does not lock its key out.
const keyOf = (row: typeof Row.Type): ApiKey => ({ ...row, scopes: row.scopes.filter(isScope) })

// Exact: a double holds every millisecond that a timestamp can.
const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8 as ${column}_ms`
const COLUMNS = `
  id, account_id, name, prefix, last_four, scopes, ip_policy,
  ${ms("created_at")}, ${ms("last_used_at")}, ${ms("disabled_at")}, ${ms("revoked_at")}
`

/** A key to be stored, and the hash of its secret. */
export type NewKey = Pick<
  ApiKey,
  "id" | "accountId" | "name" | "prefix" | "lastFour" | "scopes" | "ipPolicy" | "createdAtMs"
> & { readonly secretHash: string }

/** The queries. What changes a key runs in a transaction; the caller may add to it. */
export const makeKeyTable = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(COLUMNS)

  const keys = Effect.fnUntraced(function* (statement: Statement.Statement<object>) {
    const rows = yield* decodeRows(yield* statement)
    return rows.map(keyOf)
  })

  const changed = Effect.fnUntraced(function* (id: string, statement: Statement.Statement<object>) {
    const [key] = yield* keys(statement)
    return key ?? (yield* new KeyNotFound({ id }))
  })

  /** Holds the account until the transaction ends, and fails when it has all the active keys it may have. */
  const claimPlace = Effect.fnUntraced(function* (accountId: string) {
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${accountId}, 0))`
    const active = yield* sql`
      select 1 from api_keys where account_id = ${accountId} and disabled_at is null and revoked_at is null
    `
    if (active.length >= MAX_ACTIVE_KEYS) {
      return yield* new TooManyKeys({ limit: MAX_ACTIVE_KEYS })
    }
  })

  return {
    /** Keys by the hashes of their secrets, revoked or disabled ones too. Hashes without a key are left out. */
    byHashes: Effect.fnUntraced(function* (hashes: ReadonlyArray<string>) {
      const rows = yield* decodeHashed(
        yield* sql`select secret_hash, ${columns} from api_keys where secret_hash = any(${hashes}::text[])`
      )
      return new Map(rows.map(({ secretHash, ...row }) => [secretHash, keyOf(row)]))
    }),

    /** Every key of an account, newest first. */
    ofAccount: (accountId: string) =>
      keys(sql`select ${columns} from api_keys where account_id = ${accountId} order by seq desc`),

    insert: Effect.fnUntraced(function* ({ createdAtMs, ...key }: NewKey) {
      yield* claimPlace(key.accountId)
      const row = { ...key, createdAt: PgTypes.timestamptz(createdAtMs) }
      const [stored] = yield* keys(sql`insert into api_keys ${sql.insert(row)} returning ${columns}`)
      return stored ?? (yield* Effect.die(new Error("an insert returns its row")))
    }),

    revoke: (id: string, nowMs: number) =>
      changed(
        id,
        sql`
          update api_keys set revoked_at = coalesce(revoked_at, ${PgTypes.timestamptz(nowMs)}), changed_at = now()
          where id = ${id} returning ${columns}
        `
      ),

    disable: (id: string, nowMs: number) =>
      changed(
        id,
        sql`
          update api_keys set disabled_at = coalesce(disabled_at, ${PgTypes.timestamptz(nowMs)}), changed_at = now()
          where id = ${id} and revoked_at is null returning ${columns}
        `
      ),

    enable: Effect.fnUntraced(function* (id: string) {
      const key = yield* changed(
        id,
        sql`select ${columns} from api_keys where id = ${id} and revoked_at is null for update`
      )
      if (key.disabledAtMs === null) {
        return key
      }
      yield* claimPlace(key.accountId)
      return yield* changed(
        id,
        sql`update api_keys set disabled_at = null, changed_at = now() where id = ${id} returning ${columns}`
      )
    }),

    /** Ids of keys that were revoked or disabled in the last so many milliseconds of the server's clock. */
    closedWithin: Effect.fnUntraced(function* (lastMs: number) {
      const rows = yield* sql`
        select id from api_keys
        where changed_at > now() - ${lastMs}::float8 * interval '1 millisecond'
          and (disabled_at is not null or revoked_at is not null)
      `.values
      return rows.map(([id]) => String(id))
    }),

    /** Moves the times of last use forward, never back. */
    markUsed: (batch: ReadonlyArray<readonly [id: string, lastUsedAtMs: number]>) =>
      sql`
        update api_keys set last_used_at = greatest(last_used_at, used.at)
        from unnest(${batch.map(([id]) => id)}::text[], ${batch.map(([, at]) => new Date(at))}::timestamptz[]) as used (id, at)
        where api_keys.id = used.id
      `,

    /** A secret of the service, shared by all processes: the first candidate ever given is kept. */
    secret: Effect.fnUntraced(function* (name: string, candidate: Redacted.Redacted) {
      const row = { name, value: Redacted.value(candidate) }
      yield* sql`insert into service_secrets ${sql.insert(row)} on conflict do nothing`
      const [[value] = []] = yield* sql`select value from service_secrets where name = ${name}`.values
      return Redacted.make(String(value))
    })
  }
}
