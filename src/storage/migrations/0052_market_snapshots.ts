import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The number of repairs that have changed stored trades, and the newest snapshot of what memory makes of them. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table chains add column repairs integer not null default 0`
  yield* sql`
    create table market_snapshots (
      chain   integer primary key,
      id      text not null,
      layout  text not null,
      slot    integer not null,
      slot_at timestamptz(3) not null,
      repairs integer not null,
      parts   integer not null,
      size    bigint not null,
      bytes   bigint not null
    )
  `
  yield* sql`
    create table market_snapshot_parts (
      chain    integer not null,
      snapshot text not null,
      number   integer not null,
      content  bytea not null,
      primary key (chain, snapshot, number)
    )
  `
  // Compressed already.
  yield* sql`alter table market_snapshot_parts alter column content set storage external`
})
