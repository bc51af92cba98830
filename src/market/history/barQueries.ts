/** Queries of one chain's candles in ClickHouse. */
import { Duration, Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { type ClickHouse, sqlBytes, sqlText } from "../../storage/clickhouse/ClickHouse.ts"
import { decodeRows } from "../../storage/clickhouse/decodeRows.ts"
import { type RowReader, RowWriter } from "../../storage/clickhouse/RowBinary.ts"
import type { Denomination } from "../model/bar.ts"
import type { Print } from "../model/outliers.ts"
import { countsTraders, floorTo, type Resolution, widthOf } from "../model/resolutions.ts"
import { type BarRow, cellsOf } from "./barRows.ts"
import { barSpans, type ClosedTo } from "../memory/barSpans.ts"
import type { PrintsRequest, RevisedBar, StoredBars, StoredBarsRequest } from "../model/StoredBars.ts"
import { packWallet, unpackText } from "./tradeRows.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { barNames, barOfBars, barOfTrades, barTables, IN_POOLS, ofWallets } from "./schema.ts"
import { READ_DEADLINE } from "./tradeQueries.ts"

const WRITE_DEADLINE = Duration.seconds(60)
const WALLET_BYTES = 32
/** The most candles that one statement rebuilds. */
const REWRITTEN = 500

const time = (second: number): string => `toDateTime(${second}, 'UTC')`
const timeMs = (second: number): string => `fromUnixTimestamp64Milli(${second * 1000}, 'UTC')`

/** The start of the bucket of a column `at`. Weeks begin on Monday, months on the first, all in UTC. */
const bucketOf = (resolution: Resolution): string => {
  if (resolution === "1mn") {
    return "toDateTime(toStartOfMonth(at, 'UTC'), 'UTC')"
  }
  return resolution === "1w"
    ? "toDateTime(toMonday(at, 'UTC'), 'UTC')"
    : `toDateTime(intDiv(toUnixTimestamp(at), ${widthOf[resolution]}) * ${widthOf[resolution]}, 'UTC')`
}

const MONEY = ["usd", "sol"] as const

/** The columns of a candle as it is read, in the order of `readBar`. */
const readColumns = (isCounted: boolean): string =>
  [
    "toUInt32(bucket)",
    ...MONEY.flatMap((money) => [
      `argMinMerge(open_${money})`,
      `max(high_${money})`,
      `min(low_${money})`,
      `argMaxMerge(close_${money})`,
      `sum(volume_${money})`,
      `sum(bought_${money})`
    ]),
    "sum(trades)",
    "sum(buys)",
    ...(isCounted ? ["uniqExactMerge(traders)"] : [])
  ].join(", ")

const readMoney = (row: RowReader) => {
  const price = () => row.nullable(() => row.float64())
  const [open, high, low, close] = [price(), price(), price(), price()]
  return { open, high, low, close, volume: row.uint128(), bought: row.uint128() }
}

type Bar = typeof BarRow.Type

const readBar =
  (isCounted: boolean) =>
  (row: RowReader): Omit<Bar, "revision"> => {
    const at = new Date(row.uint32() * 1000)
    const [usd, sol] = [readMoney(row), readMoney(row)]
    const [trades, buys] = [Number(row.uint64()), Number(row.uint64())]
    return {
      at,
      open: usd.open,
      high: usd.high,
      low: usd.low,
      close: usd.close,
      volumeUsdNanos: usd.volume,
      openSol: sol.open,
      highSol: sol.high,
      lowSol: sol.low,
      closeSol: sol.close,
      volumeLamports: sol.volume,
      trades,
      buys,
      buyUsdNanos: usd.bought,
      buyLamports: sol.bought,
      traders: isCounted ? Number(row.uint64()) : null
    }
  }

interface Touched {
  readonly mint: Mint
  readonly start: number
}

/** The candles of a width, before a second, that these pool trades belong to, with the number of their trades. */
const touchedBy = (
  trades: ReadonlyArray<TapeTrade>,
  width: number,
  before = Number.POSITIVE_INFINITY
): ReadonlyArray<Touched & { trades: number }> => {
  const touched = new Map<string, Touched & { trades: number }>()
  for (const { mint, role, timeMs } of trades) {
    const start = floorTo(Math.floor(timeMs / 1000), width)
    if (start >= before) {
      continue
    }
    const key = `${mint} ${start}`
    const known = touched.get(key)
    if (known !== undefined) {
      known.trades += 1
    } else if (role === "pool" || role === "both") {
      touched.set(key, { mint, start, trades: 1 })
    }
  }
  return Array.from(touched.values())
}

const chunksOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / REWRITTEN) }, (_, at) => all.slice(at * REWRITTEN, (at + 1) * REWRITTEN))

/** Selects bars made of the trades up to and including a slot. */
interface CutBarsRequest extends StoredBarsRequest {
  readonly toSlot: number
}

const ofMint = (chain: string, mint: Mint) => `chain = ${sqlText(chain)} AND mint = ${sqlBytes(packWallet(mint))}`

