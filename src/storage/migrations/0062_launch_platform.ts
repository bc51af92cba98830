import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The platform of a launch on a program that several platforms share. Null for launches stored before it was read. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table launches add column platform text collate "C"`
})
