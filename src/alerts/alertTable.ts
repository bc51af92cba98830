/** The tables `alerts` and `alert_events`, as queries. Firings on trades are in `tradeFiringTable.ts`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import {
  Alert,
  type AlertChange,
  AlertEvent,
  type AlertFired,
  type AlertSelection,
  type AlertStep,
  EVENT_LIFE_MS,
  type EventSelection,
  MAX_LIVE_ALERTS,
  type NewAlert,
  type Slice,
  TooManyAlerts,
  WalletNotTracked
} from "../api/schemas/Alert.ts"
import type { ChangeChannel } from "../storage/ChangeChannel.ts"
import { type Bound, purgeRows } from "../storage/purge.ts"

// Key of the lock that an account holds while it creates an alert. The same in every process, and of no other lock.
const ACCOUNT_LOCK = 7_426_130

// A double holds every millisecond that a timestamp can.
const COLUMNS = `
  id, account_id, mint, wallet, side, metric, operator, threshold, window_seconds, source, recurrence, cooldown_seconds, note,
  (extract(epoch from expires_at) * 1000)::float8 as expires_at_ms, armed, cleared, mark::float8,
  (extract(epoch from created_at) * 1000)::float8 as created_at_ms,
  (extract(epoch from updated_at) * 1000)::float8 as updated_at_ms,
  (extract(epoch from last_triggered_at) * 1000)::float8 as last_triggered_at_ms, trigger_count, version,
  counted_to::float8, left_out, left_out_stated, unvalued
`

const EVENT_COLUMNS = `
  event_id, alert_id, mint, metric, operator, threshold, window_seconds, source, value, trade,
  (extract(epoch from observed_at) * 1000)::float8 as observed_at_ms,
  (extract(epoch from fired_at) * 1000)::float8 as fired_at_ms
`

const { condition, tally, ...columns } = Alert.fields
const Row = Schema.Struct({ ...columns, ...condition.fields, ...tally.fields })
const { condition: fired, ...eventColumns } = AlertEvent.fields
const EventRow = Schema.Struct({ ...eventColumns, ...fired.fields })
const Announced = Schema.fromJsonString(Schema.Struct({ ...EventRow.fields, accountId: Schema.String }))

// The columns of an inserted event, as `Announced` reads them; at most 1,500 bytes.
export const ANNOUNCED = `
  json_build_object('accountId', account_id, 'eventId', event_id, 'alertId', alert_id, 'mint', mint, 'metric', metric,
    'operator', operator, 'threshold', threshold, 'windowSeconds', window_seconds, 'source', source, 'value', value, 'trade', trade,
    'observedAtMs', (extract(epoch from observed_at) * 1000)::bigint,
    'firedAtMs', (extract(epoch from fired_at) * 1000)::bigint)
`

const decodeAnnounced = Schema.decodeUnknownOption(Announced)

const findEvents = (statement: Statement.Statement<object>) =>
  SqlSchema.findAll({ Request: Schema.Void, Result: EventRow, execute: () => statement })()

const alertOf = (row: typeof Row.Type): Alert => {
  const { metric, operator, source, threshold, windowSeconds, ...others } = row
  const { countedTo, leftOut, leftOutStated, unvalued, ...rest } = others
  return {
    ...rest,
    condition: { metric, operator, threshold, windowSeconds, source },
    tally: { countedTo, leftOut, leftOutStated, unvalued }
  }
}

const eventOf = ({
  metric,
  operator,
  source,
  threshold,
  windowSeconds,
  ...rest
}: typeof EventRow.Type): AlertEvent => ({
  ...rest,
  condition: { metric, operator, threshold, windowSeconds, source }
})

/** The firing in an announcement; null when the announcement cannot be read, for example from a later version. */
export const readFiring = (text: string): AlertFired | null => {
  const read = decodeAnnounced(text)
  if (read._tag === "None") {
    return null
  }
  const { accountId, ...row } = read.value
  return { accountId, event: eventOf(row) }
}

const at = (timeMs: number) => PgTypes.timestamptz(timeMs)

const stepRow = ({ firing, id, version, watch }: AlertStep) => ({
  ...watch,
  id,
  version,
  value: firing?.value ?? null,
  observed_at_ms: firing?.observedAtMs ?? null
})

const sliceOf = <Found, Row>(
  found: ReadonlyArray<Found>,
  limit: number,
  rowOf: (found: Found) => Row,
  placeOf: (row: Row) => { readonly timeMs: number; readonly id: string }
): Slice<Row> => {
  const rows = found.slice(0, limit).map(rowOf)
  const last = rows.at(-1)
  return { rows, next: last !== undefined && found.length > limit ? placeOf(last) : null }
}

