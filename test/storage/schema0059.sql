-- The statements with which version 0.1.0 at commit 391aa525 made an empty database: migrations 0001 to 0059, one after the other.

CREATE TABLE "schema_migrations" (
  migration_id integer primary key,
  created_at timestamp with time zone not null default now(),
  name text not null
);

INSERT INTO "schema_migrations" ("migration_id","name") VALUES
  ('1','api_keys'),
  ('2','callouts'),
  ('3','trades'),
  ('4','wallets'),
  ('5','tracker'),
  ('6','alerts'),
  ('7','follows'),
  ('8','copy_turns'),
  ('20','block_gaps'),
  ('21','trade_rows'),
  ('22','bar_details'),
  ('24','alert_source'),
  ('26','fee_lamports'),
  ('27','wallet_history'),
  ('30','accounts'),
  ('31','key_management'),
  ('32','sign_ins'),
  ('36','transfers'),
  ('38','trade_costs'),
  ('40','key_usage'),
  ('41','key_addresses'),
  ('42','supply_changes'),
  ('44','owner_links'),
  ('46','launch_creators'),
  ('50','token_swaps'),
  ('51','wallet_trade_alerts'),
  ('52','market_snapshots'),
  ('53','pool_index'),
  ('54','chain_terms'),
  ('55','program_proofs'),
  ('56','writer_terms'),
  ('57','key_peppers'),
  ('58','token_authorities'),
  ('59','index_entries');

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
  changed_at   timestamptz not null default now()
);

create index api_keys_of_account on api_keys (account_id, seq desc);

create index api_keys_changed on api_keys (changed_at);

create table service_secrets (name text primary key, value text not null);

create sequence callout_ledger;

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
);

create index callouts_recent on callouts (created_at, id) where is_listed;

create index callouts_top on callouts (attributed_volume_usd_nanos, id) where is_listed;

create index callouts_recent_of_mint on callouts (mint, created_at, id) where is_listed;

create index callouts_top_of_mint on callouts (mint, attributed_volume_usd_nanos, id) where is_listed;

create index callouts_expiring on callouts (expires_at) where is_listed;

create table callout_trades (
  trade_id         text collate "C" primary key,
  seq              bigint not null unique default nextval('callout_ledger'),
  callout_id       text collate "C" not null references callouts,
  volume_usd_nanos numeric not null
);

create table callout_traders (
  callout_id text collate "C" not null references callouts,
  trader     text collate "C" not null,
  primary key (callout_id, trader)
);

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
);

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
) partition by range (at);

create index trades_at on trades using brin (at) with (autosummarize = on, pages_per_range = 32);

create index trades_of_wallet on trades (wallet, chain, slot desc, place desc) where role <> 'pool';

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
);

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
) partition by list (width);

create table minute_bars partition of bars for values in (60) partition by range (at);

create table hour_bars partition of bars for values in (3600);

create table day_bars partition of bars for values in (86400);

create index bars_at on bars using brin (at) with (autosummarize = on, pages_per_range = 32);

create table wallet_identities (
  wallet text collate "C" not null,
  source text collate "C" not null,
  record jsonb not null,
  primary key (wallet, source)
);

create index wallet_identities_of_source on wallet_identities (source);

create sequence tracker_revision;

create table tracker_accounts (
  account_id text collate "C" primary key,
  revision   bigint not null,
  changed_at timestamptz(3) not null default now()
);

create index tracker_accounts_changed on tracker_accounts (changed_at);

create table tracker_groups (
  account_id text collate "C" not null references tracker_accounts,
  group_id   text collate "C" not null,
  name       text not null,
  is_main    boolean not null,
  created_at timestamptz(3) not null,
  primary key (account_id, group_id)
);

create table tracked_wallets (
  account_id    text collate "C" not null references tracker_accounts,
  wallet        text collate "C" not null,
  label         text,
  emoji         text,
  notes         text,
  added_at      timestamptz(3) not null,
  last_event_at timestamptz(3),
  primary key (account_id, wallet)
);

create index tracked_wallets_of_wallet on tracked_wallets (wallet);

create table tracked_wallet_groups (
  account_id text collate "C" not null,
  wallet     text collate "C" not null,
  group_id   text collate "C" not null,
  seq        bigint generated always as identity,
  primary key (account_id, wallet, group_id),
  foreign key (account_id, wallet) references tracked_wallets on delete cascade,
  foreign key (account_id, group_id) references tracker_groups
);

create index tracked_wallet_groups_of_group on tracked_wallet_groups (account_id, group_id);

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
);

create index idempotency_keys_expiring on idempotency_keys (expires_at);

