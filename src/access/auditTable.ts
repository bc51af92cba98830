/** The table `key_audit`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { ApiKey } from "../domain/ApiKey.ts"
import { AUDIT_DAYS, type AuditPage, type KeyAction, type KeyActor, KeyAuditEntry } from "../domain/KeyAudit.ts"

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ seq: Schema.NumberFromString, ...KeyAuditEntry.fields }))
)

/** A change of a key at one time. */
export interface AuditedChange {
  readonly key: Pick<ApiKey, "id" | "accountId">
  readonly action: KeyAction
  readonly by: KeyActor
  readonly atMs: number
  readonly detail: string | null
}

/** The queries. */
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
      rows: rows.map(({ seq: _, ...entry }) => entry),
      next: found.length > limit ? (rows.at(-1)?.seq ?? null) : null
    }
    return page
  }),

  /** Removes entries that are older than a year. */
  purge: (nowMs: number) =>
    sql`delete from key_audit where at < ${PgTypes.timestamptz(nowMs - AUDIT_DAYS * 86_400_000)}`
})
