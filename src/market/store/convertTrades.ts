/** The conversion of `old_trades`, the table of texts and numerics that `trade_rows` replaced. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { transaction } from "../../storage/transaction.ts"
import type { makePartitions } from "./tradePartitions.ts"
import { packWallet, SIGNATURE_BYTES } from "./tradeRows.ts"

// Any number, the same in every process.
const CONVERSION_LOCK = 7_426_140
/** Wallets packed at a time. */
const PAGE = 10_000

const Day = Schema.Struct({ name: Schema.String, day: Schema.String })
const Found = Schema.Struct({ isThere: Schema.Boolean })
const Wallets = Schema.Array(Schema.Struct({ name: Schema.String }))
const Counts = Schema.Array(Schema.Struct({ rows: Schema.Number }))

const list = (oid: number, values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, oid))

/** Signed 64 bits of a numeric column. */
const bits = (column: string) =>
  `(case when ${column} > 9223372036854775807 then ${column} - 18446744073709551616 else ${column} end)::bigint`

/** The signature as `packSignature` would pack it, except that its base58 is left as text. */
const SIGNATURE = `convert_to(signature, 'UTF8')
  || case when octet_length(signature) = ${SIGNATURE_BYTES} then '\\x00'::bytea else ''::bytea end`

/**
 * Converts the days of `old_trades`, the newest first, each in one transaction that also drops it, and then drops the table.
 * A process that is killed continues with the day it had begun; a second one waits. Days that ended before `keptFromMs` are
 * dropped. Does nothing once the table is gone.
 */
export const makeConversion = (sql: SqlClient.SqlClient, partitions: ReturnType<typeof makePartitions>) => {
  const find = SqlSchema.findAll({
    Request: Schema.String,
    Result: Found,
    execute: (name) => sql`select to_regclass(${name}) is not null as is_there`
  })
  const exists = (name: string) => Effect.map(find(name), ([row]) => row?.isThere === true)

  const days = SqlSchema.findAll({
    Request: Schema.Null,
    Result: Day,
    execute: () => sql`
      select inhrelid::regclass::text as name, right(inhrelid::regclass::text, 8) as day
      from pg_inherits where inhparent = 'old_trades'::regclass order by 1 desc
    `
  })

  const packWallets = Effect.fnUntraced(function* (day: string) {
    yield* sql`create temp table old_wallets (name text collate "C" primary key, packed bytea) on commit drop`
    yield* sql`insert into old_wallets (name) select distinct wallet from ${sql(day)}`
    let last = ""
    while (true) {
      const page = yield* sql`
        select name from old_wallets where name > ${last} order by name limit ${PAGE}
      `.pipe(Effect.flatMap(Schema.decodeUnknownEffect(Wallets)))
      const names = page.map(({ name }) => name)
      yield* sql`
        update old_wallets set packed = given.packed
        from unnest(
          ${list(PgTypes.OID.text, names)}, ${list(PgTypes.OID.bytea, names.map(packWallet))}
        ) as given (name, packed)
        where old_wallets.name = given.name
      `
      if (names.length < PAGE) {
        yield* sql`analyze old_wallets`
        return
      }
      last = names.at(-1) ?? last
    }
  })

  const numberNames = (day: string) => sql`
    insert into trade_names (name)
    select name from (
      select mint from ${sql(day)} union select pool from ${sql(day)}
      union select dex from ${sql(day)} union select launchpad from ${sql(day)}
    ) as given (name)
    where name is not null and not exists (select from trade_names where trade_names.name = given.name)
    order by name
    on conflict do nothing
  `

  const copyRows = (day: string) => sql`
    with copied as (
      insert into trade_rows (
        chain, slot, place, at, role, is_buy, decimals, amount, lamports, price_usd, volume_usd_nanos, mint, pool, dex,
        launchpad, wallet, signature
      )
      select
        chain, slot, place, at, case role when 'pool' then 0 when 'wallet' then 1 else 2 end, is_buy, decimals,
        ${sql.literal(bits("amount"))}, ${sql.literal(bits("lamports"))}, price_usd,
        ${sql.literal(bits("volume_usd_nanos"))}, mints.id, pools.id, venues.id, launchpads.id, old_wallets.packed,
        ${sql.literal(SIGNATURE)}
      from ${sql(day)} as old
      join trade_names as mints on mints.name = old.mint
      join old_wallets on old_wallets.name = old.wallet
      left join trade_names as pools on pools.name = old.pool
      left join trade_names as venues on venues.name = old.dex
      left join trade_names as launchpads on launchpads.name = old.launchpad
      order by at, slot, place
      on conflict do nothing
      returning 1
    )
    select count(*)::float8 as rows from copied
  `

  const convertDay = Effect.fnUntraced(function* (day: string, isKept: boolean) {
    yield* sql`set local statement_timeout = 0`
    yield* sql`select pg_advisory_xact_lock(${CONVERSION_LOCK}::bigint)`
    if (!(yield* exists(day))) {
      return
    }
    if (isKept) {
      yield* packWallets(day)
      yield* numberNames(day)
      yield* sql`analyze trade_names`
      const [counted] = yield* copyRows(day).pipe(Effect.flatMap(Schema.decodeUnknownEffect(Counts)))
      yield* Effect.logInfo("A day of stored trades is converted", { table: day, trades: counted?.rows ?? 0 })
    }
    yield* sql`drop table ${sql(day)}`
  })

  const dropTable = Effect.gen(function* () {
    yield* sql`select pg_advisory_xact_lock(${CONVERSION_LOCK}::bigint)`
    yield* sql`drop table if exists old_trades`
  })

  return Effect.fnUntraced(function* (keptFromMs: number) {
    if (!(yield* exists("old_trades"))) {
      return
    }
    const found = yield* days(null)
    yield* Effect.logInfo("Stored trades are converted to a smaller format", { days: found.length })
    for (const { day, name } of found) {
      const startMs = Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6, 8)))
      const isKept = startMs + 86_400_000 > keptFromMs
      if (isKept) {
        yield* partitions.ensure([startMs])
      }
      yield* transaction(sql, convertDay(name, isKept))
    }
    yield* transaction(sql, dropTable)
    yield* Effect.logInfo("Stored trades are converted")
  })
}
