import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Wallets by the owner that a source names. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create index wallet_identities_of_owner on wallet_identities (source, (record ->> 'owner'))
    where record ->> 'owner' is not null
  `
})
