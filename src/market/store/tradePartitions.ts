/** The daily partitions of `trade_rows` and `minute_bars`: created before they are written to, dropped once they are too old. */
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { transaction } from "../../storage/transaction.ts"

const DAY_MS = 86_400_000
// Any number, the same in every process.
const PARTITION_LOCK = 7_426_130

/** The tables that are partitioned by day. */
export type DailyTable = "trade_rows" | "minute_bars"

const dayOf = (timeMs: number): number => Math.floor(timeMs / DAY_MS)
const startOf = (day: number): string => new Date(day * DAY_MS).toISOString()
const nameOf = (table: DailyTable, day: number): string => `${table}_${startOf(day).slice(0, 10).replaceAll("-", "")}`

/** Creates and drops daily partitions. */
export const makePartitions = (sql: SqlClient.SqlClient) => {
  const made = new Set<number>()

  const makeDay = (table: DailyTable, day: number) =>
    sql`
      create table if not exists ${sql(nameOf(table, day))} partition of ${sql(table)}
      for values from (${sql.literal(`'${startOf(day)}'`)}) to (${sql.literal(`'${startOf(day + 1)}'`)})
    `

  /** A day of trades, in which a trade is unique by slot and place. */
  const makeTradeDay = Effect.fnUntraced(function* (day: number) {
    const name = nameOf("trade_rows", day)
    yield* makeDay("trade_rows", day)
    yield* sql`create unique index if not exists ${sql(`${name}_place`)} on ${sql(name)} (chain, slot, place)`
  })

  /** Runs alone among processes, which must not create the same day twice, and never waits long for a slow reader. */
  const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    transaction(
      sql,
      Effect.gen(function* () {
        yield* sql`set local lock_timeout = '5s'`
        yield* sql`select pg_advisory_xact_lock(${PARTITION_LOCK}::bigint)`
        return yield* effect
      })
    )

  const partitionsOf = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ name: Schema.String }),
    execute: (table) =>
      sql`select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass`
  })

  return {
    /** Creates the missing days of these times. */
    ensure: Effect.fnUntraced(function* (timesMs: Iterable<number>) {
      const days = new Set(Array.from(timesMs, dayOf).filter((day) => !made.has(day)))
      if (days.size === 0) {
        return
      }
      yield* alone(
        Effect.forEach(days, (day) => Effect.andThen(makeTradeDay(day), makeDay("minute_bars", day)), {
          discard: true
        })
      )
      days.forEach((day) => made.add(day))
    }),

    /** Drops the days of a table that ended before a time. */
    dropBefore: Effect.fnUntraced(function* (table: DailyTable, timeMs: number) {
      const oldest = nameOf(table, dayOf(timeMs))
      // Names of one table are in the order of their days.
      const old = (yield* partitionsOf(table)).filter(({ name }) => name < oldest)
      yield* Effect.forEach(old, ({ name }) => alone(sql`drop table if exists ${sql(name)}`), { discard: true })
      made.clear()
    })
  }
}
