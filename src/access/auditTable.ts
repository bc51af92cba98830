/** The tables `key_audit`, `key_addresses` and `plan_audit`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { ApiKey } from "../api/schemas/ApiKey.ts"
import {
  type AuditPage,
  type KeyAction,
  type KeyActor,
  KeyAuditEntry,
  MOST_ADDRESSES,
  PlanAuditEntry
} from "../api/schemas/KeyAudit.ts"
import { type Bound, purgeRows } from "../storage/purge.ts"
import type { FirstUse } from "./AddressLog.ts"

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ seq: Schema.NumberFromString, ...KeyAuditEntry.fields }))
)

const decodePlanRows = Schema.decodeUnknownEffect(Schema.Array(PlanAuditEntry))

export interface AuditedChange {
  readonly key: Pick<ApiKey, "id" | "accountId">
  readonly action: KeyAction
  readonly by: KeyActor
  readonly atMs: number
  readonly detail: string | null
}

export const makeAuditTable = (sql: SqlClient.SqlClient) => ({
  /** Adds an entry, within the transaction of the change. */
  add: ({ action, atMs, by, detail, key }: AuditedChange) => {
    const { address, kind: actor } = by
    const row = {
      at: PgTypes.timestamptz(atMs),
      accountId: key.accountId,
      keyId: key.id,
      actor,
      action,
      address,
      detail
    }
    return sql`insert into key_audit ${sql.insert(row)}`
  },

  page: Effect.fnUntraced(function* (
    accountId: string,
    { before, limit }: { readonly limit: number; readonly before: number | null }
  ) {
    const found = yield* decodeRows(
      yield* sql`
        select seq::text, (extract(epoch from at) * 1000)::float8 as at_ms, actor, action, key_id, address, detail
        from key_audit
        where account_id = ${accountId} and (${before}::bigint is null or seq < ${before}::bigint)
        order by seq desc limit ${limit + 1}
      `
    )
    const rows = found.slice(0, limit)
    const page: AuditPage = {
      rows: rows.map(({ seq: _seq, ...entry }) => entry),
      next: found.length > limit ? (rows.at(-1)?.seq ?? null) : null
    }
    return page
  }),

  addPlan: ({ action, actor, atMs, detail, plan }: PlanAuditEntry) =>
    sql`insert into plan_audit ${sql.insert({ at: PgTypes.timestamptz(atMs), actor, action, plan, detail })}`,

  /** Changes of plans, newest first. */
  ofPlans: (limit: number) =>
    Effect.flatMap(
      sql`
        select (extract(epoch from at) * 1000)::float8 as at_ms, actor, action, plan, detail
        from plan_audit order by seq desc limit ${limit}
      `,
      decodePlanRows
    ),

  /**
   * Adds an entry for each address that its key has not been used from before, up to MOST_ADDRESSES per key. Runs in a
   * transaction.
   */
  addUses: Effect.fnUntraced(function* (uses: ReadonlyArray<FirstUse>) {
    // One process at a time, because two could count the same address.
    yield* sql`select pg_advisory_xact_lock(hashtextextended('key_addresses', 0))`
    yield* sql`
    with seen as (
      select key_id, address, at, row_number() over (partition by key_id order by at, address) as place
      from unnest(
        ${uses.map(({ keyId }) => keyId)}::text[],
        ${uses.map(({ address }) => address)}::text[],
        ${uses.map(({ atMs }) => new Date(atMs))}::timestamptz[]
      ) as used (key_id, address, at)
      where not exists (
        select 1 from key_addresses as known where known.key_id = used.key_id and known.address = used.address
      )
    ), fresh as (
      insert into key_addresses (key_id, address, first_used_at)
      select key_id, address, at from seen
      where place + (select count(*) from key_addresses as known where known.key_id = seen.key_id) <= ${MOST_ADDRESSES}
      order by key_id, address
      on conflict do nothing
      returning key_id, address, first_used_at
    )
    insert into key_audit (at, account_id, key_id, actor, action, address)
    select fresh.first_used_at, api_keys.account_id, fresh.key_id, 'key', 'use', fresh.address
    from fresh join api_keys on api_keys.id = fresh.key_id
    order by fresh.first_used_at, fresh.address
  `
  }),

  /** Removes entries and addresses from before a time. */
  purge: Effect.fnUntraced(function* <Failure>(beforeMs: number, bound: Bound<Failure>) {
    const before = PgTypes.timestamptz(beforeMs)
    yield* purgeRows({ sql, bound, table: "key_audit", where: sql`at < ${before}` })
    yield* purgeRows({ sql, bound, table: "plan_audit", where: sql`at < ${before}` })
    yield* purgeRows({ sql, bound, table: "key_addresses", where: sql`first_used_at < ${before}` })
  })
})
