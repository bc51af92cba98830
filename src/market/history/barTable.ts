/** Queries of the table `bars`. Candles are closed by folding finer candles; the finest are made of trades. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import type { Mint } from "../../domain/Address.ts"
import { floorTo, levels, type Resolution } from "../model/resolutions.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { barSpans, type ClosedTo } from "../memory/barSpans.ts"
import { columnsOf } from "./arrays.ts"
import { BarRow, cellsOf, PrintRow, RevisedRow } from "./barRows.ts"
import { BAR_COLUMNS, bucketSql, ON_CONFLICT, ONE_BAR, ONE_TRADE, sumsOf } from "./barSql.ts"
import type { PrintsRequest, StoredBars, StoredBarsRequest } from "../model/StoredBars.ts"

const [, MINUTE = 60, HOUR = 3600, DAY = 86_400] = levels

/** Selects bars made of the trades up to and including a slot. */
interface CutBarsRequest extends StoredBarsRequest {
  readonly toSlot: number
}

/** A closed candle of one width that a late trade belongs to. */
interface Touched {
  readonly mint: Mint
  readonly start: number
}

/** The candles of a width, closed up to a second, that these pool trades belong to. Each candle is listed once. */
const touchedOf = (trades: ReadonlyArray<TapeTrade>, width: number, closedTo: number): ReadonlyArray<Touched> => {
  const touched = new Map<string, Touched>()
  for (const { mint, role, timeMs } of trades) {
    const start = floorTo(Math.floor(timeMs / 1000), width)
    if (role !== "wallet" && start < closedTo) {
      touched.set(`${mint} ${start}`, { mint, start })
    }
  }
  return Array.from(touched.values())
}

const time = (second: number) => PgTypes.timestamptz(second * 1000)

