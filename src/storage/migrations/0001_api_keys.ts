import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Keys, and the secrets the service keeps for itself. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
      changed_at   timestamptz not null default now()
    )
  `
  yield* sql`create index api_keys_of_account on api_keys (account_id, seq desc)`
  yield* sql`create index api_keys_changed on api_keys (changed_at)`
  yield* sql`create table service_secrets (name text primary key, value text not null)`
})
