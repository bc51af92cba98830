import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Addresses that keys were used from, and the audit of plans. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table key_addresses (
      key_id        text collate "C" not null,
      address       text collate "C" not null,
      first_used_at timestamptz not null,
      primary key (key_id, address)
    )
  `
  yield* sql`create index key_addresses_by_time on key_addresses (first_used_at)`
  yield* sql`
    create table plan_audit (
      seq    bigint generated always as identity primary key,
      at     timestamptz not null,
      actor  text not null,
      action text not null,
      plan   text collate "C" not null,
      detail text not null
    )
  `
  yield* sql`create index plan_audit_by_time on plan_audit (at)`
})