create table alerts (
  id                text collate "C" primary key,
  account_id        text collate "C" not null,
  mint              text collate "C" not null,
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
  removed_at        timestamptz(3)
);

create index alerts_of_account on alerts (account_id, created_at, id) where removed_at is null;

create index alerts_active on alerts (id) include (version) where status = 'active' and removed_at is null;

create index alerts_removed on alerts (removed_at) where removed_at is not null;

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
  fired_at       timestamptz(3) not null
);

create index alert_events_of_account on alert_events (account_id, fired_at, event_id);

create index alert_events_of_alert on alert_events (alert_id, fired_at, event_id);

create index alert_events_old on alert_events (fired_at);

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
);

create index copy_follows_of_account on copy_follows (account_id, created_at, id);

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
);

create index copy_fills_of_account on copy_fills (account_id, leader_at, id);

create index copy_fills_of_follow on copy_fills (follow_id, leader_at, id);

create index copy_fills_filled on copy_fills (account_id, follow_id, mint, slot) where status = 'filled';

create sequence copy_generation;

alter table copy_follows add column generation bigint not null default nextval('copy_generation');

alter table copy_fills add column turn bigint;

update copy_fills set turn = counted.turn
from (
  select id, row_number() over (partition by follow_id order by slot, leader_slot, id) as turn
  from copy_fills where status = 'filled'
) as counted
where copy_fills.id = counted.id;

create unique index copy_fills_in_turn on copy_fills (follow_id, turn) where turn is not null;

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
);

insert into block_gaps (chain, from_slot, to_slot, from_at, to_at, state, tries, next_try_at)
select id, 0, 0, read_from, unbroken_from - interval '1 second', 'unavailable', 0, to_timestamp(0)
from chains where read_from < unbroken_from;

alter table chains add column first_slot integer;

update chains set first_slot = slot;

alter table chains drop column unbroken_from;

create table trade_names (
  id   integer generated always as identity primary key,
  name text collate "C" not null unique
);

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
) partition by range (at);

create index trade_rows_of_mint on trade_rows (mint, chain, slot, place);

create index trade_rows_of_wallet on trade_rows (substr(wallet, 1, 7), slot, place) where role <> 0;

create index trade_rows_at on trade_rows using brin (at timestamptz_minmax_multi_ops)
with (autosummarize = on, pages_per_range = 32);

alter table trades rename to old_trades;

do $$ begin
  if not exists (select from pg_inherits where inhparent = 'old_trades'::regclass) then
    drop table old_trades;
  end if;
end $$;

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
left join trade_names as launchpads on launchpads.id = launchpad;

alter table bars
  add column open_sol double precision,
  add column high_sol double precision,
  add column low_sol double precision,
  add column close_sol double precision,
  add column volume_lamports numeric,
  add column buys bigint,
  add column buy_usd_nanos numeric,
  add column buy_lamports numeric,
  add column traders integer,
  add column revision integer not null default 0;

create index bars_revised on bars (chain, at) where revision > 0;

alter table alerts add column source text not null default 'swap';

alter table alert_events add column source text not null default 'swap';

alter table trade_rows add column fee_lamports bigint;

create table wallet_history (like trade_rows including defaults);

alter table wallet_history
  add primary key (chain, wallet, slot, place),
  add foreign key (chain) references chains (id) on delete cascade;

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
);

create index wallet_backfills_waiting on wallet_backfills (chain, stepped_at) where state = 'running';

create index wallet_backfills_changed on wallet_backfills (chain, changed_at);

create table accounts (
  id          text collate "C" primary key,
  name        text not null,
  role        text not null,
  created_at  timestamptz not null,
  disabled_at timestamptz
);

create table account_identities (
  issuer     text collate "C" not null,
  subject    text collate "C" not null,
  account_id text collate "C" not null references accounts (id),
  primary key (issuer, subject)
);

create table sign_in_links (
  token_hash text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  expires_at timestamptz not null,
  used_at    timestamptz
);

create index sign_in_links_by_expiry on sign_in_links (expires_at);

create table sessions (
  secret_hash  text collate "C" primary key,
  account_id   text collate "C" not null references accounts (id),
  created_at   timestamptz not null,
  last_used_at timestamptz not null,
  expires_at   timestamptz not null
);

create index sessions_of_account on sessions (account_id);

create index sessions_by_expiry on sessions (expires_at);

create table plans (
  name            text collate "C" primary key,
  rest            integer not null,
  quote           integer not null,
  window_seconds  integer not null,
  streams         integer not null,
  sockets         integer not null,
  tracked_wallets integer not null,
  alerts          integer not null
);

alter table api_keys
  add column plan        text collate "C" not null default 'default',
  add column expires_at  timestamptz,
  add column replaced_by text collate "C";

