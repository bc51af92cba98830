import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Identities of wallets by source. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table wallet_identities (
      wallet text collate "C" not null,
      source text collate "C" not null,
      record jsonb not null,
      primary key (wallet, source)
    )
  `
  yield* sql`create index wallet_identities_of_source on wallet_identities (source)`
})
