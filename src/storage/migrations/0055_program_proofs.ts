import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Deployments of AMM programs: that of the last proof of its prices or, without one, the first that was seen. A slot is null
 * under a loader that keeps none, and the columns of the proof are null together.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table program_proofs (
      genesis text not null,
      program_id text not null,
      known_slot integer,
      proof_slot integer,
      proof_at timestamptz(3),
      sha256 text,
      pools integer,
      exact integer,
      refused integer,
      wrong integer,
      primary key (genesis, program_id)
    )
  `
})
