import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Trades that were read from the transactions of single wallets, and the progress of each wallet. They go with their chain. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table wallet_history (like trade_rows including defaults)`
  yield* sql`
    alter table wallet_history
      add primary key (chain, wallet, slot, place),
      add foreign key (chain) references chains (id) on delete cascade
  `
  yield* sql`
    create table wallet_backfills (
      chain      integer not null references chains (id) on delete cascade,
      wallet     text collate "C" not null,
      state      text not null,
      progress   jsonb not null,
      version    integer not null default 0,
      asked_at   timestamptz(3) not null,
      stepped_at timestamptz(3) not null,
      changed_at timestamptz(3) not null,
      primary key (chain, wallet)
    )
  `
  yield* sql`create index wallet_backfills_waiting on wallet_backfills (chain, stepped_at) where state = 'running'`
  yield* sql`create index wallet_backfills_changed on wallet_backfills (chain, changed_at)`
})
