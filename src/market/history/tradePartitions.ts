/**
 * The daily partitions of `trade_rows` and `minute_bars`. They are created before they are written to and dropped once
 * they are too old.
 */
import { Effect, Schema } from "effect"
import { type SqlClient, SqlError, SqlSchema } from "effect/sql"
import { transaction } from "../../storage/transaction.ts"

const DAY_MS = 86_400_000
// The key of an advisory lock: any number, the same in every process.
const PARTITION_LOCK = 7_426_130

/** The tables that are partitioned by day. */
export type DailyTable = "trade_rows" | "minute_bars"

const dayOf = (timeMs: number): number => Math.floor(timeMs / DAY_MS)
const startOf = (day: number): string => new Date(day * DAY_MS).toISOString()
const nameOf = (table: DailyTable, day: number): string => `${table}_${startOf(day).slice(0, 10).replaceAll("-", "")}`

/**
 * The partition of the day of a time. Whoever reads it by this name, and not by its table, does not hold up the dropping
 * of other days.
 */
export const partitionOf = (table: DailyTable, timeMs: number): string => nameOf(table, dayOf(timeMs))

/** How long the creation of a day waits for another process. */
const MAKE_TIMEOUT = "5s"
/** How long dropping a day waits for its readers. Every read and write of the table waits behind it meanwhile. */
const DROP_TIMEOUT = "200ms"

const isInUse = ({ reason }: SqlError.SqlError): boolean => reason._tag === "LockTimeoutError"

/** Creates and drops daily partitions. */
export const makePartitions = (sql: SqlClient.SqlClient) => {
  const made = new Set<number>()

  const attached = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ isThere: Schema.Boolean }),
    execute: (name) => sql`select to_regclass(${name}) is not null as is_there`
  })

  /**
   * Makes a day of a table and attaches it afterwards. Unlike creating a partition in place, attaching waits for no
   * writer and no reader. So it cannot deadlock with the writer of a block, who takes both tables in another order.
   */
  const makeDay = Effect.fnUntraced(function* (table: DailyTable, day: number) {
    const name = nameOf(table, day)
    const [found] = yield* attached(name)
    if (found?.isThere === true) {
      return
    }
    yield* sql`create table ${sql(name)} (like ${sql(table)} including all excluding indexes)`
    if (table === "trade_rows") {
      // A trade is unique by slot and place within its day.
      yield* sql`create unique index ${sql(`${name}_place`)} on ${sql(name)} (chain, slot, place)`
    }
    yield* sql`
      alter table ${sql(table)} attach partition ${sql(name)}
      for values from (${sql.literal(`'${startOf(day)}'`)}) to (${sql.literal(`'${startOf(day + 1)}'`)})
    `
  })

  /** Runs alone among processes, because two must not create the same day. Never waits long for a slow reader. */
  const alone = <A, E, R>(effect: Effect.Effect<A, E, R>, patience = MAKE_TIMEOUT) =>
    transaction(
      sql,
      Effect.gen(function* () {
        yield* sql`set local lock_timeout = ${sql.literal(`'${MAKE_TIMEOUT}'`)}`
        yield* sql`select pg_advisory_xact_lock(${PARTITION_LOCK}::bigint)`
        yield* sql`set local lock_timeout = ${sql.literal(`'${patience}'`)}`
        return yield* effect
      })
    )

  const drop = (name: string) =>
    Effect.catchIf(
      Effect.asVoid(alone(sql`drop table if exists ${sql(name)}`, DROP_TIMEOUT)),
      (failure): failure is SqlError.SqlError => SqlError.isSqlError(failure) && isInUse(failure),
      () => Effect.logInfo("A day that is no longer kept is being read, and is dropped later", { name })
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
        Effect.forEach(days, (day) => Effect.andThen(makeDay("trade_rows", day), makeDay("minute_bars", day)), {
          discard: true
        })
      )
      days.forEach((day) => made.add(day))
    }),

    /** Drops the days of a table that ended before a time. Days that are being read stay for the next call. */
    dropBefore: Effect.fnUntraced(function* (table: DailyTable, timeMs: number) {
      const oldest = nameOf(table, dayOf(timeMs))
      // Names of one table are in the order of their days.
      const old = (yield* partitionsOf(table)).filter(({ name }) => name < oldest)
      yield* Effect.forEach(old, ({ name }) => drop(name), { discard: true })
      made.clear()
    })
  }
}
