/** Queries of the table `holder_snapshots`: holders and concentration of tokens by hour. */
import { PgTypes } from "@effect/sql-pg"
import { Config, Duration, Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { addressFromBytes } from "../../domain/Address.ts"
import { durationSetting } from "../../domain/countSetting.ts"
import { purgeRows } from "../../storage/purge.ts"
import type { HolderHistoryRequest, HolderSnapshot } from "../model/HolderHistory.ts"
import { columnsOf } from "./arrays.ts"
import { packWallet } from "./tradeRows.ts"

/** `HOLDER_SNAPSHOTS_KEPT` (90 days). */
export const holderSnapshotsKept: Config.Config<Duration.Duration> = durationSetting("HOLDER_SNAPSHOTS_KEPT").pipe(
  Config.withDefault(Duration.days(90))
)

const Row = Schema.Struct({
  mint: Schema.Uint8Array,
  hour: Schema.Date,
  at: Schema.Date,
  slot: Schema.Number,
  holders: Schema.Number,
  held: Schema.String,
  top10: Schema.String,
  top50: Schema.String,
  excluded: Schema.String,
  poolsKnown: Schema.Boolean
})

const LAST_MS = Date.UTC(9999, 0)

const snapshotOf = (row: typeof Row.Type): HolderSnapshot => ({
  mint: addressFromBytes(row.mint),
  hourMs: row.hour.getTime(),
  atMs: row.at.getTime(),
  slot: row.slot,
  holders: row.holders,
  held: BigInt(row.held),
  top10: BigInt(row.top10),
  top50: BigInt(row.top50),
  excluded: BigInt(row.excluded),
  poolsKnown: row.poolsKnown
})

export const makeHolderTable = (sql: SqlClient.SqlClient) => {
  const found = SqlSchema.findAll({
    Request: Schema.Struct({
      chain: Schema.Number,
      mint: Schema.String,
      fromMs: Schema.Number,
      toMs: Schema.Number,
      limit: Schema.Number
    }),
    Result: Row,
    execute: ({ chain, fromMs, limit, mint, toMs }) => sql`
      select mint, hour, at, slot, holders, held::text as held, top10::text as top10, top50::text as top50,
        excluded::text as excluded, pools_known
      from holder_snapshots
      where chain = ${chain} and mint = ${PgTypes.bytea(packWallet(mint))}
        and hour >= ${PgTypes.timestamptz(fromMs)} and hour < ${PgTypes.timestamptz(toMs)}
      order by hour desc limit ${limit}
    `
  })

  return {
    insert: (chain: number, snapshots: ReadonlyArray<HolderSnapshot>) => {
      const given = columnsOf(snapshots)
      return snapshots.length === 0
        ? Effect.void
        : Effect.asVoid(sql`
            insert into holder_snapshots (
              chain, mint, hour, at, slot, holders, held, top10, top50, excluded, pools_known
            )
            select ${chain}::int, mint, hour, at, slot, holders, held::numeric, top10::numeric, top50::numeric,
              excluded::numeric, pools_known
            from unnest(
              ${given.binaries(({ mint }) => packWallet(mint))},
              ${given.times(({ hourMs }) => hourMs)},
              ${given.times(({ atMs }) => atMs)},
              ${given.integers(({ slot }) => slot)},
              ${given.integers(({ holders }) => holders)},
              ${given.texts(({ held }) => String(held))},
              ${given.texts(({ top10 }) => String(top10))},
              ${given.texts(({ top50 }) => String(top50))},
              ${given.texts(({ excluded }) => String(excluded))},
              ${given.booleans(({ poolsKnown }) => poolsKnown)}
            ) as given (mint, hour, at, slot, holders, held, top10, top50, excluded, pools_known)
            on conflict do nothing
          `)
    },

    of: (chain: number, { fromMs, limit, mint, toMs }: HolderHistoryRequest) =>
      Effect.map(found({ chain, mint, fromMs: fromMs ?? 0, toMs: toMs ?? LAST_MS, limit }), (rows) =>
        rows.map(snapshotOf)
      ),

    /** Deletes snapshots of hours before a time, of every chain. */
    dropBefore: (timeMs: number) => {
      const where = sql`hour < ${PgTypes.timestamptz(timeMs)}`
      return purgeRows({ sql, table: "holder_snapshots", where, bound: (statement) => statement })
    }
  }
}
