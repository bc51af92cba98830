/** The tables `callouts`, `callout_trades` and `callout_traders`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import {
  type AttributedTrade,
  Callout,
  type CalloutPlace,
  type CalloutSelection,
  type CalloutSlice,
  type NewCallout
} from "../api/schemas/Callout.ts"

// Any number, the same in every process. Every write to the ledger holds this lock, so that ledger numbers become
// visible in order.
const LEDGER_LOCK = 7_426_120

/**
 * An expired callout stays in the indexes of the lists for this long, which is longer than the clocks of two processes
 * differ.
 */
const GRACE_MS = 3_600_000

// Numbers leave the database as text, which no driver rounds; a double holds every millisecond that a timestamp can.
const COLUMNS = `
  id, mint, body, token_symbol, token_name, token_image_url, price_usd_at_create::text,
  creator_id, creator_username, creator_display_name, creator_avatar_url,
  (extract(epoch from created_at) * 1000)::float8 as created_at_ms,
  (extract(epoch from expires_at) * 1000)::float8 as expires_at_ms,
  click_count::float8, trader_count::float8,
  attributed_volume_usd_nanos::text, earned_usd_nanos::text, points_awarded::text
`

const { creator: _creator, status: _status, ...columns } = Callout.fields
const Row = Schema.Struct({
  ...columns,
  creatorId: Schema.String,
  creatorUsername: Schema.String,
  creatorDisplayName: Schema.String,
  creatorAvatarUrl: Schema.NullOr(Schema.String),
  attributedVolumeUsdNanos: Schema.BigIntFromString,
  earnedUsdNanos: Schema.BigIntFromString,
  pointsAwarded: Schema.BigIntFromString
})
const PageRow = Schema.Struct({ ...Row.fields, key: Schema.BigIntFromString, mark: Schema.BigIntFromString })

const pageRows = (statement: Statement.Statement<object>) =>
  SqlSchema.findAll({ Request: Schema.Void, Result: PageRow, execute: () => statement })()

/** The callout of a row. Queries select active callouts only. */
const calloutOf = ({
  creatorAvatarUrl: avatarUrl,
  creatorDisplayName: displayName,
  creatorId: id,
  creatorUsername: username,
  ...rest
}: typeof Row.Type): Callout => ({ ...rest, status: "active", creator: { id, username, displayName, avatarUrl } })

/** The condition of an active callout. */
const active = (sql: SqlClient.SqlClient, nowMs: number) =>
  sql`is_listed and expires_at > ${PgTypes.timestamptz(nowMs)}`

/** The statements that select one page of active callouts, plus one row when another page follows. */
const makePages = (sql: SqlClient.SqlClient) => {
  const shown = sql.literal(COLUMNS)
  const ofMint = (mint: string | null) => (mint === null ? sql`true` : sql`mint = ${mint}`)
  const head = sql`
    greatest((select coalesce(max(seq), 0) from callouts), (select coalesce(max(seq), 0) from callout_trades))::text as mark
  `
  const createdMs = sql.literal("(extract(epoch from created_at) * 1000)::bigint::text")

  const recent = ({ after, limit, mint }: CalloutSelection, nowMs: number): Statement.Statement<object> => {
    const rest =
      after === null
        ? sql`true`
        : sql`seq <= ${after.mark.toString()}::bigint
            and (created_at, id) < (${PgTypes.timestamptz(Number(after.key))}, ${after.id}::text collate "C")`
    return sql`
      select ${shown}, ${createdMs} as key, ${head} from callouts
      where ${active(sql, nowMs)} and ${ofMint(mint)} and ${rest}
      order by created_at desc, id desc limit ${limit + 1}
    `
  }

  const topFirst = ({ limit, mint }: CalloutSelection, nowMs: number): Statement.Statement<object> => sql`
    select ${shown}, attributed_volume_usd_nanos::text as key, ${head} from callouts
    where ${active(sql, nowMs)} and ${ofMint(mint)}
    order by callouts.attributed_volume_usd_nanos desc, id desc limit ${limit + 1}
  `

  /** Callouts that were traded since the first page are put back to where they were. All others are still there. */
  const topAfter = (
    { limit, mint }: CalloutSelection,
    after: CalloutPlace,
    nowMs: number
  ): Statement.Statement<object> => {
    const mark = sql`${after.mark.toString()}::bigint`
    const place = sql`(${after.key.toString()}::numeric, ${after.id}::text collate "C")`
    const listed = sql`${active(sql, nowMs)} and ${ofMint(mint)} and seq <= ${mark}`
    return sql`
      with later as materialized (
        select callout_id, sum(volume_usd_nanos) as gained from callout_trades where seq > ${mark} group by callout_id
      ), still as (
        select callouts.*, attributed_volume_usd_nanos as rank from callouts
        where ${listed} and (attributed_volume_usd_nanos, id) < ${place}
          and not exists (select from later where callout_id = id)
        order by callouts.attributed_volume_usd_nanos desc, id desc limit ${limit + 1}
      ), moved as (
        select callouts.*, attributed_volume_usd_nanos - gained as rank from callouts join later on callout_id = id
        where ${listed} and (attributed_volume_usd_nanos - gained, id) < ${place}
      )
      select ${shown}, rank::text as key, ${mark}::text as mark
      from (select * from still union all select * from moved) as standing
      order by rank desc, id desc limit ${limit + 1}
    `
  }

  return (selection: CalloutSelection, nowMs: number): Statement.Statement<object> => {
    if (selection.sort === "recent") {
      return recent(selection, nowMs)
    }
    return selection.after === null ? topFirst(selection, nowMs) : topAfter(selection, selection.after, nowMs)
  }
}