/** Times are Unix seconds. */
export const makeBarTable = (sql: SqlClient.SqlClient) => {
  const within = (from: number, to: number) => sql`at >= ${time(from)} and at < ${time(to)}`

  const bars = (chain: number, width: number, from: number, to: number) =>
    sql`${sql.literal(ONE_BAR)} and chain = ${chain} and width = ${width} and ${within(from, to)}`

  const trades = (chain: number, from: number, to: number) =>
    sql`${sql.literal(ONE_TRADE)} and chain = ${chain} and ${within(from, to)}`

  /** Writes the candles made of the parts. The revision of a closed candle rises by the trades it gained. */
  const write = (
    { chain, isLate, resolution, width }: { chain: number; isLate: boolean; resolution: Resolution; width: number },
    parts: Statement.Fragment
  ) => sql`
    insert into bars (mint, chain, width, at, ${sql.literal(BAR_COLUMNS)})
    select mint, ${chain}::int, ${width}::int, bucket, ${sql.literal(BAR_COLUMNS)} from (
      select mint, ${sql.literal(bucketSql(resolution))} as bucket, ${sql.literal(sumsOf(resolution, isLate))}
      from (${parts}) as parts group by 1, 2
    ) as folded
    ${sql.literal(ON_CONFLICT)}
  `

  /** Restricts the parts to these candles. */
  const inside = (touched: ReadonlyArray<Touched>, width: number) => {
    const given = columnsOf(touched)
    const starts = touched.map(({ start }) => start)
    const [from, to] = [Math.min(...starts), Math.max(...starts) + width]
    return sql`${within(from, to)} and exists (
      select from unnest(
        ${given.texts(({ mint }) => mint)},
        ${given.times(({ start }) => start * 1000)}
      ) as touched (of, start)
      where of = mint and at >= start and at < start + make_interval(secs => ${width}::int)
    )`
  }

  /** The closed candles and the trades from which the buckets of a request are made. */
  const partsOf = (chain: number, closed: ClosedTo, request: CutBarsRequest) => {
    const { before, mint, pool, toSlot } = request
    const { spans, tradesFrom } = barSpans(closed, request)
    const upTo = sql`mint = ${mint} and slot <= ${toSlot}::int`
    const parts = spans.map(({ from, to, width }) => sql`${bars(chain, width, from, to)} and mint = ${mint}`)
    if (tradesFrom === null) {
      return parts
    }
    const ofPool = pool === undefined ? sql`` : sql` and pool = ${pool}`
    return [...parts, sql`${trades(chain, tradesFrom, before)} and ${upTo}${ofPool}`]
  }

  return {
    /** Closes the candles between two states. */
    close: (chain: number, from: ClosedTo, to: ClosedTo) =>
      Effect.gen(function* () {
        const of = { chain, isLate: false }
        if (from.minutes < to.minutes) {
          yield* write({ ...of, width: MINUTE, resolution: "1m" }, trades(chain, from.minutes, to.minutes))
        }
        if (from.hours < to.hours) {
          yield* write({ ...of, width: HOUR, resolution: "1h" }, bars(chain, MINUTE, from.hours, to.hours))
        }
        if (from.days < to.days) {
          yield* write({ ...of, width: DAY, resolution: "1d" }, bars(chain, HOUR, from.days, to.days))
        }
      }),

    /**
     * The statements, in their order, that rebuild the closed candles of late trades, each width from the next finer one.
     * The trades must be stored before they run. The revision of a candle rises by the trades it gained, or by one when
     * only prices changed.
     */
    rewrite: (chain: number, closed: ClosedTo, late: ReadonlyArray<TapeTrade>) => {
      const rebuild = (
        width: number,
        resolution: Resolution,
        closedTo: number,
        parts: (inTouched: Statement.Fragment) => Statement.Fragment
      ) => {
        const touched = touchedOf(late, width, closedTo)
        return touched.length === 0
          ? []
          : [write({ chain, isLate: true, width, resolution }, parts(inside(touched, width)))]
      }
      const finer = (width: number) => (inTouched: Statement.Fragment) =>
        sql`${sql.literal(ONE_BAR)} and chain = ${chain} and width = ${width} and ${inTouched}`
      return [
        ...rebuild(
          MINUTE,
          "1m",
          closed.minutes,
          (inTouched) => sql`${sql.literal(ONE_TRADE)} and chain = ${chain} and ${inTouched}`
        ),
        ...rebuild(HOUR, "1h", closed.hours, finer(MINUTE)),
        ...rebuild(DAY, "1d", closed.days, finer(HOUR))
      ]
    },

    /** The trades that a candle is made of, in the order of the chain. */
    prints: (chain: number, { before, denom, from, limit, mint, pool }: PrintsRequest) => {
      const ofPool = pool === undefined ? sql`true` : sql`pool = ${pool}`
      const find = SqlSchema.findAll({
        Request: Schema.Number,
        Result: PrintRow,
        execute: (most) => sql`
          select ${sql.literal(denom === "usd" ? "open as price, volume_usd_nanos as volume" : "open_sol as price, volume_lamports as volume")}
          from (${trades(chain, from, before)} and mint = ${mint} and ${ofPool}) as parts
          order by slot, place limit ${most}
        `
      })
      return find(limit)
    },

    /** The candles from a second on that changed after they were closed. */
    revised: (chain: number, from: number) => {
      const find = SqlSchema.findAll({
        Request: Schema.Number,
        Result: RevisedRow,
        execute: (second) => sql`
          select mint, width, at, revision from bars where revision > 0 and chain = ${chain} and at >= ${time(second)}
        `
      })
      return Effect.map(find(from), (rows) => rows.map(({ at, ...row }) => ({ ...row, second: at.getTime() / 1000 })))
    },

    /** The buckets of a request, newest first. */
    read: Effect.fnUntraced(function* (chain: number, closed: ClosedTo, request: CutBarsRequest) {
      const parts = partsOf(chain, closed, request)
      if (parts.length === 0) {
        return { cells: new Float64Array(0), isCut: false }
      }
      const find = SqlSchema.findAll({
        Request: Schema.Number,
        Result: BarRow,
        execute: (limit) => sql`
          select bucket as at, open, high, low, close, volume_usd_nanos, open_sol, high_sol, low_sol, close_sol,
            volume_lamports, trades::float8, buys::float8, buy_usd_nanos, buy_lamports, traders::float8,
            revision::float8
          from (
            select ${sql.literal(bucketSql(request.resolution))} as bucket,
              ${sql.literal(sumsOf(request.resolution))}
            from (${sql.join(" union all ", false)(parts)}) as parts group by 1
          ) as folded
          order by bucket desc limit ${limit}
        `
      })
      const rows = yield* find(request.limit + 1)
      const bars: StoredBars = { cells: cellsOf(rows.slice(0, request.limit)), isCut: rows.length > request.limit }
      return bars
    })
  }
}
