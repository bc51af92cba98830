/** SQL reads of pool swaps: one mint's swaps by page, its largest swaps, and the swaps that price tokens. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { makeTradeTable } from "./tradeTable.ts"
import { columnsOf, textArray, timeArray } from "./arrays.ts"
import { OWN_COLUMNS, packWallet, roleNumber, ROW_COLUMNS, toStored } from "./tradeRows.ts"
import type {
  LargestFound,
  LargestRequest,
  MoneySwapsRequest,
  OlderFound,
  OlderRequest,
  TokenSwapsRequest,
  TradesFound,
  TradesRequest
} from "../model/TradesRequest.ts"

/** Swaps of a mint that one filtered query looks at. A rare filter continues on the next page. */
const MOST_SEARCHED = 20_000
/** One query finds the largest swap among this many of the newest swaps of a mint. */
const MOST_COMPARED = 50_000
/** To find the last slot of a request, blocks up to this long after its end are looked at. */
const SLOT_SEARCH_MS = 5000
/** Block times may be out of order by this many slots. */
const SLOT_MARGIN = 150
/** A chain with few blocks may have none that soon. */
const SPARSE_SEARCH_MS = 60_000
/** Rows of a wallet that one query looks at. They lie far apart. */
const MOST_ROWS_SEARCHED = 5000
/** No slot is later. */
const LAST_SLOT = 2 ** 31 - 1
const FIRST_NEGATIVE = 1n << 63n

const PlaceRow = Schema.Struct({ slot: Schema.Number, place: Schema.Number })
const TimeRow = Schema.Struct({ at: Schema.Date })

type Table = Pick<ReturnType<typeof makeTradeTable>, "firstSlot" | "readTrades">

/** Makes the query of a page. `searched` is the number of swaps that it looks at; tests set it. */
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
    const placeAt = SqlSchema.findAll({
      Request: Schema.Number,
      Result: PlaceRow,
      execute: (offset) => sql`select slot, place ${from} offset ${offset} limit 1`
    })
    const [end] = trades.length === limit ? [] : yield* placeAt(searched - 1)
    return { trades, searchedTo: end === undefined ? null : { slot: end.slot, index: end.place } } satisfies TradesFound
  })
}

/** Makes the query of the rows of a wallet. `searched` is the number of rows that it looks at; tests set it. */
export const makeOlder = (sql: SqlClient.SqlClient, table: Table, searched = MOST_ROWS_SEARCHED) => {
  const columns = sql.literal(OWN_COLUMNS)

  /** The first slot of the chain from a time on; null when no block is found soon after it. */
  const slotAt = Effect.fnUntraced(function* (chain: number, timeMs: number | null) {
    return timeMs === null
      ? null
      : ((yield* table.firstSlot(chain, timeMs, timeMs + SLOT_SEARCH_MS)) ??
          (yield* table.firstSlot(chain, timeMs + SLOT_SEARCH_MS, timeMs + SPARSE_SEARCH_MS)))
  })

  return Effect.fnUntraced(function* (
    chain: number,
    { before, fromMs, kind, limit, mint, side, toMs, wallet }: OlderRequest
  ) {
    const [first, end] = [yield* slotAt(chain, fromMs), yield* slotAt(chain, toMs)]
    const packed = PgTypes.bytea(packWallet(wallet))
    const candidates = sql.and([
      sql`substr(wallet, 1, 7) = substr(${packed}, 1, 7)`,
      // See `newestOf` in tradeTable.ts.
      sql`case when wallet = ${packed} and chain = ${chain} then true else false end`,
      sql`role <> 0`,
      sql`(slot, place) < (${before.slot}::int, ${before.index}::int)`,
      // Without these the database searches everything between the place and the times.
      ...(first === null ? [] : [sql`slot >= ${first - SLOT_MARGIN}::int`]),
      ...(end === null ? [] : [sql`slot < ${end + SLOT_MARGIN}::int`]),
      ...(fromMs === null ? [] : [sql`at >= ${PgTypes.timestamptz(fromMs)}`]),
      ...(toMs === null ? [] : [sql`at < ${PgTypes.timestamptz(toMs)}`])
    ])
    const filters = sql.and([
      kind === "transfers" ? sql`role = ${roleNumber("transfer")}` : sql`role <> ${roleNumber("transfer")}`,
      ...(mint === null ? [] : [sql`mint = (select id from trade_names where name = ${mint})`]),
      ...(side === null ? [] : [sql`is_buy = ${side === "buy"}`])
    ])
    const from = sql`from trade_rows where ${candidates} order by slot desc, place desc`
    const read = (rows: ReadonlyArray<ReadonlyArray<unknown>>) => table.readTrades(rows, wallet)
    const found = yield* sql`
      select ${columns} from (select * ${from} limit ${searched}) as candidates
      where ${filters} order by slot desc, place desc limit ${limit}
    `.values
    const ends =
      found.length === limit ? [] : yield* sql`select ${columns} ${from} offset ${searched - 1} limit 1`.values
    const [trades, [searchedTo = null]] = [yield* read(found), yield* read(ends)]
    return { trades, searchedTo } satisfies OlderFound
  })
}

