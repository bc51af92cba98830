import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Usage of keys by UTC day and operation, and the last batch that each process has added to it. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table key_usage (
      account_id text collate "C" not null,
      key_id     text collate "C" not null,
      day        date not null,
      operation  text collate "C" not null,
      requests   bigint not null,
      units      bigint not null,
      errors     bigint not null,
      bytes      bigint not null,
      stream_ms  bigint not null,
      primary key (key_id, day, operation)
    )
  `
  yield* sql`create index key_usage_of_account on key_usage (account_id, day desc)`
  yield* sql`create index key_usage_by_day on key_usage (day)`
  yield* sql`
    create table usage_writers (
      id  text collate "C" primary key,
      seq bigint not null,
      at  timestamptz not null
    )
  `
})
