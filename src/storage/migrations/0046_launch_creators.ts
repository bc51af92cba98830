import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The creator of a launch, as its launchpad names it; null for launches that were stored before. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table launches add column creator text collate "C"`
})
