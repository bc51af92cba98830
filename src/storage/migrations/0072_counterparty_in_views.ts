import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { FROM_TRADES, OF_TRADES } from "./0064_read_views.ts"

/** The wallet at the other end of a transfer, in the view of wallets. A view that is replaced keeps who may read it. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create or replace view fathom_read.wallets as
    select ${sql.literal(OF_TRADES)}, role = 3 as is_transfer, fathom_read.units(held_before) as held_before,
      fathom_read.units(held_after) as held_after,
      case when fee_unknown then null else coalesce(fathom_read.nanos(fee_usd_nanos), 0) end as fee_usd,
      fathom_read.units(priority_lamports) as priority_lamports, fathom_read.units(tip_lamports) as tip_lamports,
      fathom_read.text_of(counterparty, 32) as counterparty
    ${sql.literal(FROM_TRADES)} where role in (1, 2, 3)
  `
})