/** The queries. Writes to the ledger run in a transaction. */
export const makeCalloutTable = (sql: SqlClient.SqlClient) => {
  const shown = sql.literal(COLUMNS)
  const lock = sql`select pg_advisory_xact_lock(${LEDGER_LOCK}::bigint)`
  const pageOf = makePages(sql)
  const find = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.String, nowMs: Schema.Number }),
    Result: Row,
    execute: ({ id, nowMs }) => sql`select ${shown} from callouts where id = ${id} and ${active(sql, nowMs)}`
  })

  return {
    find: (id: string, nowMs: number) =>
      Effect.map(find({ id, nowMs }), ([row]) => (row === undefined ? null : calloutOf(row))),

    page: Effect.fnUntraced(function* (selection: CalloutSelection, nowMs: number) {
      const rows = yield* pageRows(pageOf(selection, nowMs))
      const page = rows.slice(0, selection.limit)
      const last = page.at(-1)
      const isMore = last !== undefined && rows.length > selection.limit
      const slice: CalloutSlice = {
        callouts: page.map(({ key: _key, mark: _mark, ...row }) => calloutOf(row)),
        next: isMore ? { mark: selection.after?.mark ?? last.mark, key: last.key, id: last.id } : null
      }
      return slice
    }),

    /** Also takes callouts that expired more than an hour ago out of the indexes of the lists. */
    post: Effect.fnUntraced(function* ({ createdAtMs, creator, expiresAtMs, ...callout }: NewCallout, nowMs: number) {
      yield* lock
      const row = {
        ...callout,
        creatorId: creator.id,
        creatorUsername: creator.username,
        creatorDisplayName: creator.displayName,
        creatorAvatarUrl: creator.avatarUrl,
        createdAt: PgTypes.timestamptz(createdAtMs),
        expiresAt: PgTypes.timestamptz(expiresAtMs)
      }
      const made = yield* sql`insert into callouts ${sql.insert(row)} on conflict (id) do nothing returning id`
      yield* sql`
        update callouts set is_listed = false where is_listed and expires_at < ${PgTypes.timestamptz(nowMs - GRACE_MS)}
      `
      return made.length > 0
    }),

    remove: (id: string) =>
      Effect.map(
        sql`update callouts set is_removed = true, is_listed = false where id = ${id} and not is_removed returning id`,
        (rows) => rows.length > 0
      ),

    recordClick: (id: string, clicks: number, nowMs: number) =>
      sql`update callouts set click_count = click_count + ${clicks}::int where id = ${id} and ${active(sql, nowMs)}`,

    attribute: Effect.fnUntraced(function* ({ calloutId, trader, ...trade }: AttributedTrade) {
      yield* lock
      const volume = sql`${trade.volumeUsdNanos.toString()}::numeric`
      const counted = yield* sql`
        insert into callout_trades (trade_id, callout_id, volume_usd_nanos)
        select ${trade.tradeId}, id, ${volume} from callouts where id = ${calloutId} and not is_removed
        on conflict (trade_id) do nothing returning trade_id
      `
      if (counted.length === 0) {
        return false
      }
      yield* sql`
        with newcomer as (
          insert into callout_traders ${sql.insert({ calloutId, trader })} on conflict do nothing returning trader
        )
        update callouts set
          trader_count = trader_count + (select count(*) from newcomer),
          attributed_volume_usd_nanos = attributed_volume_usd_nanos + ${volume},
          earned_usd_nanos = earned_usd_nanos + ${trade.earnedUsdNanos.toString()}::numeric,
          points_awarded = points_awarded + ${trade.points.toString()}::numeric
        where id = ${calloutId}
      `
      return true
    })
  }
}
