/** Queries of the table `supply_changes`: units minted less units burned, by block and mint. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { SupplyRequest } from "../model/StoredSupply.ts"
import { columnsOf } from "./arrays.ts"
import { packWallet } from "./tradeRows.ts"
import { purgeRows } from "../../storage/purge.ts"

const Row = Schema.Struct({ slot: Schema.Number, at: Schema.Date, change: Schema.String })

export const makeSupplyTable = (sql: SqlClient.SqlClient) => {
  const newest = SqlSchema.findAll({
    Request: Schema.Struct({
      chain: Schema.Number,
      mint: Schema.String,
      fromMs: Schema.Number,
      limit: Schema.Number
    }),
    Result: Row,
    execute: ({ chain, fromMs, limit, mint }) => sql`
      select slot, at, change::text as change from supply_changes
      where chain = ${chain} and mint = ${PgTypes.bytea(packWallet(mint))} and at >= ${PgTypes.timestamptz(fromMs)}
      order by slot desc limit ${limit}
    `
  })

  return {
    /** Adds the changes of blocks that are not stored yet, in the transaction of the caller. */
    insert: (chain: number, batches: ReadonlyArray<StoredBatch>) => {
      const all = batches.flatMap(({ slot, supply = [], timeMs }) => supply.map((each) => ({ ...each, slot, timeMs })))
      const given = columnsOf(all)
      return all.length === 0
        ? Effect.void
        : sql`
            insert into supply_changes (chain, mint, slot, at, change)
            select ${chain}::int, mint, slot, at, change::numeric
            from unnest(
              ${given.binaries(({ mint }) => packWallet(mint))},
              ${given.integers(({ slot }) => slot)},
              ${given.times(({ timeMs }) => timeMs)},
              ${given.texts(({ change }) => String(change))}
            ) as given (mint, slot, at, change)
            on conflict do nothing
          `
    },

    /** The newest changes of a mint from a second on, oldest first. */
    of: (chain: number, { from, mint, most }: SupplyRequest) =>
      Effect.map(newest({ chain, mint, fromMs: Math.max(0, from) * 1000, limit: most }), (rows) =>
        rows
          .map(({ at, change, slot }) => ({ slot, second: Math.floor(at.getTime() / 1000), change: BigInt(change) }))
          .toReversed()
      ),

    /** Deletes changes from before a time, of every chain. */
    dropBefore: (timeMs: number) => {
      const where = sql`at < ${PgTypes.timestamptz(timeMs)}`
      return purgeRows({ sql, table: "supply_changes", where, bound: (statement) => statement })
    }
  }
}
