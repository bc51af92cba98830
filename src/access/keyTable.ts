/** The tables `api_keys` and `service_secrets`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Redacted, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { ApiKey, ApiScope, KeyNotFound, TooManyKeys } from "../api/schemas/ApiKey.ts"
import { DEFAULT_PLAN, Plan } from "../api/schemas/Plan.ts"
import { PLAN_OF_ROW } from "./planTable.ts"

const Row = Schema.Struct({ ...ApiKey.fields, scopes: Schema.Array(Schema.String), plan: Schema.NullOr(Plan) })
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeHashed = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ secretHash: Schema.String, pepperId: Schema.NullOr(Schema.String), ...Row.fields }))
)
const isScope = Schema.is(ApiScope)
// A scope of a later version grants nothing here, but does not lock its key out. A plan without a row is `default`.
const keyOf = (row: typeof Row.Type): ApiKey => ({
  ...row,
  plan: row.plan ?? DEFAULT_PLAN,
  scopes: row.scopes.filter(isScope)
})

// Exact: a double holds every millisecond that a timestamp can.
const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8 as ${column}_ms`
const COLUMNS = `
  id, account_id, api_keys.name, prefix, last_four, scopes, ip_policy, replaced_by,
  ${ms("created_at")}, ${ms("last_used_at")}, ${ms("expires_at")}, ${ms("disabled_at")}, ${ms("revoked_at")},
  ${PLAN_OF_ROW}
`
const SOURCE = "api_keys left join plans on plans.name = api_keys.plan"

/** A key to be stored, and the hash of its secret. */
export type NewKey = Pick<
  ApiKey,
  "id" | "accountId" | "name" | "prefix" | "lastFour" | "scopes" | "ipPolicy" | "createdAtMs" | "expiresAtMs"
> & {
  readonly secretHash: string
  /** Id of the pepper that the hash was made with. */
  readonly pepperId: string
  /** Name of the plan. */
  readonly plan: string
}

/** A key and the hash it was found by. `pepperId` is null when the row does not name the pepper of the hash. */
export interface HashedKey {
  readonly hash: string
  readonly pepperId: string | null
  readonly key: ApiKey
}

/** The hash that a key was found by, and the hash of the same secret under the present pepper. */
export interface HashRewrite {
  readonly id: string
  readonly found: string
  readonly present: string
}

const timeOf = (ms: number | null) => (ms === null ? null : PgTypes.timestamptz(ms))

/** The columns in which two states of a key differ, except columns that only time changes. */
const differing = (before: ApiKey, after: ApiKey) => ({
  ...(after.name !== before.name && { name: after.name }),
  ...(after.scopes !== before.scopes && { scopes: after.scopes }),
  ...(after.ipPolicy !== before.ipPolicy && { ipPolicy: after.ipPolicy }),
  ...(after.plan.name !== before.plan.name && { plan: after.plan.name }),
  ...(after.expiresAtMs !== before.expiresAtMs && { expiresAt: timeOf(after.expiresAtMs) }),
  ...(after.replacedBy !== before.replacedBy && { replacedBy: after.replacedBy }),
  ...(after.disabledAtMs !== before.disabledAtMs && { disabledAt: timeOf(after.disabledAtMs) }),
  ...(after.revokedAtMs !== before.revokedAtMs && { revokedAt: timeOf(after.revokedAtMs) })
})

const makeHashQueries = (sql: SqlClient.SqlClient) => ({
  /** Keys by the hashes of their secrets, revoked or disabled ones too. Hashes without a key are left out. */
  byHashes: Effect.fnUntraced(function* (hashes: ReadonlyArray<string>) {
    const rows = yield* decodeHashed(
      yield* sql`
        select secret_hash, pepper_id, ${sql.literal(COLUMNS)} from ${sql.literal(SOURCE)} where secret_hash = any(${hashes}::text[])
      `
    )
    return rows.map(({ pepperId, secretHash, ...row }): HashedKey => ({
      hash: secretHash,
      pepperId,
      key: keyOf(row)
    }))
  }),

  /**
   * Moves hashes to the pepper with this id, and returns the ids of their keys. A hash that has changed since it was
   * found stays as it is.
   */
  rewriteHashes: (batch: ReadonlyArray<HashRewrite>, pepperId: string) =>
    sql`
      update api_keys set secret_hash = rewritten.present, pepper_id = ${pepperId}
      from unnest(
        ${batch.map(({ id }) => id)}::text[],
        ${batch.map(({ found }) => found)}::text[],
        ${batch.map(({ present }) => present)}::text[]
      ) as rewritten (id, found, present)
      where api_keys.id = rewritten.id and api_keys.secret_hash = rewritten.found
      returning api_keys.id
    `,

  /**
   * Counts keys that are neither revoked nor expired: in `earlier` the keys whose hash is not known to be under the
   * first pepper, in `unusable` the keys whose hash is known to be under none of the peppers.
   */
  countEarlier: Effect.fnUntraced(function* (pepperIds: ReadonlyArray<string>) {
    const [[earlier, unusable] = []] = yield* sql`
      select
        count(*) filter (where pepper_id is distinct from ${pepperIds[0] ?? ""}),
        count(*) filter (where pepper_id <> all(${pepperIds}::text[]))
      from api_keys where revoked_at is null and (expires_at is null or expires_at > now())
    `.values
    return { earlier: Number(earlier), unusable: Number(unusable) }
  })
})

