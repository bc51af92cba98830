import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Accounts, the users of OpenID providers that they belong to, sign-in links and sessions. */
export const up = Effect.gen(function* () {
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
  yield* sql`
    create table sessions (
      secret_hash  text collate "C" primary key,
      account_id   text collate "C" not null references accounts (id),
      created_at   timestamptz not null,
      last_used_at timestamptz not null,
      expires_at   timestamptz not null
    )
  `
  yield* sql`create index sessions_of_account on sessions (account_id)`
  yield* sql`create index sessions_by_expiry on sessions (expires_at)`
})
