import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Holders and concentration of tokens by hour. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table holder_snapshots (
      chain       integer not null,
      mint        bytea not null,
      hour        timestamptz(3) not null,
      at          timestamptz(3) not null,
      slot        integer not null,
      holders     integer not null,
      held        numeric(40) not null,
      top10       numeric(40) not null,
      top50       numeric(40) not null,
      excluded    numeric(40) not null,
      pools_known boolean not null,
      primary key (chain, mint, hour)
    )
  `
  yield* sql`create index holder_snapshots_hour on holder_snapshots using brin (hour) with (autosummarize = on, pages_per_range = 32)`
})