/** Parts of alert queries: the columns, the condition of active alerts, and the announcement of a change. */
export const alertFragments = (sql: SqlClient.SqlClient, { announcing }: Announcing) => {
  const announced = announcing("alerts", sql`id`)
  const isTracked = (accountId: Statement.Fragment | string, wallet: Statement.Fragment | string) => sql`
    exists (select from tracked_wallets as own where own.account_id = ${accountId} and own.wallet = ${wallet})
  `
  /** The status at this moment, for rows that are read under the name `alerts`. */
  const statusAt = (nowMs: number) => sql`
    case when status in ('active', 'paused') and expires_at <= ${at(nowMs)} then 'expired'
      when status = 'active' and wallet is not null
        and not ${isTracked(sql.literal("alerts.account_id"), sql.literal("alerts.wallet"))} then 'inactive'
      else status end
  `
  const shown = (nowMs: number) => sql`${sql.literal(COLUMNS)}, ${statusAt(nowMs)} as status`
  const live = (nowMs: number) => sql`removed_at is null and (expires_at is null or expires_at > ${at(nowMs)})`
  const active = (nowMs: number) => sql`status = 'active' and ${live(nowMs)}`
  return { active, announced, isTracked, live, shown, statusAt }
}

/** The alerts of a statement that returns the columns `shown`. */
export const findAlerts = (statement: Statement.Statement<object>) =>
  Effect.map(SqlSchema.findAll({ Request: Schema.Void, Result: Row, execute: () => statement })(), (rows) =>
    rows.map(alertOf)
  )

const findAlert = (statement: Statement.Statement<object>) =>
  Effect.map(findAlerts(statement), ([alert]) => alert ?? null)

type Announcing = Pick<ChangeChannel["Service"], "announcing">

/** One statement, so that a firing, its id and the new state of its alert are written together. */
const advancing = (
  sql: SqlClient.SqlClient,
  { announcing }: Announcing,
  steps: ReadonlyArray<AlertStep>,
  nowMs: number
): Statement.Statement<object> => {
  const { active, announced, shown } = alertFragments(sql, { announcing })
  return sql`
        with steps as (
          select * from json_to_recordset(${JSON.stringify(steps.map(stepRow))}::text::json)
            as step (id text, version int, armed boolean, cleared boolean, mark bigint, value text, observed_at_ms float8)
        ), locked as (
          -- In one order everywhere, or two processes would wait for each other.
          select id from alerts where id in (select id from steps) order by id for update
        ), moved as (
          update alerts set
            armed = steps.armed, cleared = steps.cleared, mark = steps.mark,
            -- At the beginning of a chain nothing of it is counted.
            counted_to = case when steps.mark = 0 then 0 else counted_to end,
            status = case when value is not null and recurrence = 'once' then 'triggered' else status end,
            trigger_count = trigger_count + (value is not null)::int,
            last_triggered_at = case when value is null then last_triggered_at else ${at(nowMs)} end,
            updated_at = ${at(nowMs)}, version = alerts.version + 1
          from steps join locked using (id)
          where alerts.id = steps.id and alerts.version = steps.version and ${active(nowMs)}
          returning alerts.*, value, observed_at_ms
        ), fired as (
          insert into alert_events (event_id, alert_id, account_id, mint, metric, operator, threshold, window_seconds, value,
            observed_at, fired_at, source)
          select 'evt_' || substr(id, 4) || '_' || trigger_count, id, account_id, mint, metric, operator, threshold,
            window_seconds, value, to_timestamp(observed_at_ms / 1000), ${at(nowMs)}, source
          from moved where value is not null
          on conflict (event_id) do nothing
          returning ${announcing("firings", sql.literal(ANNOUNCED))}
        )
        select ${shown(nowMs)}, ${announced} from moved as alerts
      `
}

