import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Trades in 64-bit integers, bytes and numbers of names instead of numerics and texts. `trades` becomes a view of them. Trades
 * of the older table wait in `old_trades`, which is converted and dropped at the start of the trade store.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Mints, pools, venues and launchpads. Wallets, of which there are far more, are in the rows.
  yield* sql`
    create table trade_names (
      id   integer generated always as identity primary key,
      name text collate "C" not null unique
    )
  `
  // Amounts are u64 in the two's complement of a bigint. A signature of 64 bytes is raw, any other text is UTF-8. The widest
  // columns come first, so that none is padded. Each day has a unique index on (chain, slot, place) of its own, without `at`,
  // which a unique index of the whole table would have to contain.
  yield* sql`
    create table trade_rows (
      at               timestamptz(3) not null,
      amount           bigint not null,
      lamports         bigint,
      price_usd        double precision,
      volume_usd_nanos bigint,
      sol_usd_nanos    bigint,
      fee_usd_nanos    bigint,
      held_before      bigint,
      held_after       bigint,
      chain            integer not null,
      slot             integer not null,
      place            integer not null,
      mint             integer not null,
      pool             integer,
      dex              integer,
      launchpad        integer,
      role             smallint not null,
      decimals         smallint,
      is_buy           boolean not null,
      fee_unknown      boolean not null default false,
      wallet           bytea not null,
      signature        bytea not null
    ) partition by range (at)
  `
  yield* sql`create index trade_rows_of_mint on trade_rows (mint, chain, slot, place)`
  // Seven bytes of the wallet and the rest of the key fill an index entry of 24 bytes; the query compares the whole wallet.
  yield* sql`
    create index trade_rows_of_wallet on trade_rows (substr(wallet, 1, 7), slot, place) where role <> 0
  `
  // Several ranges of time for each range of pages: blocks read late lie among those of another time.
  yield* sql`
    create index trade_rows_at on trade_rows using brin (at timestamptz_minmax_multi_ops)
    with (autosummarize = on, pages_per_range = 32)
  `
  yield* sql`alter table trades rename to old_trades`
  yield* sql`
    do $$ begin
      if not exists (select from pg_inherits where inhparent = 'old_trades'::regclass) then
        drop table old_trades;
      end if;
    end $$
  `
  yield* sql`
    create view trades as
    select
      mints.name as mint, chain, slot, place, at,
      case role when 0 then 'pool' when 1 then 'wallet' else 'both' end as role,
      signature, wallet, is_buy,
      case when amount < 0 then amount + 18446744073709551616 else amount::numeric end as amount,
      decimals,
      case when lamports < 0 then lamports + 18446744073709551616 else lamports::numeric end as lamports,
      price_usd,
      case when volume_usd_nanos < 0 then volume_usd_nanos + 18446744073709551616 else volume_usd_nanos::numeric end
        as volume_usd_nanos,
      case when sol_usd_nanos < 0 then sol_usd_nanos + 18446744073709551616 else sol_usd_nanos::numeric end
        as sol_usd_nanos,
      case when fee_usd_nanos < 0 then fee_usd_nanos + 18446744073709551616 else fee_usd_nanos::numeric end
        as fee_usd_nanos,
      fee_unknown,
      case when held_before < 0 then held_before + 18446744073709551616 else held_before::numeric end
        as held_before,
      case when held_after < 0 then held_after + 18446744073709551616 else held_after::numeric end
        as held_after,
      pools.name as pool, venues.name as dex, launchpads.name as launchpad
    from trade_rows
    join trade_names as mints on mints.id = mint
    left join trade_names as pools on pools.id = pool
    left join trade_names as venues on venues.id = dex
    left join trade_names as launchpads on launchpads.id = launchpad
  `
})
