/** Writes stored trades, holders or candles of a time range to a file, beside a running service. */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { type Column, ExportFailed, type Format, openTableFile } from "../../storage/tableFile.ts"
import { transaction } from "../../storage/transaction.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { makeTradeNames } from "../history/tradeNames.ts"
import { type DailyTable, partitionOf } from "../history/tradePartitions.ts"
import { roleNumber, ROW_COLUMNS } from "../history/tradeRows.ts"
import { makeTradeTable } from "../history/tradeTable.ts"
import { type BarWidth, barWidths, type Dataset, gapsWithin, readStoredRange } from "./storedRange.ts"
import { barColumns, type ExportedBar, holderColumns, tradeColumns, walletColumns } from "./columns.ts"

export interface ExportRequest {
  /**
   * `trades`: swaps of pools. `wallets`: net trades and transfers of wallets. `holders`: wallets with such a row, and what
   * they held after the newest one. `bars`: closed candles of a token.
   */
  readonly dataset: Dataset
  readonly file: string
  readonly format: Format
  /** From this moment on, and before `toMs`; null for everything that is stored. Milliseconds since the Unix epoch. */
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly width: BarWidth
  /** Genesis hash of the chain; null for the chain that was written last. */
  readonly genesis: string | null
  /** Longest time of one statement, in milliseconds; none where it is left out. */
  readonly statementMs?: number
}

/** What was written. Times are in milliseconds since the Unix epoch. */
export interface ExportSummary {
  readonly rows: number
  readonly genesis: string
  /** The range of the rows: what was asked for, within what is stored. */
  readonly fromMs: number
  readonly toMs: number
  /** Stretches of the range whose blocks are missing. */
  readonly gaps: ReadonlyArray<{ readonly fromSlot: number; readonly toSlot: number }>
  /** True when every block of the requested range was read; for everything that is stored, from the first whole second. */
  readonly isWhole: boolean
}

/** Rows per fetch. */
const FETCHED = 5000
const DAY_MS = 86_400_000

const numeric = Schema.BigIntFromString
const price = Schema.NullOr(Schema.Number)
const BarRow = Schema.Struct({
  mint: Schema.String,
  at: Schema.Date,
  open: price,
  high: price,
  low: price,
  close: price,
  openSol: price,
  highSol: price,
  lowSol: price,
  closeSol: price,
  volumeUsdNanos: numeric,
  volumeLamports: Schema.NullOr(numeric),
  trades: numeric,
  buys: Schema.NullOr(numeric),
  traders: Schema.NullOr(Schema.Number),
  revision: Schema.Number
})

const decodeBars = Schema.decodeUnknownEffect(Schema.Array(BarRow))

/** The UTC days of a range, cut at its ends. */
const daysOf = (fromMs: number, toMs: number): ReadonlyArray<readonly [number, number]> => {
  const days: Array<readonly [number, number]> = []
  for (let at = fromMs; at < toMs;) {
    const end = Math.min(toMs, (Math.floor(at / DAY_MS) + 1) * DAY_MS)
    days.push([at, end])
    at = end
  }
  return days
}

const roles = {
  trades: `role in (${roleNumber("pool")}, ${roleNumber("both")})`,
  wallets: `role in (${roleNumber("wallet")}, ${roleNumber("both")}, ${roleNumber("transfer")})`
}

const within = (chain: number, [fromMs, toMs]: readonly [number, number]): string =>
  `chain = ${chain} and at >= to_timestamp(${fromMs / 1000}) and at < to_timestamp(${toMs / 1000})`

/**
 * Exports rows in the order of the chain; candles by mint and time, holders by mint. Reads everything at one moment, a cursor's page at a
 * time, so memory holds one page and one group of the file. Fails when the file exists or no chain is stored.
 */