const tradesOf = (chain: string, { before, from, mint, pool }: Omit<PrintsRequest, "denom" | "limit">) =>
  `trades FINAL WHERE ${ofMint(chain, mint)} AND ${IN_POOLS} AND at >= ${timeMs(from)} AND at < ${timeMs(before)}${
    pool === undefined ? "" : ` AND pool = ${sqlBytes(packWallet(pool))}`
  }`

/** The closed candles and the trades from which the buckets of a request are made. */
const partsOf = (chain: string, closed: ClosedTo, request: CutBarsRequest, isCounted: boolean) => {
  const { mint, resolution, toSlot } = request
  const { spans, tradesFrom } = barSpans(closed, request)
  const bucket = `${bucketOf(resolution)} AS bucket`
  const bars = spans.map(({ from, to, width }) => {
    const name = barTables.find((table) => table.width === width)?.name ?? "minute_bars"
    return `SELECT ${bucket}, ${barNames(isCounted)} FROM ${name}
        WHERE ${ofMint(chain, mint)} AND at >= ${time(from)} AND at < ${time(to)}`
  })
  return tradesFrom === null
    ? bars
    : [
        ...bars,
        `SELECT ${bucket}, ${barOfTrades(isCounted)} FROM ${tradesOf(chain, { ...request, from: tradesFrom })}
          AND slot <= ${toSlot} GROUP BY bucket`
      ]
}