const makeSecretQueries = (sql: SqlClient.SqlClient) => ({
  /** A secret of the service, shared by all processes. The first candidate ever given is kept. */
  secret: Effect.fnUntraced(function* (name: string, candidate: Redacted.Redacted) {
    const row = { name, value: Redacted.value(candidate) }
    yield* sql`insert into service_secrets ${sql.insert(row)} on conflict do nothing`
    const [[value] = []] = yield* sql`select value from service_secrets where name = ${name}`.values
    return Redacted.make(String(value))
  }),

  /** A secret of the service; null when none is stored. */
  storedSecret: Effect.fnUntraced(function* (name: string) {
    const [row] = yield* sql`select value from service_secrets where name = ${name}`.values
    return row === undefined ? null : Redacted.make(String(row[0]))
  })
})

/** The queries. Changes of a key run in a transaction, which the caller may extend. */
export const makeKeyTable = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(COLUMNS)
  const source = sql.literal(SOURCE)

  const keys = Effect.fnUntraced(function* (statement: Statement.Statement<object>) {
    const rows = yield* decodeRows(yield* statement)
    return rows.map(keyOf)
  })

  const only = Effect.fnUntraced(function* (id: string, statement: Statement.Statement<object>) {
    const [key] = yield* keys(statement)
    return key ?? (yield* new KeyNotFound({ id }))
  })

  /** The key, locked until the transaction ends. */
  const hold = (id: string) => only(id, sql`select ${columns} from ${source} where id = ${id} for update of api_keys`)

  /** Locks the account until the transaction ends. Fails when the account already has `most` active keys. */
  const claimPlace = Effect.fnUntraced(function* (accountId: string, most: number, nowMs: number) {
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${accountId}, 0))`
    const active = yield* sql`
      select 1 from api_keys
      where account_id = ${accountId} and disabled_at is null and revoked_at is null
        and (expires_at is null or expires_at > ${PgTypes.timestamptz(nowMs)})
    `
    if (active.length >= most) {
      return yield* new TooManyKeys({ limit: most })
    }
  })

  return {
    ...makeHashQueries(sql),
    ...makeSecretQueries(sql),
    hold,
    claimPlace,

    /** Every key of an account, newest first. */
    ofAccount: (accountId: string) =>
      keys(sql`select ${columns} from ${source} where account_id = ${accountId} order by seq desc`),

    insert: Effect.fnUntraced(function* ({ createdAtMs, expiresAtMs, ...key }: NewKey) {
      const row = { ...key, createdAt: PgTypes.timestamptz(createdAtMs), expiresAt: timeOf(expiresAtMs) }
      yield* sql`insert into api_keys ${sql.insert(row)}`
      return yield* Effect.catchTag(hold(key.id), "KeyNotFound", Effect.die)
    }),

    /** Stores the difference between two states of a locked key. Returns null when there is none. */
    save: Effect.fnUntraced(function* (before: ApiKey, after: ApiKey) {
      const changes = differing(before, after)
      if (Object.keys(changes).length === 0) {
        return null
      }
      yield* sql`update api_keys set ${sql.update(changes)}, changed_at = now() where id = ${before.id}`
      return yield* hold(before.id)
    }),

    /** Ids of keys that expired after the first time, up to and including the second. */
    expiredBetween: Effect.fnUntraced(function* (afterMs: number, untilMs: number) {
      const rows = yield* sql`
        select id from api_keys
        where expires_at > ${PgTypes.timestamptz(afterMs)} and expires_at <= ${PgTypes.timestamptz(untilMs)}
      `.values
      return rows.map(([id]) => String(id))
    }),

    /** Keys that were revoked or disabled in the last `lastMs` milliseconds of the server's clock. */
    closedWithin: Effect.fnUntraced(function* (lastMs: number) {
      const rows = yield* sql`
        select id, revoked_at is not null from api_keys
        where changed_at > now() - ${lastMs}::float8 * interval '1 millisecond'
          and (disabled_at is not null or revoked_at is not null)
      `.values
      return rows.map(([id, isRevoked]) => ({ id: String(id), isRevoked: isRevoked === true }))
    }),

    /** Moves the times of last use forward, never back. */
    markUsed: (batch: ReadonlyArray<readonly [id: string, lastUsedAtMs: number]>) =>
      sql`
        update api_keys set last_used_at = greatest(last_used_at, used.at)
        from unnest(${batch.map(([id]) => id)}::text[], ${batch.map(([, at]) => new Date(at))}::timestamptz[]) as used (id, at)
        where api_keys.id = used.id
      `
  }
}

export type KeyTable = ReturnType<typeof makeKeyTable>