export const exportRows = Effect.fn("market.exportRows")(function* (request: ExportRequest) {
  const sql = yield* SqlClient.SqlClient
  const table = makeTradeTable(sql, makeTradeNames(sql))

  /**
   * Reads a query page by page and returns the number of rows. Each form of rows has a cursor of its own name, because
   * the connection remembers the columns that a fetch of a name returns.
   */
  const pages = Effect.fnUntraced(function* <Row, E1, E2>(
    cursor: string,
    query: string,
    read: (page: Statement.Statement<object>) => Effect.Effect<ReadonlyArray<Row>, E1>,
    write: (rows: ReadonlyArray<Row>) => Effect.Effect<void, E2>
  ) {
    yield* sql`declare ${sql.literal(cursor)} no scroll cursor for ${sql.literal(query)}`
    let count = 0
    while (true) {
      const rows = yield* read(sql<object>`fetch ${sql.literal(String(FETCHED))} from ${sql.literal(cursor)}`)
      yield* write(rows)
      count += rows.length
      if (rows.length < FETCHED) {
        break
      }
    }
    yield* sql`close ${sql.literal(cursor)}`
    return count
  })

  const findTable = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ isThere: Schema.Boolean }),
    execute: (name) => sql`select to_regclass(${name}) is not null as is_there`
  })

  /** The partitions of the days of a range. They are read by name, so that other days can be dropped meanwhile. */
  const partitions = Effect.fnUntraced(function* (table: DailyTable, range: readonly [number, number]) {
    const found: Array<{ readonly name: string; readonly day: readonly [number, number] }> = []
    for (const day of daysOf(...range)) {
      const name = partitionOf(table, day[0])
      const [known] = yield* findTable(name)
      if (known?.isThere === true) {
        found.push({ name, day })
      }
    }
    return found
  })

  const open = <Row>(columns: ReadonlyArray<Column<Row>>) => openTableFile(request.file, request.format, columns)

  const trades = Effect.fnUntraced(function* (
    chain: number,
    range: readonly [number, number],
    dataset: keyof typeof roles
  ) {
    const { finish, write } = yield* open<TapeTrade>(dataset === "trades" ? tradeColumns : walletColumns)
    const condition = roles[dataset]
    let count = 0
    // A day is a partition with an index in the order of the chain.
    for (const { day, name } of yield* partitions("trade_rows", range)) {
      const query = `select ${ROW_COLUMNS} from ${name} where ${within(chain, day)} and ${condition} order by slot, place`
      count += yield* pages("exported_trades", query, (page) => Effect.flatMap(page.values, table.readTrades), write)
    }
    return { count, finish }
  })

  const holders = Effect.fnUntraced(function* (chain: number, range: readonly [number, number]) {
    const { finish, write } = yield* open<TapeTrade>(holderColumns)
    // The first row of a mint and a wallet is known once all rows are sorted.
    yield* sql`set local statement_timeout = ${sql.literal(String(request.statementMs ?? 0))}`
    const days = yield* partitions("trade_rows", range)
    if (days.length === 0) {
      return { count: 0, finish }
    }
    const rows = days.map(
      ({ day, name }) => `select ${ROW_COLUMNS} from ${name} where ${within(chain, day)} and ${roles.wallets}`
    )
    const query = `
      select ${ROW_COLUMNS} from (
        select distinct on (mint, wallet) * from (${rows.join(" union all ")}) as days
        order by mint, wallet, slot desc, place desc
      ) as newest
      where held_after is distinct from 0 order by mint, wallet
    `
    const count = yield* pages(
      "exported_holders",
      query,
      (page) => Effect.flatMap(page.values, table.readTrades),
      write
    )
    return { count, finish }
  })

  const bars = Effect.fnUntraced(function* (chain: number, range: readonly [number, number], width: BarWidth) {
    const { finish, write } = yield* open<ExportedBar>(barColumns)
    const tables =
      width === "1m"
        ? (yield* partitions("minute_bars", range)).map(({ name }) => name)
        : [width === "1h" ? "hour_bars" : "day_bars"]
    if (tables.length === 0) {
      return { count: 0, finish }
    }
    const rows = tables.map(
      (name) => `
        select mint, at, open, high, low, close, open_sol, high_sol, low_sol, close_sol,
          volume_usd_nanos::text, volume_lamports::text, trades::text, buys::text, traders, revision
        from ${name} where ${within(chain, range)} and width = ${barWidths[width]}`
    )
    const query = `select * from (${rows.join(" union all ")}) as days order by mint, at`
    const count = yield* pages("exported_bars", query, (page) => Effect.flatMap(page, decodeBars), write)
    return { count, finish }
  })

  const copy = Effect.gen(function* () {
    yield* sql`set transaction isolation level repeatable read, read only`
    const stored = yield* readStoredRange(sql, request)
    if (stored === null) {
      return yield* new ExportFailed({ detail: "no trades of this chain are stored in PostgreSQL" })
    }
    // Of the second before `wholeMs` only some blocks may be stored.
    const { chain, endMs, wholeMs } = stored
    const grainMs = request.dataset === "bars" ? 1000 * barWidths[request.width] : 1000
    const firstMs = Math.floor((wholeMs - 1000) / grainMs) * grainMs
    const fromMs = Math.max(request.fromMs ?? firstMs, firstMs)
    const toMs = Math.max(fromMs, Math.min(request.toMs ?? endMs, endMs))
    const gaps = gapsWithin(stored.gaps, fromMs, toMs).map(({ fromSlot, toSlot }) => ({ fromSlot, toSlot }))
    const isAll = (request.fromMs ?? wholeMs) >= wholeMs && (request.toMs ?? endMs) <= endMs
    const range = [fromMs, toMs] as const
    const { count, finish } =
      request.dataset === "bars"
        ? yield* bars(chain, range, request.width)
        : request.dataset === "holders"
          ? yield* holders(chain, range)
          : yield* trades(chain, range, request.dataset)
    const summary: ExportSummary = {
      rows: count,
      genesis: stored.genesis,
      fromMs,
      toMs,
      gaps,
      isWhole: isAll && gaps.length === 0
    }
    yield* finish({ fathom: JSON.stringify(summary) })
    return summary
  })
  return yield* Effect.scoped(transaction(sql, copy))
})