/** Times are Unix seconds. */
export const makeBarQueries = ({ insert, read, run }: ClickHouse["Service"]) => {
  /** The revisions of the buckets of a request. */
  const revisionsOf = (chain: string, { before, from, mint, resolution }: StoredBarsRequest, first: number) =>
    Effect.flatMap(
      read(
        `SELECT toUInt32(${bucketOf(resolution)}) AS bucket, sum(revision) FROM bar_revisions
        WHERE ${ofMint(chain, mint)} AND at >= ${time(Math.max(from ?? 0, first))} AND at < ${time(before)}
        AND width = ${barTables.findLast(({ width }) => widthOf[resolution] % width === 0)?.width ?? 0} GROUP BY bucket`,
        READ_DEADLINE
      ),
      (bytes) => decodeRows(bytes, (row) => [row.uint32(), Number(row.uint64())] as const)
    ).pipe(Effect.map((revisions) => new Map(revisions)))

  /** Makes the candles anew that a condition selects, from trades, or from the candles of the next finer width. */
  const makeAnew = Effect.fnUntraced(function* (
    { isCounted, name, width }: (typeof barTables)[number],
    selected: {
      readonly source: (start: string) => string
      readonly bars: string
      readonly from: number
      readonly to: number | null
    }
  ) {
    const { bars, from, source, to } = selected
    const finer = barTables.findLast((other) => other.width < width)
    const start = `toStartOfInterval(at, INTERVAL ${width} SECOND, 'UTC')`
    const until = (bound: (second: number) => string) => (to === null ? "" : ` AND at < ${bound(to)}`)
    const made =
      finer === undefined
        ? `SELECT chain, mint, ${start} AS bucket, ${barOfTrades(isCounted)} FROM trades FINAL
          WHERE ${source(start)} AND ${IN_POOLS} AND at >= ${timeMs(from)}${until(timeMs)} GROUP BY chain, mint, bucket`
        : `SELECT chain, mint, ${start} AS bucket, ${barOfBars} FROM ${finer.name}
          WHERE ${source(start)} AND at >= ${time(from)}${until(time)} GROUP BY chain, mint, bucket`
    yield* run(`DELETE FROM ${name} WHERE ${bars} SETTINGS lightweight_deletes_sync = 2`, WRITE_DEADLINE)
    yield* run(
      `INSERT INTO ${name} (chain, mint, at, ${barNames(isCounted)}) SETTINGS insert_deduplicate = 0
      SELECT chain, mint, bucket, ${barNames(isCounted)} FROM (${made})`,
      WRITE_DEADLINE
    )
  })

  /** Rebuilds candles of one width. */
  const rewriteOf = Effect.fnUntraced(function* (
    chain: string,
    table: (typeof barTables)[number],
    touched: ReadonlyArray<Touched>
  ) {
    const { width } = table
    const starts = touched.map(({ start }) => start)
    const keys = touched.map(({ mint, start }) => `(${sqlBytes(packWallet(mint))}, ${time(start)})`).join(", ")
    const mints = [...new Set(touched.map(({ mint }) => mint))].map((mint) => sqlBytes(packWallet(mint))).join(", ")
    const ofMints = `chain = ${sqlText(chain)} AND mint IN (${mints})`
    yield* makeAnew(table, {
      bars: `${ofMints} AND (mint, at) IN (${keys})`,
      source: (start) => `${ofMints} AND (mint, ${start}) IN (${keys})`,
      from: Math.min(...starts),
      to: Math.max(...starts) + width
    })
  })

  return {
    /** Rebuilds the candles of trades whose prices changed, each width from the next finer one. */
    rewrite: (chain: string, repriced: ReadonlyArray<TapeTrade>) =>
      Effect.forEach(
        barTables,
        (table) =>
          Effect.forEach(chunksOf(touchedBy(repriced, table.width)), (touched) => rewriteOf(chain, table, touched)),
        { discard: true }
      ),

    /**
     * Makes again what the views have made of the trades since a second: candles, each width from the next finer one, and the
     * trades of wallets.
     */
    remakeFrom: Effect.fnUntraced(function* (chain: string, second: number) {
      // A row that is there already has the same key and version, so it does not count twice.
      yield* run(
        `INSERT INTO wallet_trades SETTINGS insert_deduplicate = 0 SELECT ${ofWallets} AND chain = ${sqlText(chain)}
        AND at >= ${timeMs(second)}`,
        WRITE_DEADLINE
      )
      yield* Effect.forEach(
        barTables,
        (table) => {
          const from = floorTo(second, table.width)
          const ofChain = `chain = ${sqlText(chain)}`
          return makeAnew(table, { bars: `${ofChain} AND at >= ${time(from)}`, source: () => ofChain, from, to: null })
        },
        { discard: true }
      )
    }),

    /** Notes that closed candles have gained trades, or have changed because trades have new prices. */
    revise: (
      chain: string,
      closed: ClosedTo,
      { fresh, repriced, token }: { fresh: ReadonlyArray<TapeTrade>; repriced: ReadonlyArray<TapeTrade>; token: string }
    ) => {
      const row = new RowWriter()
      const closedTo: Record<(typeof barTables)[number]["width"], number> = {
        60: closed.minutes,
        3600: closed.hours,
        86_400: closed.days
      }
      for (const { width } of barTables) {
        const gained = touchedBy(fresh, width, closedTo[width])
        const known = new Set(gained.map(({ mint, start }) => `${mint} ${start}`))
        const changed = touchedBy(repriced, width, closedTo[width])
          .filter(({ mint, start }) => !known.has(`${mint} ${start}`))
          .map((bar) => ({ ...bar, trades: 1 }))
        for (const { mint, start, trades } of [...gained, ...changed]) {
          row.text(chain)
          row.bytes(packWallet(mint))
          row.uint32(width)
          row.uint32(start)
          row.uint64(BigInt(trades))
        }
      }
      return row.written.length === 0
        ? Effect.void
        : insert(
            { table: "bar_revisions", columns: "chain, mint, width, at, revision", rows: row.written, token },
            WRITE_DEADLINE
          )
    },

    /** The candles from a second on that changed after they were closed. */
    revised: (chain: string, from: number) =>
      Effect.flatMap(
        read(
          `SELECT mint, width, toUInt32(at), sum(revision) FROM bar_revisions
          WHERE chain = ${sqlText(chain)} AND at >= ${time(from)} GROUP BY mint, width, at`,
          WRITE_DEADLINE
        ),
        (bytes) =>
          decodeRows(bytes, (row): RevisedBar => ({
            mint: unpackText(row.bytes(), WALLET_BYTES) as Mint,
            width: row.uint32(),
            second: row.uint32(),
            revision: Number(row.uint64())
          }))
      ),

    /** The trades that a candle is made of, in the order of the chain. */
    prints: (chain: string, request: PrintsRequest) => {
      const columns: Record<Denomination, string> = {
        usd: "price_usd, ifNull(volume_usd_nanos, 0)",
        sol: "price_sol, ifNull(worth, 0)"
      }
      return Effect.flatMap(
        read(
          `SELECT ${columns[request.denom]} FROM ${tradesOf(chain, request)} ORDER BY slot, place LIMIT ${request.limit}`,
          READ_DEADLINE
        ),
        (bytes) =>
          decodeRows(bytes, (row): Print => ({ price: row.nullable(() => row.float64()), volume: row.uint64() }))
      )
    },

    /** The buckets of a request, newest first. */
    read: Effect.fnUntraced(function* (chain: string, closed: ClosedTo, request: CutBarsRequest) {
      const isCounted = countsTraders(request.resolution)
      const parts = partsOf(chain, closed, request, isCounted)
      if (parts.length === 0) {
        return { cells: new Float64Array(0), isCut: false } satisfies StoredBars
      }
      const bytes = yield* read(
        `SELECT ${readColumns(isCounted)} FROM (${parts.join(" UNION ALL ")}) GROUP BY bucket
        ORDER BY bucket DESC LIMIT ${request.limit + 1}`,
        READ_DEADLINE
      )
      const found = yield* decodeRows(bytes, readBar(isCounted))
      const kept = found.slice(0, request.limit)
      const first = kept.at(-1)?.at.getTime() ?? 0
      const revisions =
        request.pool === undefined && kept.length > 0 ? yield* revisionsOf(chain, request, first / 1000) : null
      const rows = kept.map((bar) => ({ ...bar, revision: revisions?.get(bar.at.getTime() / 1000) ?? 0 }))
      return { cells: cellsOf(rows), isCut: found.length > request.limit } satisfies StoredBars
    })
  }
}
