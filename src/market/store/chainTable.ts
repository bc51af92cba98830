/** The table `chains`, as queries: which chains there are, and how far each is stored. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { ClosedTo } from "./barTable.ts"
import type { ChainIdentity, TradeProgress } from "./TradeStore.ts"
import { transaction } from "../../storage/transaction.ts"

const time = Schema.NullOr(Schema.Date)
const Row = Schema.Struct({
  id: Schema.Number,
  slot: Schema.NullOr(Schema.Number),
  slotAt: time,
  readFrom: time,
  unbrokenFrom: time,
  minutesTo: time,
  hoursTo: time,
  daysTo: time
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeIds = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.Number })))

/** How far a chain is stored and closed. */
export interface StoredChain {
  readonly progress: TradeProgress
  readonly closed: ClosedTo
}

const secondOf = (at: Date): number => at.getTime() / 1000

const storedOf = (row: typeof Row.Type): StoredChain | null => {
  const { daysTo, hoursTo, minutesTo, readFrom, slot, slotAt, unbrokenFrom } = row
  if (slot === null || slotAt === null || readFrom === null || unbrokenFrom === null) {
    return null
  }
  return minutesTo === null || hoursTo === null || daysTo === null
    ? null
    : {
        progress: {
          slot,
          timeMs: slotAt.getTime(),
          readFrom: secondOf(readFrom),
          unbrokenFrom: secondOf(unbrokenFrom)
        },
        closed: { minutes: secondOf(minutesTo), hours: secondOf(hoursTo), days: secondOf(daysTo) }
      }
}

const timeOf = (second: number) => PgTypes.timestamptz(second * 1000)

/** The queries. */
export const makeChainTable = (sql: SqlClient.SqlClient) => {
  return {
    /** The chain's number and state; it is entered when it is new. */
    find: Effect.fnUntraced(function* ({ genesis, isSandbox }: ChainIdentity, nowMs: number) {
      const [row] = yield* sql`
        insert into chains (genesis, is_sandbox, written_at)
        values (${genesis}, ${isSandbox}, ${PgTypes.timestamptz(nowMs)})
        on conflict (genesis) do update set written_at = excluded.written_at
        returning id, slot, slot_at, read_from, unbroken_from, minutes_to, hours_to, days_to
      `.pipe(Effect.flatMap((rows) => decodeRows(rows)))
      return row === undefined ? null : { id: row.id, stored: storedOf(row) }
    }),

    save: (id: number, { closed, progress }: StoredChain, nowMs: number) => sql`
      update chains set
        slot = ${progress.slot}::int,
        slot_at = ${PgTypes.timestamptz(progress.timeMs)},
        read_from = ${timeOf(progress.readFrom)},
        unbroken_from = ${timeOf(progress.unbrokenFrom)},
        minutes_to = ${timeOf(closed.minutes)},
        hours_to = ${timeOf(closed.hours)},
        days_to = ${timeOf(closed.days)},
        written_at = ${PgTypes.timestamptz(nowMs)}
      where id = ${id}
    `,

    /** Sandboxes that nobody has written to since a time. */
    abandoned: (exceptId: number, sinceMs: number) =>
      sql`
        select id from chains
        where is_sandbox and id <> ${exceptId} and written_at < ${PgTypes.timestamptz(sinceMs)}
      `.pipe(
        Effect.flatMap((rows) => decodeIds(rows)),
        Effect.map((rows) => rows.map(({ id }) => id))
      ),

    /** Takes away everything of a chain. */
    remove: (id: number) =>
      transaction(
        sql,
        Effect.gen(function* () {
          yield* sql`set local statement_timeout = 0`
          yield* sql`delete from trades where chain = ${id}`
          yield* sql`delete from bars where chain = ${id}`
          yield* sql`delete from launches where chain = ${id}`
          yield* sql`delete from chains where id = ${id}`
        })
      )
  }
}
