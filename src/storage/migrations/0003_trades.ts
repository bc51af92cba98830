import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Trades by day, the launches beside them, the candles made of them, and how far each chain is stored. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Progress and the ends of closed bars are null before the first block.
  yield* sql`
    create table chains (
      id            integer generated always as identity primary key,
      genesis       text collate "C" not null unique,
      is_sandbox    boolean not null,
      slot          integer,
      slot_at       timestamptz(3),
      read_from     timestamptz(3),
      unbroken_from timestamptz(3),
      minutes_to    timestamptz(3),
      hours_to      timestamptz(3),
      days_to       timestamptz(3),
      written_at    timestamptz(3) not null
    )
  `
  // The mint leads the key, so that the table can be spread over machines by token.
  yield* sql`
    create table trades (
      mint             text collate "C" not null,
      chain            integer not null,
      slot             integer not null,
      place            integer not null,
      at               timestamptz(3) not null,
      role             text collate "C" not null,
      signature        text collate "C" not null,
      wallet           text collate "C" not null,
      is_buy           boolean not null,
      amount           numeric not null,
      decimals         smallint,
      lamports         numeric,
      price_usd        double precision,
      volume_usd_nanos numeric,
      pool             text collate "C",
      dex              text collate "C",
      launchpad        text collate "C",
      primary key (mint, chain, slot, place, at)
    ) partition by range (at)
  `
  yield* sql`create index trades_at on trades using brin (at) with (autosummarize = on, pages_per_range = 32)`
  yield* sql`create index trades_of_wallet on trades (wallet, chain, slot desc, place desc) where role <> 'pool'`
  yield* sql`
    create table launches (
      chain     integer not null,
      slot      integer not null,
      place     integer not null,
      at        timestamptz(3) not null,
      event     text collate "C" not null,
      mint      text collate "C" not null,
      launchpad text collate "C" not null,
      pool      text collate "C",
      primary key (chain, slot, place)
    )
  `
  // Closed candles by width in seconds. Prices are null where no trade of the bucket was priced.
  yield* sql`
    create table bars (
      mint             text collate "C" not null,
      chain            integer not null,
      width            integer not null,
      at               timestamptz(3) not null,
      open             double precision,
      high             double precision,
      low              double precision,
      close            double precision,
      trades           bigint not null,
      volume_usd_nanos numeric not null,
      primary key (mint, chain, width, at)
    ) partition by list (width)
  `
  yield* sql`create table minute_bars partition of bars for values in (60) partition by range (at)`
  yield* sql`create table hour_bars partition of bars for values in (3600)`
  yield* sql`create table day_bars partition of bars for values in (86400)`
  yield* sql`create index bars_at on bars using brin (at) with (autosummarize = on, pages_per_range = 32)`
})
