import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Adds the slot of the last deployment of a program that had no wrong swap. It is unknown where one was wrong. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table program_proofs add column sound_slot integer`
  yield* sql`update program_proofs set sound_slot = known_slot where wrong is null or wrong = 0`
})
