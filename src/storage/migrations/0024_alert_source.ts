import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The source of the price that an alert watches. Earlier alerts watch every swap. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table alerts add column source text not null default 'swap'`
  yield* sql`alter table alert_events add column source text not null default 'swap'`
})
