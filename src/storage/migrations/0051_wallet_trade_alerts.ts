import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Alerts on the trades of a wallet: their target, their counts, and the trade of each firing, of which there is one. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table alerts
      alter column mint drop not null,
      add column wallet          text collate "C",
      add column side            text,
      add column counted_to      bigint not null default 0,
      add column left_out        integer not null default 0,
      add column left_out_stated integer not null default 0,
      add column unvalued        integer not null default 0
  `
  yield* sql`alter table alert_events add column trade jsonb`
  yield* sql`
    create unique index alert_events_of_trade on alert_events (alert_id, (trade ->> 'signature'), (trade ->> 'index'))
    where trade is not null
  `
})
