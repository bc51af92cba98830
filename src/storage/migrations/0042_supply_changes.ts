import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Mints and burns by block, and the time from which on a chain has them: later than the blocks that are stored already. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table supply_changes (
      chain  integer not null,
      mint   bytea not null,
      slot   integer not null,
      at     timestamptz(3) not null,
      change numeric(40) not null,
      primary key (chain, mint, slot)
    )
  `
  yield* sql`create index supply_changes_at on supply_changes using brin (at) with (autosummarize = on, pages_per_range = 32)`
  // Null for a chain whose every stored block has them.
  yield* sql`alter table chains add column supply_from timestamptz(3)`
  yield* sql`update chains set supply_from = slot_at + interval '1 second' where slot_at is not null`
})
