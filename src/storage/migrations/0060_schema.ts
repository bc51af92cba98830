import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** API keys, their plans and audits, and secrets of the service. */
const keys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // `pepper_id` names the pepper of the hash. It is null for hashes older than the names of peppers.
  yield* sql`
    create table api_keys (
      id           text collate "C" primary key,
      seq          bigint generated always as identity,
      account_id   text collate "C" not null,
      name         text not null,
      secret_hash  text collate "C" not null unique,
      prefix       text not null,
      last_four    text not null,
      scopes       text[] not null,
      ip_policy    text[],
      created_at   timestamptz not null,
      last_used_at timestamptz,
      disabled_at  timestamptz,
      revoked_at   timestamptz,
      changed_at   timestamptz not null default now(),
      plan         text collate "C" not null default 'default',
      expires_at   timestamptz,
      replaced_by  text collate "C",
      pepper_id    text
    )
  `
  yield* sql`create index api_keys_of_account on api_keys (account_id, seq desc)`
  yield* sql`create index api_keys_changed on api_keys (changed_at)`
  yield* sql`create index api_keys_by_expiry on api_keys (expires_at) where expires_at is not null`
  yield* sql`create table service_secrets (name text primary key, value text not null)`
  // The plan `default` is a constant in the code and has no row.
  yield* sql`
    create table plans (
      name            text collate "C" primary key,
      rest            integer not null,
      quote           integer not null,
      window_seconds  integer not null,
      streams         integer not null,
      sockets         integer not null,
      tracked_wallets integer not null,
      alerts          integer not null
    )
  `
  yield* sql`
    create table key_audit (
      seq        bigint generated always as identity primary key,
      at         timestamptz not null,
      account_id text collate "C" not null,
      key_id     text collate "C" not null,
      actor      text not null,
      action     text not null,
      address    text,
      detail     text
    )
  `
  yield* sql`create index key_audit_of_account on key_audit (account_id, seq desc)`
  yield* sql`create index key_audit_by_time on key_audit (at)`
  yield* sql`
    create table plan_audit (
      seq    bigint generated always as identity primary key,
      at     timestamptz not null,
      actor  text not null,
      action text not null,
      plan   text collate "C" not null,
      detail text not null
    )
  `
  yield* sql`create index plan_audit_by_time on plan_audit (at)`
  // Addresses that a key was used from.
  yield* sql`
    create table key_addresses (
      key_id        text collate "C" not null,
      address       text collate "C" not null,
      first_used_at timestamptz not null,
      primary key (key_id, address)
    )
  `
  yield* sql`create index key_addresses_by_time on key_addresses (first_used_at)`
})

/**
 * Usage of keys by UTC day and operation, the last batch that each process added, and requests by idempotency key.
 */
