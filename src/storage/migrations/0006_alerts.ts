import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Price alerts, how far each has come, and their firings. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
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
    )
  `
  yield* sql`create index alerts_of_account on alerts (account_id, created_at, id) where removed_at is null`
  yield* sql`create index alerts_active on alerts (id) include (version) where status = 'active' and removed_at is null`
  yield* sql`create index alerts_removed on alerts (removed_at) where removed_at is not null`
  // Firings outlive their alert, so they refer to it without holding it.
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
      fired_at       timestamptz(3) not null
    )
  `
  yield* sql`create index alert_events_of_account on alert_events (account_id, fired_at, event_id)`
  yield* sql`create index alert_events_of_alert on alert_events (alert_id, fired_at, event_id)`
  yield* sql`create index alert_events_old on alert_events (fired_at)`
})