/** The queries. A query that reads before it writes runs in a transaction. Changes and firings are announced with their commit. */
export const makeAlertTable = (sql: SqlClient.SqlClient, { announcing }: Announcing) => {
  const { active, announced, isTracked, live, shown, statusAt } = alertFragments(sql, { announcing })
  const own = (accountId: string, id: string) => sql`id = ${id} and account_id = ${accountId}`

  return {
    create: Effect.fnUntraced(function* (created: NewAlert, nowMs: number, limit = MAX_LIVE_ALERTS) {
      const { accountId, condition: chosen, createdAtMs, expiresAtMs, ...rest } = created
      yield* sql`select pg_advisory_xact_lock(${ACCOUNT_LOCK}::int, hashtext(${accountId}))`
      const held = yield* sql`
        select 1 from alerts
        where account_id = ${accountId} and status in ('active', 'paused') and ${live(nowMs)} limit ${limit}
      `
      if (held.length >= limit) {
        return yield* new TooManyAlerts()
      }
      if (rest.wallet !== null) {
        const tracked = yield* sql`select where ${isTracked(accountId, rest.wallet)}`
        if (tracked.length === 0) {
          return yield* new WalletNotTracked()
        }
      }
      const row = {
        ...rest,
        ...chosen,
        accountId,
        status: "active",
        createdAt: at(createdAtMs),
        updatedAt: at(createdAtMs),
        expiresAt: expiresAtMs === null ? null : at(expiresAtMs)
      }
      const made = yield* findAlert(sql`insert into alerts ${sql.insert(row)} returning ${shown(nowMs)}, ${announced}`)
      return made ?? (yield* Effect.die(new Error("nothing was inserted")))
    }),

    find: (accountId: string, id: string, nowMs: number) =>
      findAlert(sql`select ${shown(nowMs)} from alerts where ${own(accountId, id)} and removed_at is null`),

    page: Effect.fnUntraced(function* (accountId: string, selection: AlertSelection, nowMs: number) {
      const { after, limit, mint, status } = selection
      const rest =
        after === null ? sql`true` : sql`(created_at, id) < (${at(after.timeMs)}, ${after.id}::text collate "C")`
      const rows = yield* findAlerts(sql`
        select ${shown(nowMs)} from alerts
        where account_id = ${accountId} and removed_at is null
          and ${mint === null ? sql`true` : sql`mint = ${mint}`}
          and ${status === null ? sql`true` : sql`${statusAt(nowMs)} = ${status}`} and ${rest}
        order by created_at desc, id desc limit ${limit + 1}
      `)
      return sliceOf(
        rows,
        limit,
        (alert) => alert,
        ({ createdAtMs: timeMs, id }) => ({ timeMs, id })
      )
    }),

    change: Effect.fnUntraced(function* <E>(
      accountId: string,
      id: string,
      decide: (alert: Alert) => Effect.Effect<AlertChange, E>,
      nowMs: number
    ) {
      const found = yield* findAlert(
        sql`select ${shown(nowMs)} from alerts where ${own(accountId, id)} and removed_at is null for update`
      )
      if (found === null) {
        return null
      }
      const { condition: chosen, expiresAtMs, ...change } = yield* decide(found)
      const row = {
        ...change,
        ...chosen,
        ...(expiresAtMs === undefined ? {} : { expiresAt: expiresAtMs === null ? null : at(expiresAtMs) }),
        updatedAt: at(nowMs),
        version: found.version + 1
      }
      return yield* findAlert(
        sql`update alerts set ${sql.update(row)} where id = ${id} returning ${shown(nowMs)}, ${announced}`
      )
    }),

    remove: (accountId: string, id: string, nowMs: number) =>
      Effect.map(
        sql`update alerts set removed_at = coalesce(removed_at, ${at(nowMs)}) where ${own(accountId, id)} returning id, ${announced}`,
        (rows) => rows.length > 0
      ),

    events: Effect.fnUntraced(function* (accountId: string, selection: EventSelection, nowMs: number) {
      const { after, alertId, limit, sinceMs } = selection
      const rest =
        after === null ? sql`true` : sql`(fired_at, event_id) < (${at(after.timeMs)}, ${after.id}::text collate "C")`
      const rows = yield* findEvents(sql`
        select ${sql.literal(EVENT_COLUMNS)} from alert_events
        where account_id = ${accountId} and fired_at >= ${at(Math.max(nowMs - EVENT_LIFE_MS, sinceMs ?? 0))}
          and ${alertId === null ? sql`true` : sql`alert_id = ${alertId}`} and ${rest}
        order by fired_at desc, event_id desc limit ${limit + 1}
      `)
      return sliceOf(rows, limit, eventOf, ({ eventId: id, firedAtMs: timeMs }) => ({
        timeMs,
        id
      }))
    }),

    versions: SqlSchema.findAll({
      Request: Schema.Number,
      Result: Schema.Struct({ id: Schema.String, version: Schema.Int }),
      execute: (nowMs) => sql`select id, version from alerts where ${active(nowMs)}`
    }),

    load: (ids: ReadonlyArray<string>, nowMs: number) =>
      findAlerts(sql`select ${shown(nowMs)} from alerts where ${sql.in("id", ids)} and ${active(nowMs)}`),

    advance: (steps: ReadonlyArray<AlertStep>, nowMs: number) =>
      findAlerts(advancing(sql, { announcing }, steps, nowMs)),

    purge: <Failure>(nowMs: number, bound: Bound<Failure>) => {
      const before = at(nowMs - EVENT_LIFE_MS)
      return Effect.andThen(
        purgeRows({ sql, bound, table: "alert_events", where: sql`fired_at < ${before}` }),
        purgeRows({ sql, bound, table: "alerts", where: sql`removed_at < ${before}` })
      )
    }
  }
}
