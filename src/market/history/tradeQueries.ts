/** Queries of one chain's trades in ClickHouse. */
import { Array as Arrays, Duration, Effect, Stream } from "effect"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { type ClickHouse, type ClickHouseUnavailable, sqlBytes, sqlText } from "../../storage/clickhouse/ClickHouse.ts"
import { decodeRows, decoding } from "../../storage/clickhouse/decodeRows.ts"
import { readWhole } from "../../storage/clickhouse/RowBinary.ts"
import { packWallet } from "./tradeRows.ts"
import {
  type LargestFound,
  type LargestRequest,
  type MoneySwapsRequest,
  newestFirst,
  type OlderFound,
  type OlderRequest,
  type TokenSwapsRequest,
  type TradesFound,
  type TradesRequest
} from "../model/TradesRequest.ts"
import { LAST_MS } from "../model/StoredBatch.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { IN_POOLS } from "./schema.ts"
import { readTrade, TRADE_COLUMNS } from "./tradeColumns.ts"

/** Deadline of a read that a request waits for. */
export const READ_DEADLINE = Duration.seconds(2)
/** Deadline of a writer's question about what is stored. Blocks wait meanwhile. */
const CHECK_DEADLINE = Duration.seconds(10)
/** Deadline of reading the blocks that memory is restored from. */
export const RESTORE_DEADLINE = Duration.minutes(5)
/** The most mints and places that one statement names. That is far below the 256 KiB that a statement may have. */
const MOST_LISTED = 1000
const MOST_PLACES = 10_000
const ADDRESS_BYTES = 32

/** Selects one trade for each place: the latest version, which comes first. */
const NEWEST_FIRST = "ORDER BY slot DESC, place DESC, version DESC LIMIT 1 BY slot, place"

const time = (ms: number): string => `fromUnixTimestamp64Milli(${Math.trunc(ms)}, 'UTC')`

const equals = (column: string, address: string): string => `${column} = ${sqlBytes(packWallet(address))}`

/** Blocks of a chain in `(after, to]` between two times. The server reads only the parts with such times. */
export interface Span {
  readonly after: number
  readonly to: number
  readonly fromMs: number
  readonly untilMs: number
}

/** Selects the newest swaps of every token up to a slot. */
interface NewestSwapsRequest {
  readonly slot: number
  readonly spanMs: number
  readonly most: number
  readonly fromMs: number
}

const ofChain = (chain: string): string => `chain = ${sqlText(chain)}`

const between = (chain: string, { after, fromMs, to, untilMs }: Span) =>
  `${ofChain(chain)} AND slot > ${after} AND slot <= ${to} AND at >= ${time(fromMs)} AND at <= ${time(untilMs)}`

const within = (chain: string, span: Span) => `${between(chain, span)} AND role != 'transfer'`

/** Restricts a statement to some mints. With more mints than a statement can list, it reads all. */
const ofMints = (mints: ReadonlySet<Mint>): string =>
  mints.size > MOST_LISTED ? "" : ` AND mint IN (${[...mints].map((mint) => sqlBytes(packWallet(mint))).join(", ")})`

const conditions = (parts: ReadonlyArray<string | null>): string => parts.filter((part) => part !== null).join(" AND ")

/** `held` are the trades of the newest slot, which may be incomplete; `rest` is an incomplete row. */
interface Arrived {
  readonly rest: Uint8Array
  readonly held: ReadonlyArray<TapeTrade>
}

const arrivedAfter = ({ held, rest: before }: Arrived, piece: Uint8Array, to: number) => {
  const { rest, rows } = readWhole(before.length === 0 ? piece : Buffer.concat([before, piece]), readTrade)
  if (rows.some(({ slot }) => slot > to)) {
    throw new Error("the answer ends with the failure of the server")
  }
  const all = held.length === 0 ? rows : [...held, ...rows]
  const end = all.findLastIndex(({ slot }) => slot !== all.at(-1)?.slot) + 1
  const given = end === 0 ? [] : [all.slice(0, end)]
  return [{ rest, held: all.slice(end) } satisfies Arrived, given] as const
}

const atEnd = (arrived: Arrived) => {
  if (arrived.rest.length > 0) {
    throw new Error("the answer was cut off")
  }
  return [arrived, arrived.held.length === 0 ? [] : [arrived.held]] as const
}

