import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The transfer of SOL that opened each wallet's account. Of a chain that has blocks already they are known from its newest block
 * on.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table wallet_openings (
      chain     integer not null,
      wallet    bytea not null,
      funder    bytea not null,
      slot      integer not null,
      place     integer not null,
      at        timestamptz(3) not null,
      signature bytea not null,
      lamports  numeric(20) not null,
      primary key (chain, wallet)
    )
  `
  yield* sql`create index wallet_openings_funder on wallet_openings (chain, funder, slot, place)`
  yield* sql`create index wallet_openings_at on wallet_openings using brin (at) with (autosummarize = on, pages_per_range = 32)`
  yield* sql`alter table chains add column openings_from timestamptz(3)`
  yield* sql`update chains set openings_from = slot_at`
})
