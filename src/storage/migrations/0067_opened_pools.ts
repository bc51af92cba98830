import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the newest pools among the changes of liquidity. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index liquidity_events_opened on liquidity_events (chain, at) where opens_pool`
})
