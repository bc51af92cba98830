/** Firings of alerts on the trades of wallets, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { type Alert, type SeenTrades, TRADE_FIRINGS_MS } from "../api/schemas/Alert.ts"
import type { ChangeChannel } from "../storage/ChangeChannel.ts"
import { alertFragments, ANNOUNCED, findAlerts } from "./alertTable.ts"
import { fireTrades, keyOfTrade, type TradeOutcome } from "./walletTrades.ts"

/** An alert and the outcome of its trades. */
interface Fired {
  readonly alert: Alert
  readonly outcome: TradeOutcome
}

const alertRow = ({ alert, outcome: { firings, tally } }: Fired) => ({
  alert_id: alert.id,
  next_status: firings.length > 0 && alert.recurrence === "once" ? "triggered" : "active",
  fired: firings.length,
  next_counted_to: tally.countedTo,
  next_left_out: tally.leftOut,
  next_left_out_stated: tally.leftOutStated,
  next_unvalued: tally.unvalued
})

const eventRows = ({ alert, outcome }: Fired) =>
  outcome.firings.map(({ mint, observedAtMs, trade, value }, i) => ({
    event_id: `evt_${alert.id.slice("al_".length)}_${alert.triggerCount + i + 1}`,
    alert_id: alert.id,
    mint,
    value,
    observed_at_ms: observedAtMs,
    trade
  }))

/**
 * Applies trades to the active alerts among these; runs in a transaction. Returns these alerts as they are afterwards.
 */
export const makeFire = (sql: SqlClient.SqlClient, channel: Pick<ChangeChannel["Service"], "announcing">) => {
  const { active, announced, shown } = alertFragments(sql, channel)

  const earlierOf = SqlSchema.findAll({
    Request: Schema.Struct({ ids: Schema.Array(Schema.String), sinceMs: Schema.Number }),
    Result: Schema.Struct({ alertId: Schema.String, signature: Schema.String, index: Schema.Int }),
    execute: ({ ids, sinceMs }) => sql`
      select alert_id, trade ->> 'signature' as signature, (trade ->> 'index')::float8 as index from alert_events
      where ${sql.in("alert_id", ids)} and fired_at > ${PgTypes.timestamptz(sinceMs)} and trade is not null
    `
  })

  return Effect.fnUntraced(function* (seen: ReadonlyArray<SeenTrades>, nowMs: number) {
    const ids = seen.map(({ id }) => id)
    // Always in the same order, or two processes would wait for each other.
    const held = yield* findAlerts(sql`
      select ${shown(nowMs)} from alerts where ${sql.in("id", ids)} and ${active(nowMs)} order by id for update
    `)
    const fired = yield* earlierOf({ ids, sinceMs: nowMs - TRADE_FIRINGS_MS })
    const earlier = Map.groupBy(fired, ({ alertId }) => alertId)
    const tradesOf = new Map(seen.map(({ id, trades }) => [id, trades]))
    const moved = held.flatMap((alert): ReadonlyArray<Fired> => {
      const before = earlier.get(alert.id) ?? []
      const known = { keys: new Set(before.map(keyOfTrade)), count: before.length }
      const outcome = fireTrades(alert, tradesOf.get(alert.id) ?? [], known, nowMs)
      return alert.status !== "active" || outcome.tally === alert.tally ? [] : [{ alert, outcome }]
    })
    if (moved.length === 0) {
      return held
    }
    const written = yield* findAlerts(sql`
      with moves as (
        select * from json_to_recordset(${JSON.stringify(moved.map(alertRow))}::text::json)
          as move (alert_id text, next_status text, fired int, next_counted_to bigint, next_left_out int,
            next_left_out_stated int, next_unvalued int)
      ), firings as (
        select * from json_to_recordset(${JSON.stringify(moved.flatMap(eventRows))}::text::json)
          as firing (event_id text, alert_id text, mint text, value text, observed_at_ms float8, trade jsonb)
      ), fired as (
        insert into alert_events (event_id, alert_id, account_id, mint, metric, operator, threshold, window_seconds, value,
          observed_at, fired_at, source, trade)
        select event_id, alert_id, account_id, firings.mint, metric, operator, threshold, window_seconds, value,
          to_timestamp(observed_at_ms / 1000), ${PgTypes.timestamptz(nowMs)}, source, trade
        from firings join alerts on alerts.id = alert_id
        on conflict do nothing
        returning ${channel.announcing("firings", sql.literal(ANNOUNCED))}
      )
      update alerts set
        status = next_status, counted_to = next_counted_to, left_out = next_left_out,
        left_out_stated = next_left_out_stated, unvalued = next_unvalued,
        trigger_count = trigger_count + fired,
        last_triggered_at = case when fired = 0 then last_triggered_at else ${PgTypes.timestamptz(nowMs)} end,
        updated_at = ${PgTypes.timestamptz(nowMs)}, version = version + 1
      from moves where id = alert_id
      returning ${shown(nowMs)}, ${announced}
    `)
    const newest = new Map(written.map((alert) => [alert.id, alert]))
    return held.map((alert) => newest.get(alert.id) ?? alert)
  })
}
