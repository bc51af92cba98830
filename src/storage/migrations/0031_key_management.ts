import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Plans, expiry and rotation of keys, and the audit of their changes. The plan `default` is a constant and has no row. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table plans (
      name            text collate "C" primary key,
      rest            integer not null,
      quote           integer not null,
      window_seconds  integer not null,
      streams         integer not null,
      sockets         integer not null,
      tracked_wallets integer not null,
      alerts          integer not null
    )
  `
  yield* sql`
    alter table api_keys
      add column plan        text collate "C" not null default 'default',
      add column expires_at  timestamptz,
      add column replaced_by text collate "C"
  `
  yield* sql`create index api_keys_by_expiry on api_keys (expires_at) where expires_at is not null`
  yield* sql`
    create table key_audit (
      seq        bigint generated always as identity primary key,
      at         timestamptz not null,
      account_id text collate "C" not null,
      key_id     text collate "C" not null,
      actor      text not null,
      action     text not null,
      address    text,
      detail     text
    )
  `
  yield* sql`create index key_audit_of_account on key_audit (account_id, seq desc)`
  yield* sql`create index key_audit_by_time on key_audit (at)`
})
