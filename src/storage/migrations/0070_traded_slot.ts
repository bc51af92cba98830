import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The newest slot of a chain with a trade in ClickHouse. A ClickHouse without it has lost its newest trades. Null until the
 * next block is stored.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table chains add column traded_slot integer`
})
