import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What providers added to pools and took from them. Of a chain that has blocks already it is known from its newest
 * block on.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table liquidity_events (
      chain         integer not null,
      slot          integer not null,
      place         integer not null,
      at            timestamptz(3) not null,
      signature     bytea not null,
      is_added      boolean not null,
      opens_pool    boolean not null,
      includes_fees boolean not null,
      pool          bytea not null,
      dex           text collate "C" not null,
      provider      bytea,
      mint_a        bytea,
      mint_b        bytea,
      amount_a      numeric(20),
      amount_b      numeric(20),
      decimals_a    smallint,
      decimals_b    smallint,
      primary key (chain, slot, place)
    )
  `
  yield* sql`create index liquidity_events_mint_a on liquidity_events (chain, mint_a, slot, place)`
  yield* sql`create index liquidity_events_mint_b on liquidity_events (chain, mint_b, slot, place)`
  yield* sql`create index liquidity_events_pool on liquidity_events (chain, pool, slot, place)`
  yield* sql`create index liquidity_events_at on liquidity_events using brin (at) with (autosummarize = on, pages_per_range = 32)`
  yield* sql`alter table chains add column liquidity_from timestamptz(3)`
  yield* sql`update chains set liquidity_from = slot_at`
})
