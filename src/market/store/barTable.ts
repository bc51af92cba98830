/** The table `bars`, as queries: candles are closed by folding finer ones, and the finest are made of trades. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import { BAR, beginBar, CLOSE, COUNT, HIGH, LOW, OPEN, VOLUME } from "../candles/bar.ts"
import { floorTo, levelOf, levels, type Resolution, widthOf } from "../candles/resolutions.ts"
import type { StoredBars, StoredBarsRequest } from "./StoredBars.ts"
import { writeWide } from "../columnar/wide.ts"

/** Up to which second the candles of a minute, an hour and a day are closed. */
export interface ClosedTo {
  readonly minutes: number
  readonly hours: number
  readonly days: number
}

const [, MINUTE = 60, HOUR = 3600, DAY = 86_400] = levels

/** The closed times when every candle from this second on is open. */
export const closedBefore = (second: number): ClosedTo => ({
  minutes: floorTo(second, MINUTE),
  hours: floorTo(second, HOUR),
  days: floorTo(second, DAY)
})

/** The candles that can be closed once no trade before this second can come. */
export const closedAfter = (known: ClosedTo, second: number): ClosedTo => {
  const minutes = Math.max(known.minutes, floorTo(second, MINUTE))
  const hours = Math.max(known.hours, floorTo(minutes, HOUR))
  return { minutes, hours, days: Math.max(known.days, floorTo(hours, DAY)) }
}

/** The candles that stay closed after a late trade of this second. */
export const reopened = (known: ClosedTo, second: number): ClosedTo => {
  const open = closedBefore(second)
  return {
    minutes: Math.min(known.minutes, open.minutes),
    hours: Math.min(known.hours, open.hours),
    days: Math.min(known.days, open.days)
  }
}

const Row = Schema.Struct({
  at: Schema.Date,
  open: Schema.NullOr(Schema.Number),
  high: Schema.NullOr(Schema.Number),
  low: Schema.NullOr(Schema.Number),
  close: Schema.NullOr(Schema.Number),
  trades: Schema.Number,
  volumeUsdNanos: Schema.BigIntFromString
})

const fill = (cells: Float64Array, base: number, { at, close, high, low, open, trades, ...row }: typeof Row.Type) => {
  beginBar(cells, base, at.getTime() / 1000)
  cells[base + COUNT] = trades
  writeWide(cells, base + VOLUME, row.volumeUsdNanos)
  if (open !== null && high !== null && low !== null && close !== null) {
    cells[base + OPEN] = open
    cells[base + HIGH] = high
    cells[base + LOW] = low
    cells[base + CLOSE] = close
  }
}

const cellsOf = (rows: ReadonlyArray<typeof Row.Type>): Float64Array => {
  const cells = new Float64Array(rows.length * BAR)
  rows.forEach((row, place) => fill(cells, place * BAR, row))
  return cells
}

/** The start of the bucket of a column `at`, as SQL. Weeks begin on Monday, months on the first, all in UTC. */
const bucketSql = (resolution: Resolution): string => {
  if (resolution === "1mn") {
    return "date_trunc('month', at, 'UTC')"
  }
  const origin = resolution === "1w" ? "1969-12-29 00:00:00+00" : "1970-01-01 00:00:00+00"
  return `date_bin('${widthOf[resolution]} seconds', at, '${origin}')`
}

/** The first price of a group and the last, in the order of the chain; null when there is none. */
const FIRST = "(array_agg(open order by at, slot, place) filter (where open is not null))[1]"
const LAST = "(array_agg(close order by at desc, slot desc, place desc) filter (where close is not null))[1]"

const time = (second: number) => PgTypes.timestamptz(second * 1000)

/** The queries. Times are Unix seconds. */
export const makeBarTable = (sql: SqlClient.SqlClient) => {
  const within = (from: number, to: number) => sql`at >= ${time(from)} and at < ${time(to)}`

  const ofTrades = sql.literal(`
    mint, chain, at, slot, place, price_usd as open, price_usd as high, price_usd as low, price_usd as close,
    1 as trades, volume_usd_nanos
  `)
  const ofBars = sql.literal("mint, chain, at, 0 as slot, 0 as place, open, high, low, close, trades, volume_usd_nanos")
  const sums = sql.literal(
    `${FIRST} as open, max(high) as high, min(low) as low, ${LAST} as close, sum(trades) as trades,
    coalesce(sum(volume_usd_nanos), 0) as volume_usd_nanos`
  )

  const close = (chain: number, width: number, resolution: Resolution, parts: Statement.Fragment) => sql`
    insert into bars (mint, chain, width, at, open, high, low, close, trades, volume_usd_nanos)
    select mint, ${chain}::int, ${width}::int, bucket, open, high, low, close, trades, volume_usd_nanos from (
      select mint, ${sql.literal(bucketSql(resolution))} as bucket, ${sums}
      from (${parts}) as parts group by 1, 2
    ) as folded
    on conflict (mint, chain, width, at) do update set
      open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
      trades = excluded.trades, volume_usd_nanos = excluded.volume_usd_nanos
  `

  const bars = (chain: number, width: number, from: number, to: number) =>
    sql`select ${ofBars} from bars where chain = ${chain} and width = ${width} and ${within(from, to)}`

  const trades = (chain: number, from: number, to: number) =>
    sql`select ${ofTrades} from trades where chain = ${chain} and role <> 'wallet' and ${within(from, to)}`

  /** The widest closed candles that fit the resolution, finer ones for what they do not reach, then trades. */
  const partsOf = (chain: number, closed: ClosedTo, { before, from, mint, resolution }: StoredBarsRequest) => {
    const level = levelOf(resolution)
    const steps = [
      { width: DAY, to: closed.days },
      { width: HOUR, to: closed.hours },
      { width: MINUTE, to: closed.minutes }
    ].filter(({ width }) => width <= (levels[level] ?? 0))
    const parts: Array<Statement.Fragment> = []
    let start = from ?? 0
    for (const { to, width } of steps) {
      // The request may begin or end inside of a bucket of this width.
      const begin = Math.ceil(start / width) * width
      const end = Math.min(to, floorTo(before, width))
      if (begin === start && begin < end) {
        parts.push(sql`${bars(chain, width, start, end)} and mint = ${mint}`)
        start = end
      }
    }
    return start < before ? [...parts, sql`${trades(chain, start, before)} and mint = ${mint}`] : parts
  }

  return {
    /** Closes the candles between two states. */
    close: (chain: number, from: ClosedTo, to: ClosedTo) =>
      Effect.gen(function* () {
        if (from.minutes < to.minutes) {
          yield* close(chain, MINUTE, "1m", trades(chain, from.minutes, to.minutes))
        }
        if (from.hours < to.hours) {
          yield* close(chain, HOUR, "1h", bars(chain, MINUTE, from.hours, to.hours))
        }
        if (from.days < to.days) {
          yield* close(chain, DAY, "1d", bars(chain, HOUR, from.days, to.days))
        }
      }),

    /** The buckets of a request, the newest first. */
    read: Effect.fnUntraced(function* (chain: number, closed: ClosedTo, request: StoredBarsRequest) {
      const parts = partsOf(chain, closed, request)
      if (parts.length === 0) {
        return { cells: new Float64Array(0), isCut: false }
      }
      const find = SqlSchema.findAll({
        Request: Schema.Number,
        Result: Row,
        execute: (limit) => sql`
          select bucket as at, open, high, low, close, trades::float8, volume_usd_nanos from (
            select ${sql.literal(bucketSql(request.resolution))} as bucket, ${sums}
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
