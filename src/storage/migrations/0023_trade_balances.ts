import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The front-end fee of a trade, and the units that its wallet held before and after its transaction; null where they are not known. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table trades
      add column fee_usd_nanos numeric,
      add column fee_unknown boolean not null default false,
      add column held_before numeric,
      add column held_after numeric
  `
})