const usage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table key_usage (
      account_id text collate "C" not null,
      key_id     text collate "C" not null,
      day        date not null,
      operation  text collate "C" not null,
      requests   bigint not null,
      units      bigint not null,
      errors     bigint not null,
      bytes      bigint not null,
      stream_ms  bigint not null,
      primary key (key_id, day, operation)
    )
  `
  yield* sql`create index key_usage_of_account on key_usage (account_id, day desc)`
  yield* sql`create index key_usage_by_day on key_usage (day)`
  yield* sql`
    create table usage_writers (
      id  text collate "C" primary key,
      seq bigint not null,
      at  timestamptz not null
    )
  `
  yield* sql`
    create table idempotency_keys (
      key_id          text collate "C" not null,
      idempotency_key text collate "C" not null,
      digest          text collate "C" not null,
      holder          text collate "C" not null,
      held_until      timestamptz(3) not null,
      expires_at      timestamptz(3) not null,
      status          smallint,
      body            text,
      primary key (key_id, idempotency_key)
    )
  `
  yield* sql`create index idempotency_keys_expiring on idempotency_keys (expires_at)`
})

/**
 * Accounts, their identities at OpenID providers, sign-in links, sessions, and sign-ins that have begun at a
 * provider.
 */
const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table accounts (
      id          text collate "C" primary key,
      name        text not null,
      role        text not null,
      created_at  timestamptz not null,
      disabled_at timestamptz
    )
  `
  yield* sql`
    create table account_identities (
      issuer     text collate "C" not null,
      subject    text collate "C" not null,
      account_id text collate "C" not null references accounts (id),
      primary key (issuer, subject)
    )
  `
  yield* sql`
    create table sign_in_links (
      token_hash text collate "C" primary key,
      account_id text collate "C" not null references accounts (id),
      expires_at timestamptz not null,
      used_at    timestamptz
    )
  `
  yield* sql`create index sign_in_links_by_expiry on sign_in_links (expires_at)`
  // Ended sessions stay for a day, so that a process that missed the end can find it.
  yield* sql`
    create table sessions (
      secret_hash  text collate "C" primary key,
      account_id   text collate "C" not null references accounts (id),
      created_at   timestamptz not null,
      last_used_at timestamptz not null,
      expires_at   timestamptz not null,
      ended_at     timestamptz
    )
  `
  yield* sql`create index sessions_of_account on sessions (account_id)`
  yield* sql`create index sessions_by_expiry on sessions (expires_at)`
  yield* sql`create index sessions_by_end on sessions (ended_at) where ended_at is not null`
  yield* sql`
    create table pending_sign_ins (
      secret_hash text collate "C" primary key,
      expires_at  timestamptz not null
    )
  `
  yield* sql`create index pending_sign_ins_by_expiry on pending_sign_ins (expires_at)`
})

/** Callouts, the trades attributed to them, and their traders. */
const callouts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Callouts and trades share one sequence, so a single number marks how much of both a list has seen.
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

/** How far each chain is stored, its gaps, and which process may write. */
const chains = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Progress and the ends of closed bars are null before the first block. `supply_from` is the time of the first
  // block with supply changes; null when every stored block has them. `repairs` counts the repairs that changed
  // stored trades. `term` is the number of the last process that claimed to be the only writer: writes with an
  // earlier term are refused.
  yield* sql`
    create table chains (
      id          integer generated always as identity primary key,
      genesis     text collate "C" not null unique,
      is_sandbox  boolean not null,
      slot        integer,
      slot_at     timestamptz(3),
      read_from   timestamptz(3),
      minutes_to  timestamptz(3),
      hours_to    timestamptz(3),
      days_to     timestamptz(3),
      written_at  timestamptz(3) not null,
      first_slot  integer,
      supply_from timestamptz(3),
      repairs     integer not null default 0,
      term        bigint not null default 0
    )
  `
  yield* sql`
    create table block_gaps (
      chain       integer not null,
      from_slot   integer not null,
      to_slot     integer not null,
      from_at     timestamptz(3) not null,
      to_at       timestamptz(3) not null,
      state       text collate "C" not null,
      tries       integer not null,
      next_try_at timestamptz(3) not null,
      primary key (chain, from_slot)
    )
  `
  // Like `chains.term`, for other groups of tables that have one writer.
  yield* sql`
    create table writer_terms (
      name text primary key,
      term bigint not null
    )
  `
  yield* sql`
    create table market_snapshots (
      chain   integer primary key,
      id      text not null,
      layout  text not null,
      slot    integer not null,
      slot_at timestamptz(3) not null,
      repairs integer not null,
      parts   integer not null,
      size    bigint not null,
      bytes   bigint not null
    )
  `
  yield* sql`
    create table market_snapshot_parts (
      chain    integer not null,
      snapshot text not null,
      number   integer not null,
      content  bytea not null,
      primary key (chain, snapshot, number)
    )
  `
  // The content is already compressed.
  yield* sql`alter table market_snapshot_parts alter column content set storage external`
})