/** The trades up to a slot, as whole slots, from rows that arrive in pieces. Fails when the rows are cut off. */
const wholeSlots = (pieces: Stream.Stream<Uint8Array, ClickHouseUnavailable>, to: number) =>
  pieces.pipe(
    Stream.concat(Stream.succeed(null)),
    Stream.mapAccumEffect(
      (): Arrived => ({ rest: new Uint8Array(), held: [] }),
      (arrived, piece) => decoding(() => (piece === null ? atEnd(arrived) : arrivedAfter(arrived, piece, to)))
    )
  )

/** Condition on the latest version of a trade: a pool swap of a token for SOL or a dollar. */
const PRICES_TOKEN = `${IN_POOLS} AND other_mint = '' AND (lamports IS NOT NULL OR volume_usd_nanos IS NOT NULL)`

const IN_ORDER = "ORDER BY slot, place"

/** The latest version of every trade that meets a condition. The condition must not depend on what repairs change. */
const newestOf = (condition: string): string =>
  `(SELECT ${TRADE_COLUMNS} FROM trades WHERE ${condition} ${NEWEST_FIRST})`

/** Declares `mints`, so that a statement contains their bytes once. */
const withMints = (mints: ReadonlyArray<Mint>): string => {
  const bytes = sqlBytes(Buffer.concat(mints.map(packWallet)))
  const size = ADDRESS_BYTES
  return `WITH arrayMap(at -> substring(${bytes}, at * ${size} + 1, ${size}), range(${mints.length})) AS mints`
}

/** Condition that a column is among the mints of `withMints`. */
const amongst = (column: string): string => `${column} IN (SELECT arrayJoin(mints))`

/** The slots of each mint, divided into parts that one statement can name. */
const partsOf = (places: MoneySwapsRequest["places"]) => {
  const parts: Array<Map<Mint, ReadonlyArray<number>>> = []
  let count = MOST_PLACES
  for (const [mint, of] of Map.groupBy(places, (place) => place.mint)) {
    const slots = Array.from(new Set(of.map(({ slot }) => slot)))
    const last = parts.at(-1)
    if (last === undefined || last.size >= MOST_LISTED || count + slots.length > MOST_PLACES) {
      parts.push(new Map([[mint, slots]]))
      count = slots.length
    } else {
      last.set(mint, slots)
      count += slots.length
    }
  }
  return parts
}

/** Each trade once, in the order of the chain. */
const mergedOf = (found: ReadonlyArray<ReadonlyArray<TapeTrade>>): ReadonlyArray<TapeTrade> => {
  const [first = []] = found
  const all = new Map(found.flat().map((trade) => [`${trade.slot}.${trade.index}`, trade]))
  return found.length < 2 ? first : Array.from(all.values()).toSorted(newestFirst).toReversed()
}

