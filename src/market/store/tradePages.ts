/** Swaps in pools as queries: pages of those of a mint, the largest of them, and those that price tokens. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { makeTradeTable } from "./tradeTable.ts"
import { packWallet, roleNumber, ROW_COLUMNS, toStored } from "./tradeRows.ts"
import type {
  LargestFound,
  LargestRequest,
  MoneySwapsRequest,
  TokenSwapsRequest,
  TradesFound,
  TradesRequest
} from "./TradesRequest.ts"

/** Swaps of a mint that one query looks at when it filters them: a rare filter continues on the next page. */
const MOST_SEARCHED = 20_000
/** Newest swaps of a mint among which one query finds the largest. */
const MOST_COMPARED = 50_000
/** Blocks of any trade within this time after the end of the request are looked at for its slot. */
const SLOT_SEARCH_MS = 5000
/** Slots by which the times of blocks may be out of order. */
const SLOT_MARGIN = 150
/** No slot is later. */
const LAST_SLOT = 2 ** 31 - 1
const FIRST_NEGATIVE = 1n << 63n

const readPlaces = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ slot: Schema.Number, place: Schema.Number }))
)

const readTimes = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ at: Schema.Date })))

type Table = Pick<ReturnType<typeof makeTradeTable>, "firstSlot" | "readTrades">

/** The query of a page. `searched` is the number of swaps that it looks at, for tests. */
export const makeTradePages = (sql: SqlClient.SqlClient, table: Table, searched = MOST_SEARCHED) => {
  const columns = sql.literal(ROW_COLUMNS)

  /** Swaps of the mint before the place and within the time, newest first. */
  const candidates = (chain: number, { before, fromMs, mint, toMs }: TradesRequest, endSlot: number | null) => {
    const conditions = [
      sql`mint = (select id from trade_names where name = ${mint})`,
      sql`chain = ${chain}`,
      sql`role not in (${roleNumber("wallet")}, ${roleNumber("transfer")})`,
      ...(before === null ? [] : [sql`(slot, place) < (${before.slot}::int, ${before.index}::int)`]),
      ...(endSlot === null ? [] : [sql`slot < ${endSlot}::int`]),
      ...(fromMs === null ? [] : [sql`at >= ${PgTypes.timestamptz(fromMs)}`]),
      ...(toMs === null ? [] : [sql`at < ${PgTypes.timestamptz(toMs)}`])
    ]
    return sql`from trade_rows where ${sql.and(conditions)} order by slot desc, place desc`
  }

  const ofValue = (least: bigint) =>
    least < FIRST_NEGATIVE
      ? sql`(volume_usd_nanos >= ${PgTypes.int8(least)} or volume_usd_nanos < 0)`
      : sql`(volume_usd_nanos < 0 and volume_usd_nanos >= ${PgTypes.int8(toStored(least) ?? 0n)})`

  const filters = ({ minUsdNanos, pool, side, wallet }: TradesRequest) => [
    ...(side === null ? [] : [sql`is_buy = ${side === "buy"}`]),
    ...(wallet === null ? [] : [sql`wallet = ${PgTypes.bytea(packWallet(wallet))}`]),
    ...(pool === null ? [] : [sql`pool = (select id from trade_names where name = ${pool})`]),
    ...(minUsdNanos === null ? [] : [ofValue(minUsdNanos)])
  ]

  return Effect.fnUntraced(function* (chain: number, request: TradesRequest) {
    const { limit, toMs } = request
    const after = toMs === null ? null : yield* table.firstSlot(chain, toMs, toMs + SLOT_SEARCH_MS)
    const from = candidates(chain, request, after === null ? null : after + SLOT_MARGIN)
    const conditions = filters(request)
    if (conditions.length === 0) {
      const trades = yield* Effect.flatMap(sql`select ${columns} ${from} limit ${limit}`.values, table.readTrades)
      return { trades, searchedTo: null } satisfies TradesFound
    }
    const trades = yield* Effect.flatMap(
      sql`
        select ${columns} from (select * ${from} limit ${searched}) as candidates
        where ${sql.and(conditions)} order by slot desc, place desc limit ${limit}
      `.values,
      table.readTrades
    )
    const ends =
      trades.length === limit
        ? []
        : yield* Effect.flatMap(sql`select slot, place ${from} offset ${searched - 1} limit 1`, readPlaces)
    const [end] = ends
    return { trades, searchedTo: end === undefined ? null : { slot: end.slot, index: end.place } } satisfies TradesFound
  })
}