/** Trades by day. They are stored as 64-bit integers, bytes, and numbers that refer to names. */
const trades = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Mints, pools, venues and launchpads. There are far more wallets, so the trade rows hold those directly.
  yield* sql`
    create table trade_names (
      id   integer generated always as identity primary key,
      name text collate "C" not null unique
    )
  `
  // Amounts are u64 in the two's complement of a bigint. A signature of 64 bytes is raw, any other text is UTF-8. The
  // widest columns come first, so that none is padded; columns that were added later stand at the end. Each day has
  // its own unique index on (chain, slot, place) without `at`: a unique index on the whole table would have to
  // contain it. Rows with role 3 are transfers. `fee_lamports` is a front end's fee that was paid in SOL alone; it
  // allows pricing the trade again. `other_...` is the other side of a swap of two tokens, when neither is SOL or a
  // dollar.
  yield* sql`
    create table trade_rows (
      at                timestamptz(3) not null,
      amount            bigint not null,
      lamports          bigint,
      price_usd         double precision,
      volume_usd_nanos  bigint,
      sol_usd_nanos     bigint,
      fee_usd_nanos     bigint,
      held_before       bigint,
      held_after        bigint,
      chain             integer not null,
      slot              integer not null,
      place             integer not null,
      mint              integer not null,
      pool              integer,
      dex               integer,
      launchpad         integer,
      role              smallint not null,
      decimals          smallint,
      is_buy            boolean not null,
      fee_unknown       boolean not null default false,
      wallet            bytea not null,
      signature         bytea not null,
      fee_lamports      bigint,
      priority_lamports bigint,
      tip_lamports      bigint,
      other_amount      bigint,
      other_mint        integer,
      other_decimals    smallint
    ) partition by range (at)
  `
  yield* sql`create index trade_rows_of_mint on trade_rows (mint, chain, slot, place)`
  // Seven bytes of the wallet and the rest of the key fill an index entry of 24 bytes. The query compares the whole
  // wallet.
  yield* sql`create index trade_rows_of_wallet on trade_rows (substr(wallet, 1, 7), slot, place) where role <> 0`
  // Several time ranges for each range of pages, because blocks that were read late lie among blocks of another time.
  yield* sql`
    create index trade_rows_at on trade_rows using brin (at timestamptz_minmax_multi_ops)
    with (autosummarize = on, pages_per_range = 32)
  `
  yield* sql`create index trade_rows_of_two on trade_rows (chain, slot, place) where other_mint is not null`
  // Trades with their names and exact amounts, for people who read the database.
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
    where role <> 3
  `
  // Trades read from the transactions of single wallets, and the progress of each wallet. They are deleted with their
  // chain.
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

/** Candles, launches, and mints and burns by block. */
const candles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Closed candles by width in seconds. Prices are null when no trade of the bucket was priced; everything from `open_sol` to
  // `traders` is null in rows that were stored before those columns existed.
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
      open_sol         double precision,
      high_sol         double precision,
      low_sol          double precision,
      close_sol        double precision,
      volume_lamports  numeric,
      buys             bigint,
      buy_usd_nanos    numeric,
      buy_lamports     numeric,
      traders          integer,
      revision         integer not null default 0,
      primary key (mint, chain, width, at)
    ) partition by list (width)
  `
  yield* sql`create table minute_bars partition of bars for values in (60) partition by range (at)`
  yield* sql`create table hour_bars partition of bars for values in (3600)`
  yield* sql`create table day_bars partition of bars for values in (86400)`
  yield* sql`create index bars_at on bars using brin (at) with (autosummarize = on, pages_per_range = 32)`
  yield* sql`create index bars_revised on bars (chain, at) where revision > 0`
  // `creator` is the creator that the launchpad names; null for launches stored before it was read.
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
      creator   text collate "C",
      primary key (chain, slot, place)
    )
  `
  yield* sql`
    create table supply_changes (
      chain  integer not null,
      mint   bytea not null,
      slot   integer not null,
      at     timestamptz(3) not null,
      change numeric(40) not null,
      primary key (chain, mint, slot)
    )
  `
  yield* sql`create index supply_changes_at on supply_changes using brin (at) with (autosummarize = on, pages_per_range = 32)`
})

/** Identities of wallets by source, and the wallets that accounts track. */
const wallets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table wallet_identities (
      wallet text collate "C" not null,
      source text collate "C" not null,
      record jsonb not null,
      primary key (wallet, source)
    )
  `
  yield* sql`create index wallet_identities_of_source on wallet_identities (source)`
  yield* sql`
    create index wallet_identities_of_owner on wallet_identities (source, (record ->> 'owner'))
    where record ->> 'owner' is not null
  `
  // One row per account. A change of the account locks the row and increases its revision.
  yield* sql`create sequence tracker_revision`
  yield* sql`
    create table tracker_accounts (
      account_id text collate "C" primary key,
      revision   bigint not null,
      changed_at timestamptz(3) not null default now()
    )
  `
  yield* sql`create index tracker_accounts_changed on tracker_accounts (changed_at)`
  // A group's id is unique within its account, so every account has its own `grp_main`.
  yield* sql`
    create table tracker_groups (
      account_id text collate "C" not null references tracker_accounts,
      group_id   text collate "C" not null,
      name       text not null,
      is_main    boolean not null,
      created_at timestamptz(3) not null,
      primary key (account_id, group_id)
    )
  `
  yield* sql`
    create table tracked_wallets (
      account_id    text collate "C" not null references tracker_accounts,
      wallet        text collate "C" not null,
      label         text,
      emoji         text,
      notes         text,
      added_at      timestamptz(3) not null,
      last_event_at timestamptz(3),
      primary key (account_id, wallet)
    )
  `
  yield* sql`create index tracked_wallets_of_wallet on tracked_wallets (wallet)`
  // A wallet's primary group is the one with the lowest seq.
  yield* sql`
    create table tracked_wallet_groups (
      account_id text collate "C" not null,
      wallet     text collate "C" not null,
      group_id   text collate "C" not null,
      seq        bigint generated always as identity,
      primary key (account_id, wallet, group_id),
      foreign key (account_id, wallet) references tracked_wallets on delete cascade,
      foreign key (account_id, group_id) references tracker_groups
    )
  `
  yield* sql`create index tracked_wallet_groups_of_group on tracked_wallet_groups (account_id, group_id)`
})

