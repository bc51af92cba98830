import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Rows of transfers (role 3) are beside the trades, and not in their view. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create or replace view trades as
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
    where role <> 3
  `
})
