import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Functions that the views use: amounts above 2^63, and bytes as the text that they stand for. */
const functions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function fathom_read.units(stored bigint) returns numeric language sql immutable parallel safe as $$
      select case when stored < 0 then stored + 18446744073709551616 else stored::numeric end
    $$
  `
  yield* sql`
    create function fathom_read.nanos(stored bigint) returns numeric language sql immutable parallel safe as $$
      select fathom_read.units(stored) * 0.000000001
    $$
  `
  // Six bytes at a time go into a numeric, and ten digits at a time come out of it: a step on a numeric is slow.
  yield* sql`
    create function fathom_read.base58(bytes bytea) returns text language plpgsql immutable strict parallel safe as $$
    declare
      digits constant text := '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
      length constant int := octet_length(bytes);
      value numeric := 0;
      part bigint;
      place int := 1;
      width int;
      found text := '';
    begin
      while place <= length loop
        width := least(6, length - place + 1);
        part := ('x' || lpad(encode(substr(bytes, place, width), 'hex'), 16, '0'))::bit(64)::bigint;
        value := value * (1::bigint << (8 * width)) + part;
        place := place + width;
      end loop;
      while value > 0 loop
        part := mod(value, 430804206899405824)::bigint;
        value := div(value, 430804206899405824);
        for step in 1..10 loop
          exit when value = 0 and part = 0;
          found := substr(digits, (part % 58)::int + 1, 1) || found;
          part := part / 58;
        end loop;
      end loop;
      place := 0;
      while place < length and get_byte(bytes, place) = 0 loop
        found := '1' || found;
        place := place + 1;
      end loop;
      return found;
    end
    $$
  `
  // Bytes of another length are UTF-8, with a zero at the end where they would have this length.
  yield* sql`
    create function fathom_read.text_of(bytes bytea, size int) returns text language sql immutable parallel safe as $$
      select case
        when octet_length(bytes) = size then fathom_read.base58(bytes)
        when octet_length(bytes) = size + 1 and get_byte(bytes, size) = 0
          then convert_from(substr(bytes, 1, size), 'UTF8')
        else convert_from(bytes, 'UTF8')
      end
    $$
  `
})

/** Columns that pool swaps and trades of wallets share, in the order of an export. */
export const OF_TRADES = `
  chains.genesis as chain, slot, place as index, at as time, fathom_read.text_of(signature, 64) as signature,
  fathom_read.text_of(wallet, 32) as wallet, mints.name as mint, case when is_buy then 'buy' else 'sell' end as side,
  fathom_read.units(amount) as amount, decimals, fathom_read.units(lamports) as lamports, others.name as other_mint,
  fathom_read.units(other_amount) as other_amount, other_decimals, price_usd,
  fathom_read.nanos(volume_usd_nanos) as volume_usd, fathom_read.nanos(sol_usd_nanos) as sol_usd, pools.name as pool,
  venues.name as dex, launchpads.name as launchpad`

export const FROM_TRADES = `
  from trade_rows as stored
  join lateral (select genesis from chains where id = stored.chain) as chains on true
  join trade_names as mints on mints.id = mint
  left join trade_names as others on others.id = other_mint
  left join trade_names as pools on pools.id = pool
  left join trade_names as venues on venues.id = dex
  left join trade_names as launchpads on launchpads.id = launchpad`

const views = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create view fathom_read.trades as select ${sql.literal(OF_TRADES)} ${sql.literal(FROM_TRADES)} where role in (0, 2)`
  yield* sql`
    create view fathom_read.wallets as
    select ${sql.literal(OF_TRADES)}, role = 3 as is_transfer, fathom_read.units(held_before) as held_before,
      fathom_read.units(held_after) as held_after,
      case when fee_unknown then null else coalesce(fathom_read.nanos(fee_usd_nanos), 0) end as fee_usd,
      fathom_read.units(priority_lamports) as priority_lamports, fathom_read.units(tip_lamports) as tip_lamports
    ${sql.literal(FROM_TRADES)} where role in (1, 2, 3)
  `
  yield* sql`
    create view fathom_read.bars as
    select chains.genesis as chain, case width when 60 then '1m' when 3600 then '1h' else '1d' end as width, mint,
      at as time, open as open_usd, high as high_usd, low as low_usd, close as close_usd, open_sol, high_sol, low_sol,
      close_sol, volume_usd_nanos * 0.000000001 as volume_usd, volume_lamports * 0.000000001 as volume_sol, trades,
      buys, traders, revision
    from bars join chains on chains.id = chain
  `
  yield* sql`
    create view fathom_read.launches as
    select chains.genesis as chain, launches.slot, place as index, at as time, event, mint, launchpad, pool, creator
    from launches join chains on chains.id = chain
  `
  yield* sql`
    create view fathom_read.gaps as
    select chains.genesis as chain, from_slot, to_slot, from_at as from_time, to_at as to_time, state
    from block_gaps join chains on chains.id = chain
  `
  yield* sql`
    create view fathom_read.chains as
    select genesis as chain, is_sandbox, first_slot, read_from as first_time, slot as last_slot, slot_at as last_time
    from chains
  `
})

/** Views for people and programs that read the database. Their columns are the columns of exports. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create schema fathom_read`
  yield* functions
  yield* views
})
