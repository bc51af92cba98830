/** Queries of the table `chains`: which chains there are, and how much of each is stored. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { ClosedTo } from "../memory/barSpans.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import { makeGapTable } from "./gapTable.ts"
import type { Gaps } from "../model/Gaps.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import { transaction } from "../../storage/transaction.ts"

/** A sandbox that has not been written to for this long has ended. */
const ABANDONED_MS = 120_000

const time = Schema.NullOr(Schema.Date)
const Row = Schema.Struct({
  id: Schema.Number,
  slot: Schema.NullOr(Schema.Number),
  slotAt: time,
  readFrom: time,
  firstSlot: Schema.NullOr(Schema.Number),
  minutesTo: time,
  hoursTo: time,
  daysTo: time,
  supplyFrom: time,
  liquidityFrom: time,
  openingsFrom: time,
  repairs: Schema.Number,
  tradedSlot: Schema.NullOr(Schema.Number)
})

/** The progress of a chain, and the time up to which its candles are closed. */
export interface StoredChain {
  readonly progress: TradeProgress
  readonly closed: ClosedTo
}

const secondOf = (at: Date): number => at.getTime() / 1000

/** The second from which on something is stored; minus infinity when it always was. */
const beginningOf = (at: Date | null): number => (at === null ? Number.NEGATIVE_INFINITY : secondOf(at))

const storedOf = (row: typeof Row.Type, gaps: Gaps): StoredChain | null => {
  const { daysTo, firstSlot, hoursTo, minutesTo, readFrom, repairs, slot, slotAt } = row
  if (slot === null || slotAt === null || readFrom === null || firstSlot === null) {
    return null
  }
  return minutesTo === null || hoursTo === null || daysTo === null
    ? null
    : {
        progress: {
          slot,
          timeMs: slotAt.getTime(),
          firstSlot,
          readFrom: secondOf(readFrom),
          gaps,
          repairs
        },
        closed: { minutes: secondOf(minutesTo), hours: secondOf(hoursTo), days: secondOf(daysTo) }
      }
}

const timeOf = (second: number) => PgTypes.timestamptz(second * 1000)

