import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Ended sessions are kept for a day, so that a process that missed the end can find it; sign-ins begun at a provider. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table sessions add column ended_at timestamptz`
  yield* sql`create index sessions_by_end on sessions (ended_at) where ended_at is not null`
  yield* sql`
    create table pending_sign_ins (
      secret_hash text collate "C" primary key,
      expires_at  timestamptz not null
    )
  `
  yield* sql`create index pending_sign_ins_by_expiry on pending_sign_ins (expires_at)`
})
