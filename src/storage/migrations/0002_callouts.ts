import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Callouts, the trades attributed to them and their traders. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // One sequence numbers callouts and trades alike, so that a single number marks how much of both a list has seen.
  yield* sql`create sequence callout_ledger`
  yield* sql`
    create table callouts (
      id                          text collate "C" primary key,
      seq                         bigint not null unique default nextval('callout_ledger'),
      mint                        text collate "C" not null,
      body                        text not null,
      token_symbol                text,
      token_name                  text,
      token_image_url             text,
      price_usd_at_create         numeric,
      creator_id                  text not null,
      creator_username            text not null,
      creator_display_name        text not null,
      creator_avatar_url          text,
      created_at                  timestamptz(3) not null,
      expires_at                  timestamptz(3) not null,
      click_count                 bigint not null default 0,
      trader_count                bigint not null default 0,
      attributed_volume_usd_nanos numeric not null default 0,
      earned_usd_nanos            numeric not null default 0,
      points_awarded              numeric not null default 0,
      is_removed                  boolean not null default false,
      is_listed                   boolean not null default true
    )
  `
  yield* sql`create index callouts_recent on callouts (created_at, id) where is_listed`
  yield* sql`create index callouts_top on callouts (attributed_volume_usd_nanos, id) where is_listed`
  yield* sql`create index callouts_recent_of_mint on callouts (mint, created_at, id) where is_listed`
  yield* sql`create index callouts_top_of_mint on callouts (mint, attributed_volume_usd_nanos, id) where is_listed`
  yield* sql`create index callouts_expiring on callouts (expires_at) where is_listed`
  yield* sql`
    create table callout_trades (
      trade_id         text collate "C" primary key,
      seq              bigint not null unique default nextval('callout_ledger'),
      callout_id       text collate "C" not null references callouts,
      volume_usd_nanos numeric not null
    )
  `
  yield* sql`
    create table callout_traders (
      callout_id text collate "C" not null references callouts,
      trader     text collate "C" not null,
      primary key (callout_id, trader)
    )
  `
})
