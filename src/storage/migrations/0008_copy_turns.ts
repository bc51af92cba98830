import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The turn in which each copy of a follow was filled, so that new ones can be selected. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create sequence copy_generation`
  yield* sql`alter table copy_follows add column generation bigint not null default nextval('copy_generation')`
  yield* sql`alter table copy_fills add column turn bigint`
  yield* sql`
    update copy_fills set turn = counted.turn
    from (
      select id, row_number() over (partition by follow_id order by slot, leader_slot, id) as turn
      from copy_fills where status = 'filled'
    ) as counted
    where copy_fills.id = counted.id
  `
  yield* sql`create unique index copy_fills_in_turn on copy_fills (follow_id, turn) where turn is not null`
})