/** Wallets whose trades an account copies, and the copies. */
const copies = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create sequence copy_generation`
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
      stopped_at          timestamptz(3),
      generation          bigint not null default nextval('copy_generation')
    )
  `
  yield* sql`create index copy_follows_of_account on copy_follows (account_id, created_at, id)`
  // `turn` numbers the turn in which a follow's copy was filled, so that new fills can be selected.
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
      fee_usd_nanos      numeric,
      turn               bigint
    )
  `
  yield* sql`create index copy_fills_of_account on copy_fills (account_id, leader_at, id)`
  yield* sql`create index copy_fills_of_follow on copy_fills (follow_id, leader_at, id)`
  yield* sql`create index copy_fills_filled on copy_fills (account_id, follow_id, mint, slot) where status = 'filled'`
  yield* sql`create unique index copy_fills_in_turn on copy_fills (follow_id, turn) where turn is not null`
})

/** Alerts and their progress, their firings, and the authorities of watched tokens. */
const alerts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // An alert watches a `mint` or a `wallet`.
  yield* sql`
    create table alerts (
      id                text collate "C" primary key,
      account_id        text collate "C" not null,
      mint              text collate "C",
      metric            text not null,
      operator          text not null,
      threshold         text not null,
      window_seconds    integer,
      recurrence        text not null,
      cooldown_seconds  integer,
      expires_at        timestamptz(3),
      note              text,
      status            text not null,
      armed             boolean not null,
      cleared           boolean not null,
      mark              bigint not null,
      created_at        timestamptz(3) not null,
      updated_at        timestamptz(3) not null,
      last_triggered_at timestamptz(3),
      trigger_count     integer not null default 0,
      version           integer not null default 1,
      removed_at        timestamptz(3),
      source            text not null default 'swap',
      wallet            text collate "C",
      side              text,
      counted_to        bigint not null default 0,
      left_out          integer not null default 0,
      left_out_stated   integer not null default 0,
      unvalued          integer not null default 0
    )
  `
  yield* sql`create index alerts_of_account on alerts (account_id, created_at, id) where removed_at is null`
  yield* sql`create index alerts_active on alerts (id) include (version) where status = 'active' and removed_at is null`
  yield* sql`create index alerts_removed on alerts (removed_at) where removed_at is not null`
  // Firings outlive their alert, so they refer to it without a foreign key. A trade fires an alert once.
  yield* sql`
    create table alert_events (
      event_id       text collate "C" primary key,
      alert_id       text collate "C" not null,
      account_id     text collate "C" not null,
      mint           text collate "C" not null,
      metric         text not null,
      operator       text not null,
      threshold      text not null,
      window_seconds integer,
      value          text not null,
      observed_at    timestamptz(3) not null,
      fired_at       timestamptz(3) not null,
      source         text not null default 'swap',
      trade          jsonb
    )
  `
  yield* sql`create index alert_events_of_account on alert_events (account_id, fired_at, event_id)`
  yield* sql`create index alert_events_of_alert on alert_events (alert_id, fired_at, event_id)`
  yield* sql`create index alert_events_old on alert_events (fired_at)`
  yield* sql`
    create unique index alert_events_of_trade on alert_events (alert_id, (trade ->> 'signature'), (trade ->> 'index'))
    where trade is not null
  `
  // The last known authorities, and the times of their changes, oldest first.
  yield* sql`
    create table token_authorities (
      mint             text primary key,
      slot             bigint not null,
      mint_authority   text,
      freeze_authority text,
      changes_ms       bigint[] not null,
      seen_at          timestamptz(3) not null
    )
  `
  yield* sql`create index token_authorities_changed on token_authorities (mint) where cardinality(changes_ms) > 0`
})

/** Pools of whole programs by mint, and the proven deployments of programs. */
const pools = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Before `is_whole`, some pools of the program are missing. Its pools are known up to the slot `through`. `listing`
  // holds the conditions that they were searched by.
  yield* sql`
    create table indexed_programs (
      id         smallint generated always as identity primary key,
      program_id text not null unique,
      genesis    text not null,
      listing    text not null,
      is_whole   boolean not null default false,
      through    integer not null default 0,
      entries    integer not null default 0
    )
  `
  // Addresses are 32 bytes. `seen_slot` is the slot of the last snapshot or write that contained the pool.
  yield* sql`
    create table indexed_pools (
      mint      bytea not null,
      pool      bytea not null,
      program   smallint not null,
      seen_slot integer not null,
      primary key (mint, pool)
    )
  `
  yield* sql`create index indexed_pools_program on indexed_pools (program)`
  // The deployment of the last proof, or the first one that was seen when there is no proof. A slot is null under a
  // loader that keeps none. The columns of the proof are null together.
  yield* sql`
    create table program_proofs (
      genesis    text not null,
      program_id text not null,
      known_slot integer,
      proof_slot integer,
      proof_at   timestamptz(3),
      sha256     text,
      pools      integer,
      exact      integer,
      refused    integer,
      wrong      integer,
      primary key (genesis, program_id)
    )
  `
})

/** Creates every table of the service. Later migrations change them. */
export const up = Effect.all(
  [keys, usage, accounts, callouts, chains, trades, candles, wallets, copies, alerts, pools],
  { discard: true }
)
