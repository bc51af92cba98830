import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Pools of whole programs by mint. Until `is_whole`, pools of a program are missing; it is known up to the slot `through`, by the
 * conditions of `listing`. Addresses are 32 bytes; `seen_slot` is that of the snapshot or of the write that showed the pool last.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table indexed_programs (
      id smallint generated always as identity primary key,
      program_id text not null unique,
      genesis text not null,
      listing text not null,
      is_whole boolean not null default false,
      through integer not null default 0
    )
  `
  yield* sql`
    create table indexed_pools (
      mint bytea not null,
      pool bytea not null,
      program smallint not null,
      seen_slot integer not null,
      primary key (mint, pool)
    )
  `
})
