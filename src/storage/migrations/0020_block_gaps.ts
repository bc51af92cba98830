import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Gaps between stored blocks one by one, in place of the time since the last one; and the oldest stored block. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table block_gaps (
      chain       integer not null,
      from_slot   integer not null,
      to_slot     integer not null,
      from_at     timestamptz(3) not null,
      to_at       timestamptz(3) not null,
      state       text collate "C" not null,
      tries       integer not null,
      next_try_at timestamptz(3) not null,
      primary key (chain, from_slot)
    )
  `
  // The slots of earlier gaps are unknown, so everything before the last of them counts as one.
  yield* sql`
    insert into block_gaps (chain, from_slot, to_slot, from_at, to_at, state, tries, next_try_at)
    select id, 0, 0, read_from, unbroken_from - interval '1 second', 'unavailable', 0, to_timestamp(0)
    from chains where read_from < unbroken_from
  `
  yield* sql`alter table chains add column first_slot integer`
  // The oldest block of earlier versions is unknown; reading stored blocks again changes nothing.
  yield* sql`update chains set first_slot = slot`
  yield* sql`alter table chains drop column unbroken_from`
})