export const makeTradeQueries = ({ read, stream }: ClickHouse["Service"]) => {
  const trades = (query: string, deadline = READ_DEADLINE) =>
    Effect.flatMap(read(query, deadline), (bytes) => decodeRows(bytes, readTrade))

  const slots = (query: string, deadline = RESTORE_DEADLINE) =>
    Effect.flatMap(read(query, deadline), (bytes) => decodeRows(bytes, (row) => row.uint32()))

  /** The time of the newest block up to a slot with a trade from a time on, in milliseconds; 0 without any. */
  const newestTime = (chain: string, slot: number, fromMs: number) =>
    read(
      `SELECT toUnixTimestamp64Milli(max(at)) FROM trades
      WHERE ${between(chain, { after: -1, to: slot, fromMs, untilMs: LAST_MS })}`,
      RESTORE_DEADLINE
    ).pipe(
      Effect.flatMap((bytes) => decodeRows(bytes, (row) => Number(row.int64()))),
      Effect.map(([newestMs]) => newestMs ?? 0)
    )

  return {
    newestTime,

    /** The newest slot with a trade from a time on; 0 without any. */
    newestSlot: (chain: string, fromMs: number) =>
      Effect.map(
        slots(`SELECT max(slot) FROM trades WHERE ${ofChain(chain)} AND at >= ${time(fromMs)}`, CHECK_DEADLINE),
        ([slot]) => slot ?? 0
      ),

    /** The places of stored trades of these mints in a span, as `slot.place`. */
    placesOf: (chain: string, mints: ReadonlySet<Mint>, span: Span) =>
      read(`SELECT slot, place FROM trades WHERE ${between(chain, span)}${ofMints(mints)}`, CHECK_DEADLINE).pipe(
        Effect.flatMap((bytes) => decodeRows(bytes, (row) => `${row.uint32()}.${row.uint32()}`)),
        Effect.map((places) => new Set(places))
      ),

    /** The latest version among the trades of these mints in a span; 0 without any. */
    latestVersion: (chain: string, mints: ReadonlySet<Mint>, span: Span) =>
      read(`SELECT max(version) FROM trades WHERE ${between(chain, span)}${ofMints(mints)}`, CHECK_DEADLINE).pipe(
        Effect.flatMap((bytes) => decodeRows(bytes, (row) => row.uint64())),
        Effect.map(([version]) => version ?? 0n)
      ),

    /** The first slot with a trade of a span; null when there is none. */
    firstSlot: (chain: string, span: Span) =>
      Effect.map(
        slots(`SELECT slot FROM trades WHERE ${within(chain, span)} ORDER BY slot LIMIT 1`),
        ([slot]) => slot ?? null
      ),

    /** The slot of the `most`-newest trade of a span; null when there are fewer. */
    slotOfNewest: (chain: string, span: Span, most: number) =>
      Effect.map(
        slots(
          `SELECT slot FROM trades FINAL WHERE ${within(chain, span)} ORDER BY slot DESC LIMIT 1 OFFSET ${most - 1}`
        ),
        ([slot]) => slot ?? null
      ),

    /** The trades of a span in the order of the chain, as they arrive, in whole slots. */
    inOrder: (chain: string, span: Span) =>
      wholeSlots(
        stream(
          `SELECT ${TRADE_COLUMNS} FROM trades WHERE ${within(chain, span)}
          ORDER BY slot, place, version DESC LIMIT 1 BY slot, place`,
          RESTORE_DEADLINE
        ),
        span.to
      ),

    /** The newest swaps of SOL up to a slot, oldest first. */
    solSwaps: (chain: string, slot: number, most: number) =>
      Effect.map(
        trades(
          `SELECT ${TRADE_COLUMNS} FROM trades WHERE ${ofChain(chain)} AND ${equals("mint", SOL)} AND slot <= ${slot}
          AND ${IN_POOLS} AND volume_usd_nanos IS NOT NULL ${NEWEST_FIRST} LIMIT ${most}`
        ),
        (found) => found.toReversed()
      ),

    /** See `TradeHistory.moneySwaps`. Searches for the newest block since `fromMs` first, then among all blocks. */
    moneySwaps: Effect.fnUntraced(function* (chain: string, { fromMs, most, slot, spanMs }: NewestSwapsRequest) {
      const newestMs = (yield* newestTime(chain, slot, fromMs)) || (yield* newestTime(chain, slot, 0))
      const recent = between(chain, { after: -1, to: slot, fromMs: newestMs - spanMs, untilMs: newestMs })
      return yield* trades(
        `SELECT * FROM (
          SELECT * FROM ${newestOf(recent)} WHERE ${PRICES_TOKEN} ORDER BY slot DESC, place DESC LIMIT ${most} BY mint
        ) ${IN_ORDER}`,
        RESTORE_DEADLINE
      )
    }),

    /** The newest swaps of single tokens for money, each up to its own slot. */
    moneySwapsOf: (chain: string, { fromMs, most, places }: MoneySwapsRequest) =>
      Effect.map(
        Effect.forEach(partsOf(places), (slots) => {
          const mints = Array.from(slots.keys())
          const ends = Array.from(slots.values(), (of) => `[${of.join(", ")}]`)
          return trades(
            `${withMints(mints)} SELECT DISTINCT ${TRADE_COLUMNS} FROM (
              SELECT *, arrayJoin(arrayFilter(end -> slot <= end, [${ends.join(", ")}][indexOf(mints, mint)])) AS until
              FROM ${newestOf(`${ofChain(chain)} AND at >= ${time(fromMs)} AND ${amongst("mint")}`)}
              WHERE ${PRICES_TOKEN} ORDER BY slot DESC, place DESC LIMIT ${most} BY mint, until
            ) ${IN_ORDER}`,
            RESTORE_DEADLINE
          )
        }),
        mergedOf
      ),

    /**
     * The swaps from which `tokenSwapsAfter` selects: swaps of two tokens, and the first swaps that price each mint.
     */
    tokenSwaps: (chain: string, { after, fromMs, mints, most, toMs }: TokenSwapsRequest) => {
      const later = newestOf(
        `${ofChain(chain)} AND slot > ${after} AND at >= ${time(fromMs)} AND at <= ${time(toMs)} AND
        (${amongst("mint")} OR ${amongst("other_mint")})`
      )
      return Effect.map(
        Effect.forEach(Arrays.chunksOf(Array.from(new Set(mints)), MOST_LISTED), (part) =>
          trades(
            `${withMints(part)} SELECT * FROM (
              SELECT * FROM ${later} WHERE other_mint != '' UNION ALL
              SELECT * FROM (SELECT * FROM ${later} WHERE ${PRICES_TOKEN} ${IN_ORDER} LIMIT ${most} BY mint)
            )`,
            RESTORE_DEADLINE
          )
        ),
        mergedOf
      )
    },

    /** The newest net trades and transfers of a wallet, newest first. */
    ofWallet: (chain: string, wallet: Address, limit: number) =>
      trades(
        `SELECT ${TRADE_COLUMNS} FROM wallet_trades WHERE ${ofChain(chain)} AND ${equals("wallet", wallet)}
        ${NEWEST_FIRST} LIMIT ${limit}`
      ),

    /** The newest rows of a wallet before a place. */
    olderOf: (chain: string, { before, fromMs, kind, limit, mint, side, toMs, wallet }: OlderRequest) => {
      const wanted = conditions([
        ofChain(chain),
        equals("wallet", wallet),
        kind === "transfers" ? "role = 'transfer'" : "role != 'transfer'",
        `(slot, place) < (${before.slot}, ${before.index})`,
        `slot <= ${before.slot}`,
        mint && equals("mint", mint),
        fromMs === null ? null : `at >= ${time(fromMs)}`,
        toMs === null ? null : `at < ${time(toMs)}`,
        side && `is_buy = ${side === "buy"}`
      ])
      return Effect.map(
        trades(`SELECT ${TRADE_COLUMNS} FROM wallet_trades WHERE ${wanted} ${NEWEST_FIRST} LIMIT ${limit}`),
        (found): OlderFound => ({ trades: found, searchedTo: null })
      )
    },

    /** The newest swaps of a request. Values are compared once the latest version of a trade is known. */
    swapsOf: (chain: string, request: TradesRequest) => {
      const { before, fromMs, limit, minUsdNanos, mint, pool, side, toMs, wallet } = request
      const wanted = conditions([
        ofChain(chain),
        equals("mint", mint),
        IN_POOLS,
        before && `(slot, place) < (${before.slot}, ${before.index})`,
        before && `slot <= ${before.slot}`,
        fromMs === null ? null : `at >= ${time(fromMs)}`,
        toMs === null ? null : `at < ${time(toMs)}`,
        side && `is_buy = ${side === "buy"}`,
        wallet && equals("wallet", wallet),
        pool && equals("pool", pool)
      ])
      const newest = `SELECT ${TRADE_COLUMNS} FROM trades WHERE ${wanted} ${NEWEST_FIRST}`
      const query =
        minUsdNanos === null
          ? newest
          : `SELECT * FROM (${newest}) WHERE volume_usd_nanos >= ${minUsdNanos} ORDER BY slot DESC, place DESC`
      return Effect.map(trades(`${query} LIMIT ${limit}`), (found): TradesFound => ({
        trades: found,
        searchedTo: null
      }))
    },

    /** The largest swap of each span that has one. */
    largestOf: (chain: string, { mint, startsMs, toSlot }: LargestRequest) => {
      const [first] = startsMs
      if (first === undefined) {
        return Effect.succeed<LargestFound>({ trades: [], clippedAtMs: null })
      }
      const swaps = `${ofChain(chain)} AND ${equals("mint", mint)} AND slot <= ${toSlot} AND at >= ${time(first)} AND ${IN_POOLS}`
      const span = `arrayCount(start -> start <= toUnixTimestamp64Milli(at), [${startsMs.map(Math.trunc).join(", ")}])`
      return Effect.map(
        trades(
          `SELECT ${TRADE_COLUMNS} FROM trades FINAL WHERE ${swaps} AND (slot, place) IN (
          SELECT (found.2, found.3) FROM (
            SELECT max((volume_usd_nanos, slot, place)) AS found FROM trades FINAL
            WHERE ${swaps} AND volume_usd_nanos IS NOT NULL GROUP BY ${span}
          )
        )`
        ),
        (found): LargestFound => ({ trades: found, clippedAtMs: null })
      )
    }
  }
}
