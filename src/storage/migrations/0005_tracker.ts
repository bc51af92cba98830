import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tracked wallets by account, and requests by idempotency key. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // One row per account: a change of the account locks it and raises its revision.
  yield* sql`create sequence tracker_revision`
  yield* sql`
    create table tracker_accounts (
      account_id text collate "C" primary key,
      revision   bigint not null,
      changed_at timestamptz(3) not null default now()
    )
  `
  yield* sql`create index tracker_accounts_changed on tracker_accounts (changed_at)`
  // A group's id names it within its account, so that every account has a `grp_main` of its own.
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
  // The lowest seq of a wallet is its primary group.
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
