import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Authorities of tokens with an alert on their changes, as they were seen last, and the times of changes, the oldest first. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table token_authorities (
      mint text primary key,
      slot bigint not null,
      mint_authority text,
      freeze_authority text,
      changes_ms bigint[] not null,
      seen_at timestamptz(3) not null
    )
  `
  yield* sql`create index token_authorities_changed on token_authorities (mint) where cardinality(changes_ms) > 0`
})
