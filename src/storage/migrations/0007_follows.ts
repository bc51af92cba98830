import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Followed wallets by account, and copied trades. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table copy_follows (
      id                  text collate "C" primary key,
      account_id          text collate "C" not null,
      leader_wallet       text collate "C" not null,
      leader_label        text,
      owned_wallet_id     text not null,
      owned_family        text not null,
      owned_address       text not null,
      status              text not null,
      sizing_mode         text not null,
      sizing_amount       numeric,
      sizing_ratio_pct    numeric,
      sizing_max          numeric,
      copies_buys         boolean not null,
      copies_sells        boolean not null,
      min_leader_usd      numeric,
      max_market_cap_usd  numeric,
      slippage_bps        integer not null,
      filled              bigint not null default 0,
      failed              bigint not null default 0,
      skipped             bigint not null default 0,
      last_fill_at        timestamptz(3),
      created_at          timestamptz(3) not null,
      updated_at          timestamptz(3) not null,
      stopped_at          timestamptz(3)
    )
  `
  yield* sql`create index copy_follows_of_account on copy_follows (account_id, created_at, id)`
  yield* sql`
    create table copy_fills (
      id                 text collate "C" primary key,
      follow_id          text collate "C" not null references copy_follows on delete cascade,
      account_id         text collate "C" not null,
      mint               text collate "C" not null,
      side               text not null,
      status             text not null,
      reason             text,
      leader_wallet      text collate "C" not null,
      leader_signature   text not null,
      leader_slot        bigint not null,
      leader_at          timestamptz(3) not null,
      leader_price_usd   numeric,
      leader_usd_nanos   numeric,
      signature          text,
      slot               bigint,
      executed_at        timestamptz(3),
      in_mint            text collate "C",
      in_amount          numeric,
      out_mint           text collate "C",
      out_amount         numeric,
      price_usd          numeric,
      usd_nanos          numeric,
      fee_usd_nanos      numeric
    )
  `
  yield* sql`create index copy_fills_of_account on copy_fills (account_id, leader_at, id)`
  yield* sql`create index copy_fills_of_follow on copy_fills (follow_id, leader_at, id)`
  yield* sql`
    create index copy_fills_filled on copy_fills (account_id, follow_id, mint, slot) where status = 'filled'
  `
})