export const makeChainTable = (sql: SqlClient.SqlClient) => {
  const upsert = SqlSchema.findAll({
    Request: Schema.Struct({ genesis: Schema.String, isSandbox: Schema.Boolean, nowMs: Schema.Number }),
    Result: Row,
    execute: ({ genesis, isSandbox, nowMs }) => sql`
      insert into chains (genesis, is_sandbox, written_at)
      values (${genesis}, ${isSandbox}, ${PgTypes.timestamptz(nowMs)})
      on conflict (genesis) do update set written_at = excluded.written_at
      returning id, slot, slot_at, first_slot, read_from, minutes_to, hours_to, days_to, supply_from, liquidity_from, openings_from, repairs, traded_slot
    `
  })

  const abandoned = SqlSchema.findAll({
    Request: Schema.Struct({ exceptId: Schema.Number, sinceMs: Schema.Number }),
    Result: Schema.Struct({ id: Schema.Number }),
    execute: ({ exceptId, sinceMs }) => sql`
      select id from chains
      where is_sandbox and id <> ${exceptId} and written_at < ${PgTypes.timestamptz(sinceMs)}
    `
  })

  const byId = SqlSchema.findAll({
    Request: Schema.Number,
    Result: Row,
    execute: (id) => sql`
      select id, slot, slot_at, first_slot, read_from, minutes_to, hours_to, days_to, supply_from, liquidity_from, openings_from, repairs, traded_slot
      from chains where id = ${id}
    `
  })

  const Term = Schema.Struct({ term: Schema.Number })
  const claimed = SqlSchema.findAll({
    Request: Schema.Number,
    Result: Term,
    execute: (id) => sql`update chains set term = term + 1 where id = ${id} returning term::int`
  })
  const held = SqlSchema.findAll({
    Request: Schema.Number,
    Result: Term,
    execute: (id) => sql`select term::int from chains where id = ${id} for update`
  })

  const gaps = makeGapTable(sql)

  return {
    gaps,

    /** Reads the state of a chain; null when nothing of it is stored. */
    read: Effect.fnUntraced(function* (id: number) {
      const [row] = yield* byId(id)
      return row === undefined ? null : storedOf(row, yield* gaps.of(id))
    }),

    /**
     * Makes the caller the only writer of a chain and returns the number of its term. Waits for a write that is not
     * committed yet.
     */
    claim: Effect.fnUntraced(function* (id: number) {
      const [row] = yield* claimed(id)
      return row?.term ?? null
    }),

    /**
     * True while the writer's term lasts. Within a transaction, nobody else can claim the chain until the commit. A
     * transaction that stays idle for three seconds is aborted, so that the next writer does not wait for it.
     */
    holdTerm: Effect.fnUntraced(function* (id: number, term: number) {
      yield* sql`select set_config('idle_in_transaction_session_timeout', '3s', true)`
      const [row] = yield* held(id)
      return row?.term === term
    }),

    /** The number and state of a chain, which is inserted when it is new. */
    find: Effect.fnUntraced(function* (chain: ChainIdentity, nowMs: number) {
      const [row] = yield* upsert({ ...chain, nowMs })
      if (row === undefined) {
        return yield* Effect.die(new Error("a chain was inserted without a row"))
      }
      return {
        id: row.id,
        supplyFrom: beginningOf(row.supplyFrom),
        liquidityFrom: beginningOf(row.liquidityFrom),
        openingsFrom: beginningOf(row.openingsFrom),
        traded: row.tradedSlot,
        stored: storedOf(row, yield* gaps.of(row.id))
      }
    }),

    /**
     * Saves the state of a chain and adds `made` to its count of repairs. Returns the new count, which includes repairs
     * by other writers. `traded` is the newest slot with a trade in ClickHouse; with null it stays as it is.
     */
    save: Effect.fnUntraced(function* (
      id: number,
      { closed, progress }: StoredChain,
      nowMs: number,
      made = 0,
      traded: number | null = null
    ) {
      const saved = SqlSchema.findAll({
        Request: Schema.Number,
        Result: Schema.Struct({ repairs: Schema.Number }),
        execute: (repairs) => sql`
          update chains set
            slot = ${progress.slot}::int,
            slot_at = ${PgTypes.timestamptz(progress.timeMs)},
            read_from = ${timeOf(progress.readFrom)},
            first_slot = ${progress.firstSlot}::int,
            minutes_to = ${timeOf(closed.minutes)},
            hours_to = ${timeOf(closed.hours)},
            days_to = ${timeOf(closed.days)},
            repairs = repairs + ${repairs}::int,
            traded_slot = coalesce(${traded}::int, traded_slot),
            written_at = ${PgTypes.timestamptz(nowMs)}
          where id = ${id}
          returning repairs
        `
      })
      const [row] = yield* saved(made)
      return row?.repairs ?? progress.repairs
    }),

    /** Sandboxes that have ended, except one. */
    abandoned: (exceptId: number, nowMs: number) =>
      Effect.map(abandoned({ exceptId, sinceMs: nowMs - ABANDONED_MS }), (rows) => rows.map(({ id }) => id)),

    /** Deletes a chain with everything stored of it. */
    remove: (id: number) =>
      transaction(
        sql,
        Effect.gen(function* () {
          yield* sql`set local statement_timeout = 0`
          yield* sql`delete from trade_rows where chain = ${id}`
          yield* sql`delete from bars where chain = ${id}`
          yield* sql`delete from launches where chain = ${id}`
          yield* sql`delete from supply_changes where chain = ${id}`
          yield* sql`delete from liquidity_events where chain = ${id}`
          yield* sql`delete from wallet_openings where chain = ${id}`
          yield* sql`delete from holder_snapshots where chain = ${id}`
          yield* sql`delete from block_gaps where chain = ${id}`
          yield* sql`delete from market_snapshots where chain = ${id}`
          yield* sql`delete from market_snapshot_parts where chain = ${id}`
          yield* sql`delete from chains where id = ${id}`
        })
      )
  }
}