create index api_keys_by_expiry on api_keys (expires_at) where expires_at is not null;

create table key_audit (
  seq        bigint generated always as identity primary key,
  at         timestamptz not null,
  account_id text collate "C" not null,
  key_id     text collate "C" not null,
  actor      text not null,
  action     text not null,
  address    text,
  detail     text
);

create index key_audit_of_account on key_audit (account_id, seq desc);

create index key_audit_by_time on key_audit (at);

alter table sessions add column ended_at timestamptz;

create index sessions_by_end on sessions (ended_at) where ended_at is not null;

create table pending_sign_ins (
  secret_hash text collate "C" primary key,
  expires_at  timestamptz not null
);

create index pending_sign_ins_by_expiry on pending_sign_ins (expires_at);

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
where role <> 3;

alter table trade_rows add column priority_lamports bigint, add column tip_lamports bigint;

alter table wallet_history add column priority_lamports bigint, add column tip_lamports bigint;

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
);

create index key_usage_of_account on key_usage (account_id, day desc);

create index key_usage_by_day on key_usage (day);

create table usage_writers (
  id  text collate "C" primary key,
  seq bigint not null,
  at  timestamptz not null
);

create table key_addresses (
  key_id        text collate "C" not null,
  address       text collate "C" not null,
  first_used_at timestamptz not null,
  primary key (key_id, address)
);

create index key_addresses_by_time on key_addresses (first_used_at);

create table plan_audit (
  seq    bigint generated always as identity primary key,
  at     timestamptz not null,
  actor  text not null,
  action text not null,
  plan   text collate "C" not null,
  detail text not null
);

create index plan_audit_by_time on plan_audit (at);

create table supply_changes (
  chain  integer not null,
  mint   bytea not null,
  slot   integer not null,
  at     timestamptz(3) not null,
  change numeric(40) not null,
  primary key (chain, mint, slot)
);

create index supply_changes_at on supply_changes using brin (at) with (autosummarize = on, pages_per_range = 32);

alter table chains add column supply_from timestamptz(3);

update chains set supply_from = slot_at + interval '1 second' where slot_at is not null;

create index wallet_identities_of_owner on wallet_identities (source, (record ->> 'owner'))
where record ->> 'owner' is not null;

alter table launches add column creator text collate "C";

alter table "trade_rows"
  add column other_amount bigint, add column other_mint integer, add column other_decimals smallint;

alter table "wallet_history"
  add column other_amount bigint, add column other_mint integer, add column other_decimals smallint;

create index trade_rows_of_two on trade_rows (chain, slot, place) where other_mint is not null;

alter table alerts
  alter column mint drop not null,
  add column wallet          text collate "C",
  add column side            text,
  add column counted_to      bigint not null default 0,
  add column left_out        integer not null default 0,
  add column left_out_stated integer not null default 0,
  add column unvalued        integer not null default 0;

alter table alert_events add column trade jsonb;

create unique index alert_events_of_trade on alert_events (alert_id, (trade ->> 'signature'), (trade ->> 'index'))
where trade is not null;

alter table chains add column repairs integer not null default 0;

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
);

create table market_snapshot_parts (
  chain    integer not null,
  snapshot text not null,
  number   integer not null,
  content  bytea not null,
  primary key (chain, snapshot, number)
);

alter table market_snapshot_parts alter column content set storage external;

create table indexed_programs (
  id smallint generated always as identity primary key,
  program_id text not null unique,
  genesis text not null,
  listing text not null,
  is_whole boolean not null default false,
  through integer not null default 0
);

create table indexed_pools (
  mint bytea not null,
  pool bytea not null,
  program smallint not null,
  seen_slot integer not null,
  primary key (mint, pool)
);

alter table chains add column term bigint not null default 0;

create table program_proofs (
  genesis text not null,
  program_id text not null,
  known_slot integer,
  proof_slot integer,
  proof_at timestamptz(3),
  sha256 text,
  pools integer,
  exact integer,
  refused integer,
  wrong integer,
  primary key (genesis, program_id)
);

create table writer_terms (
  name text primary key,
  term bigint not null
);

alter table api_keys add column pepper_id text;

create table token_authorities (
  mint text primary key,
  slot bigint not null,
  mint_authority text,
  freeze_authority text,
  changes_ms bigint[] not null,
  seen_at timestamptz(3) not null
);

create index token_authorities_changed on token_authorities (mint) where cardinality(changes_ms) > 0;

create index indexed_pools_program on indexed_pools (program);

alter table indexed_programs add column entries integer not null default 0;

update indexed_programs set entries = counted.entries
from (select program, count(*) as entries from indexed_pools group by program) as counted
where id = counted.program;