/** The query of the largest swaps. `compared` is the number of swaps that it looks at, for tests. */
export const makeLargest = (sql: SqlClient.SqlClient, table: Table, compared = MOST_COMPARED) => {
  const columns = sql.literal(ROW_COLUMNS)

  return Effect.fnUntraced(function* (chain: number, { mint, startsMs, toSlot }: LargestRequest) {
    const [firstMs] = startsMs
    if (firstMs === undefined) {
      return { trades: [], clippedAtMs: null } satisfies LargestFound
    }
    const firstSlot = yield* table.firstSlot(chain, firstMs, firstMs + SLOT_SEARCH_MS)
    const conditions = [
      sql`mint = (select id from trade_names where name = ${mint})`,
      sql`chain = ${chain}`,
      sql`role not in (${roleNumber("wallet")}, ${roleNumber("transfer")})`,
      sql`slot <= ${toSlot}::int`,
      sql`at >= ${PgTypes.timestamptz(firstMs)}`,
      // Without this the newest swaps of a mint are looked for in all of its first day.
      ...(firstSlot === null ? [] : [sql`slot >= ${firstSlot - SLOT_MARGIN}::int`])
    ]
    const from = sql`from trade_rows where ${sql.and(conditions)} order by slot desc, place desc`
    const starts = Result.getOrThrow(PgTypes.array(startsMs, PgTypes.OID.timestamptz))
    const trades = yield* Effect.flatMap(
      sql`
        select distinct on (span) ${columns} from (
          select candidates.*, width_bucket(at, ${starts}) as span from (select * ${from} limit ${compared}) as candidates
        ) as candidates
        where volume_usd_nanos is not null
        order by span, (volume_usd_nanos < 0) desc, volume_usd_nanos desc, slot desc, place desc
      `.values,
      table.readTrades
    )
    const [clipped] = yield* Effect.flatMap(sql`select at ${from} offset ${compared} limit 1`, readTimes)
    return { trades, clippedAtMs: clipped?.at.getTime() ?? null } satisfies LargestFound
  })
}

const list = (values: ReadonlyArray<unknown>, oid: number) => Result.getOrThrow(PgTypes.array(values, oid))

/** The queries of the swaps that price tokens, and of the swaps of two tokens that they price. */
export const makeTokenSwaps = (sql: SqlClient.SqlClient, { readTrades }: Pick<Table, "readTrades">) => {
  const columns = sql.literal(ROW_COLUMNS)
  const forMoney = sql`
    role not in (${roleNumber("wallet")}, ${roleNumber("transfer")}) and other_mint is null
      and (lamports is not null or volume_usd_nanos is not null)
  `
  const newestAt = (chain: number, slot: number) => sql`
    select at from trade_rows where chain = ${chain} and slot <= ${slot}::int order by slot desc, place desc limit 1
  `

  return {
    /** See `TradeStore.moneySwaps`. */
    all: Effect.fnUntraced(function* (chain: number, slot: number, spanMs: number, most: number) {
      const [newest] = yield* Effect.flatMap(newestAt(chain, slot), readTimes)
      if (newest === undefined) {
        return []
      }
      const rows = yield* sql`
        select ${columns} from (
          select *, row_number() over (partition by mint order by slot desc, place desc) as number from trade_rows
          where chain = ${chain} and slot <= ${slot}::int and at >= ${PgTypes.timestamptz(newest.at.getTime() - spanMs)}
            and ${forMoney}
        ) as numbered
        where number <= ${most}::int order by slot, place
      `.values
      return yield* readTrades(rows)
    }),

    /** See `TradeStore.moneySwapsOf`. */
    of: (chain: number, { fromMs, most, places }: MoneySwapsRequest) =>
      Effect.flatMap(
        sql`
          select distinct on (slot, place) ${columns}
          from unnest(
            ${list(
              places.map(({ mint }) => mint),
              PgTypes.OID.text
            )},
            ${list(
              places.map(({ slot }) => slot),
              PgTypes.OID.int4
            )}
          ) as given (name, until)
          join trade_names on trade_names.name = given.name
          cross join lateral (
            select * from trade_rows
            where trade_rows.mint = trade_names.id and chain = ${chain} and slot <= given.until
              and at >= ${PgTypes.timestamptz(fromMs)} and ${forMoney}
            order by slot desc, place desc limit ${most}::int
          ) as swaps
          order by slot, place
        `.values,
        readTrades
      ),

    /** See `TradeStore.tokenSwapsAfter`. */
    after: (chain: number, { after, fromMs, mints, most, toMs }: TokenSwapsRequest) => {
      const later = sql`
        chain = ${chain} and slot > ${after}::int and at >= ${PgTypes.timestamptz(fromMs)}
          and at <= ${PgTypes.timestamptz(toMs)}
      `
      return Effect.flatMap(
        sql`
          with ends as materialized (
            select trade_names.id, (
              select slot from trade_rows where trade_rows.mint = trade_names.id and ${later} and ${forMoney}
              order by slot, place offset ${most - 1}::int limit 1
            ) as slot
            from trade_names where name = any (${list(mints, PgTypes.OID.text)})
          )
          select ${columns} from trade_rows
          where ${later} and other_mint is not null and exists (
            select from ends
            where ends.id in (trade_rows.mint, trade_rows.other_mint) and trade_rows.slot <= coalesce(ends.slot, ${LAST_SLOT}::int)
          )
          order by slot, place
        `.values,
        readTrades
      )
    }
  }
}
