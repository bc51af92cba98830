/** The tables `key_usage` and `usage_writers`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { UsagePage, UsageRow } from "../../api/schemas/Usage.ts"
import { type Bound, purgeRows } from "../../storage/purge.ts"
import type { CountedRow } from "./UsageCounts.ts"
import type { UsageQuery } from "./UsageStore.ts"

const DAY_MS = 86_400_000
const WRITERS_KEPT_MS = 7 * DAY_MS

interface UsagePurge<Failure> {
  readonly nowMs: number
  readonly days: number
  readonly bound: Bound<Failure>
}

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      day: Schema.String,
      keyId: Schema.String,
      keyName: Schema.NullOr(Schema.String),
      operation: Schema.String,
      requests: Schema.Int,
      units: Schema.Int,
      errors: Schema.Int,
      bytes: Schema.Int,
      streamMs: Schema.Int
    })
  )
)

/** Sums of one process, numbered in order. */
export interface UsageBatch {
  readonly writer: string
  readonly seq: number
  readonly rows: ReadonlyArray<CountedRow>
}

const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The queries. */
export const makeUsageTable = (sql: SqlClient.SqlClient) => ({
  /**
   * Adds a batch once. A batch that is already stored changes nothing, so it can be sent again when its answer was
   * lost. Rows are sorted, so that two processes cannot block each other.
   */
  add: ({ rows, seq, writer }: UsageBatch, nowMs: number) => sql`
    with turn as (
      insert into usage_writers (id, seq, at) values (${writer}, ${seq}, ${PgTypes.timestamptz(nowMs)})
      on conflict (id) do update set seq = excluded.seq, at = excluded.at where usage_writers.seq < excluded.seq
      returning id
    )
    insert into key_usage (account_id, key_id, day, operation, requests, units, errors, bytes, stream_ms)
    select counted.* from turn, unnest(
      ${rows.map(({ accountId }) => accountId)}::text[],
      ${rows.map(({ keyId }) => keyId)}::text[],
      ${rows.map(({ day }) => dayText(day))}::date[],
      ${rows.map(({ operation }) => operation)}::text[],
      ${rows.map(({ requests }) => String(requests))}::bigint[],
      ${rows.map(({ units }) => String(units))}::bigint[],
      ${rows.map(({ errors }) => String(errors))}::bigint[],
      ${rows.map(({ bytes }) => String(bytes))}::bigint[],
      ${rows.map(({ streamMs }) => String(streamMs))}::bigint[]
    ) as counted (account_id, key_id, day, operation, requests, units, errors, bytes, stream_ms)
    order by counted.key_id collate "C", counted.day, counted.operation collate "C"
    on conflict (key_id, day, operation) do update set
      requests = key_usage.requests + excluded.requests,
      units = key_usage.units + excluded.units,
      errors = key_usage.errors + excluded.errors,
      bytes = key_usage.bytes + excluded.bytes,
      stream_ms = key_usage.stream_ms + excluded.stream_ms
  `,

  page: Effect.fnUntraced(function* ({ after, caller, from, isAccount, limit, to }: UsageQuery) {
    const mine = isAccount ? sql`key_usage.account_id = ${caller.accountId}` : sql`key_id = ${caller.id}`
    const rest =
      after === null
        ? sql`true`
        : sql`(day < ${after.day}::date
            or (day = ${after.day}::date and (key_id, operation) > (${after.keyId}, ${after.operation})))`
    const found: ReadonlyArray<UsageRow> = yield* decodeRows(
      yield* sql`
        select to_char(day, 'YYYY-MM-DD') as day, key_id, api_keys.name as key_name, operation,
          requests::float8, units::float8, errors::float8, bytes::float8, stream_ms::float8
        from key_usage left join api_keys on api_keys.id = key_id
        where ${mine} and day between ${from}::date and ${to}::date and ${rest}
        order by key_usage.day desc, key_id, operation limit ${limit + 1}
      `
    )
    const rows = found.slice(0, limit)
    const page: UsagePage = { rows, next: found.length > limit ? (rows.at(-1) ?? null) : null }
    return page
  }),

  /** Removes days older than `days`, and processes that have stored nothing for a week. */
  purge: <Failure>({ bound, days, nowMs }: UsagePurge<Failure>) => {
    const [first, writers] = [dayText(Math.floor(nowMs / DAY_MS) - days), PgTypes.timestamptz(nowMs - WRITERS_KEPT_MS)]
    return Effect.andThen(
      purgeRows({ sql, bound, table: "key_usage", where: sql`day < ${first}::date` }),
      purgeRows({ sql, bound, table: "usage_writers", where: sql`at < ${writers}` })
    )
  }
})