/** Makes the query of the largest swaps. `compared` is the number of swaps that it looks at; tests set it. */
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
      // Without this condition the database searches the whole first day for the newest swaps of a mint.
      ...(firstSlot === null ? [] : [sql`slot >= ${firstSlot - SLOT_MARGIN}::int`])
    ]
    const from = sql`from trade_rows where ${sql.and(conditions)} order by slot desc, place desc`
    const starts = timeArray(startsMs)
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
    const timeAt = SqlSchema.findAll({
      Request: Schema.Number,
      Result: TimeRow,
      execute: (offset) => sql`select at ${from} offset ${offset} limit 1`
    })
    const [clipped] = yield* timeAt(compared)
    return { trades, clippedAtMs: clipped?.at.getTime() ?? null } satisfies LargestFound
  })
}

/** Makes the queries of the swaps that price tokens, and of the swaps of two tokens that those prices value. */
export const makeTokenSwaps = (sql: SqlClient.SqlClient, { readTrades }: Pick<Table, "readTrades">) => {
  const columns = sql.literal(ROW_COLUMNS)
  const forMoney = sql`
    role not in (${roleNumber("wallet")}, ${roleNumber("transfer")}) and other_mint is null
      and (lamports is not null or volume_usd_nanos is not null)
  `
  const newestAt = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, slot: Schema.Number }),
    Result: TimeRow,
    execute: ({ chain, slot }) => sql`
      select at from trade_rows where chain = ${chain} and slot <= ${slot}::int order by slot desc, place desc limit 1
    `
  })

  return {
    /** See `TradeHistory.moneySwaps`. */
    all: Effect.fnUntraced(function* (chain: number, slot: number, spanMs: number, most: number) {
      const [newest] = yield* newestAt({ chain, slot })
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

    /** See `TradeHistory.moneySwapsOf`. */
    of: (chain: number, { fromMs, most, places }: MoneySwapsRequest) => {
      const given = columnsOf(places)
      return places.length === 0
        ? Effect.succeed([])
        : Effect.flatMap(
            sql`
          select distinct on (slot, place) ${columns}
          from unnest(
            ${given.texts(({ mint }) => mint)},
            ${given.integers(({ slot }) => slot)}
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
          )
    },

    /** See `TradeHistory.tokenSwapsAfter`. */
    after: (chain: number, { after, fromMs, mints, most, toMs }: TokenSwapsRequest) => {
      const later = sql`
        chain = ${chain} and slot > ${after}::int and at >= ${PgTypes.timestamptz(fromMs)}
          and at <= ${PgTypes.timestamptz(toMs)}
      `
      return mints.length === 0
        ? Effect.succeed([])
        : Effect.flatMap(
            sql`
          with ends as materialized (
            select trade_names.id, (
              select slot from trade_rows where trade_rows.mint = trade_names.id and ${later} and ${forMoney}
              order by slot, place offset ${most - 1}::int limit 1
            ) as slot
            from trade_names where name = any (${textArray(mints)})
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
