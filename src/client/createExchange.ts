/**
 * Market data in the form of ccxt's unified API: markets, candles, tickers and trades. Answers are not checked against
 * schemas, so that a bundle stays small. Prices and volumes are numbers in USD; what is not known is `undefined`.
 */
import type { ChartBar, ChartResolution } from "../api/schemas/Chart.ts"
import type { MovementRow } from "../api/schemas/MarketViews.ts"
import type { TokenStats } from "../api/schemas/TokenStats.ts"
import type { SearchAnswer } from "../api/Search.ts"
import type { TokenTradesAnswer } from "../api/Trades.ts"
import type { ClientOptions } from "./createClient.ts"
import { plainReads } from "./plainReads.ts"

/** Milliseconds of a bar and our resolution, by ccxt's timeframe. */
const timeframes = {
  "1s": ["1s", 1000],
  "5s": ["5s", 5000],
  "15s": ["15s", 15_000],
  "30s": ["30s", 30_000],
  "1m": ["1m", 60_000],
  "3m": ["3m", 180_000],
  "5m": ["5m", 300_000],
  "15m": ["15m", 900_000],
  "30m": ["30m", 1_800_000],
  "1h": ["1h", 3_600_000],
  "2h": ["2h", 7_200_000],
  "4h": ["4h", 14_400_000],
  "6h": ["6h", 21_600_000],
  "8h": ["8h", 28_800_000],
  "12h": ["12h", 43_200_000],
  "1d": ["1d", 86_400_000],
  "1w": ["1w", 604_800_000],
  "1M": ["1mn", 2_678_400_000]
} as const satisfies Readonly<Record<string, readonly [ChartResolution, number]>>

/** A timeframe of ccxt. */
export type Timeframe = keyof typeof timeframes

/** A candle: start in milliseconds, open, high, low, close in USD, and the volume in USD, not in tokens. */
export type OHLCV = [timestamp: number, open: number, high: number, low: number, close: number, volume: number]

/** A market of ccxt: a token against the dollar. `id` and `baseId` are the mint. */
export interface Market {
  readonly id: string
  readonly symbol: string
  readonly base: string
  readonly quote: "USD"
  readonly baseId: string
  readonly quoteId: "USD"
  readonly active: true
  readonly type: "spot"
  readonly spot: true
  readonly margin: false
  readonly swap: false
  readonly future: false
  readonly option: false
  readonly contract: false
  /** Smallest step of an amount, in tokens; `undefined` while the decimals are unknown. */
  readonly precision: { readonly amount: number | undefined; readonly price: undefined }
  readonly limits: object
  readonly info: unknown
}

/** A ticker of ccxt over the last 24 hours. Pools have no bid and ask. */
export interface Ticker {
  readonly symbol: string
  readonly timestamp: number | undefined
  readonly datetime: string | undefined
  readonly high: undefined
  readonly low: undefined
  readonly bid: undefined
  readonly ask: undefined
  readonly open: number | undefined
  readonly close: number | undefined
  readonly last: number | undefined
  readonly change: number | undefined
  /** Change in percent. */
  readonly percentage: number | undefined
  readonly average: number | undefined
  readonly baseVolume: undefined
  /** Volume in USD. */
  readonly quoteVolume: number | undefined
  readonly info: unknown
}

/** A trade of ccxt. `price` and `cost` are in USD, `amount` in whole tokens. `info` has the exact amounts. */
export interface ExchangeTrade {
  readonly id: string
  readonly symbol: string
  readonly timestamp: number
  readonly datetime: string
  readonly side: "buy" | "sell"
  readonly price: number | undefined
  readonly amount: number | undefined
  readonly cost: number | undefined
  readonly takerOrMaker: "taker"
  readonly order: undefined
  readonly type: undefined
  readonly fee: undefined
  readonly info: unknown
}

/** The calls of a ccxt exchange that read. A symbol is `MINT/USD`, `SYMBOL/USD`, or a mint. */
export interface Exchange {
  readonly id: "fathom"
  readonly name: "Fathom"
  readonly has: Readonly<Record<"fetchMarkets" | "fetchOHLCV" | "fetchTicker" | "fetchTrades", true>>
  readonly timeframes: Readonly<Record<Timeframe, string>>
  /** The markets with the most volume of the last 24 hours, at most `limit` (100 at most). */
  readonly fetchMarkets: (params?: { readonly limit?: number }) => Promise<ReadonlyArray<Market>>
  /** Candles, oldest first: the first `limit` from `since` on (milliseconds), or the newest. At most 1,500, by default 500. */
  readonly fetchOHLCV: (
    symbol: string,
    timeframe?: Timeframe,
    since?: number,
    limit?: number
  ) => Promise<ReadonlyArray<OHLCV>>
  readonly fetchTicker: (symbol: string) => Promise<Ticker>
  /** Trades, oldest first: the newest `limit` (100 at most, by default 50), none from before `since`. */
  readonly fetchTrades: (symbol: string, since?: number, limit?: number) => Promise<ReadonlyArray<ExchangeTrade>>
}

interface Answer<A> {
  readonly data: A
}

type Row = typeof MovementRow.Encoded
type Value = Row["priceUsd"]

const BARS = 500

/** What an address looks like. The service refuses one that is none. */
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u

/** The number of a figure; `undefined` when it is not known. A late value is no value here, since ccxt cannot say so. */
const numberOf = ({ status, value }: Value): number | undefined =>
  value === null || status === "stale" ? undefined : Number(value)

const plain = (text: string | null): number | undefined => (text === null ? undefined : Number(text))

const sumOf = (one: number | undefined, other: number | undefined, sign: 1 | -1): number | undefined =>
  one === undefined || other === undefined ? undefined : one + sign * other

const failed = (name: string, message: string): Error => Object.assign(new Error(message), { name })

/** Several tokens may have one symbol: only the first has it as a name, which is the one with most volume. */
const marketsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<Market> => {
  const taken = new Set<string>()
  return rows.map((row) => {
    const { address, decimals, symbol } = row.token
    const isNamed = symbol !== null && /^[^/:\s]+$/u.test(symbol) && !taken.has(symbol)
    const base = isNamed ? symbol : address
    taken.add(base)
    return {
      id: address,
      symbol: `${base}/USD`,
      base,
      quote: "USD",
      baseId: address,
      quoteId: "USD",
      active: true,
      type: "spot",
      spot: true,
      margin: false,
      swap: false,
      future: false,
      option: false,
      contract: false,
      precision: { amount: decimals === null ? undefined : Number(`1e-${decimals}`), price: undefined },
      limits: {},
      info: row
    }
  })
}

const tickerOf = (symbol: string, stats: typeof TokenStats.Encoded): Ticker => {
  const day = stats.windows.find(({ window }) => window === "24h")
  const open = day && numberOf(day.openUsd)
  const close = day && numberOf(day.closeUsd)
  const total = sumOf(open, close, 1)
  const timestamp = day?.closeUsd.observedAtMs ?? undefined
  return {
    symbol,
    timestamp,
    datetime: timestamp === undefined ? undefined : new Date(timestamp).toISOString(),
    high: undefined,
    low: undefined,
    bid: undefined,
    ask: undefined,
    open,
    close,
    last: close,
    change: sumOf(close, open, -1),
    percentage: day && numberOf(day.changePct),
    average: total === undefined ? undefined : total / 2,
    baseVolume: undefined,
    quoteVolume: day && numberOf(day.volumeUsd),
    info: stats
  }
}

const tradeOf = (symbol: string, trade: (typeof TokenTradesAnswer.Encoded)["data"][number]): ExchangeTrade => {
  const { amount, decimals } = trade.legs.token
  return {
    id: trade.id,
    symbol,
    timestamp: trade.timeMs,
    datetime: new Date(trade.timeMs).toISOString(),
    side: trade.side,
    price: plain(trade.priceUsd),
    amount: decimals === null ? undefined : Number(`${amount}e-${decimals}`),
    cost: plain(trade.volumeUsd),
    takerOrMaker: "taker",
    order: undefined,
    type: undefined,
    fee: undefined,
    info: trade
  }
}

/** Seconds and number of the bars that are asked for. */
const windowOf = (since: number | undefined, limit: number, widthMs: number) =>
  since === undefined
    ? { limit }
    : { limit, from: Math.floor(since / 1000), to: Math.ceil((since + limit * widthMs) / 1000) }

/**
 * Makes an exchange as ccxt's users know it, for reads alone. It throws a `FathomError`, and an error called `BadSymbol` or
 * `BadRequest` for what it does not know.
 */
export const createExchange = (options: ClientOptions): Exchange => {
  const read = plainReads(options)
  const mints = new Map<string, string>()

  const get = async <A>(path: string, query: object = {}): Promise<A> =>
    (await read({ path: `/api/v1${path}`, query, decode: (body) => body as Answer<A>, what: "answer" })).data

  /** The mint of a symbol. One that no market had yet is searched for, and has to be the symbol of a token that imitates none. */
  const mintOf = async (symbol: string): Promise<string> => {
    const base = symbol.replace(/\/USD(?::USD)?$/u, "")
    const known = ADDRESS.test(base) ? base : mints.get(base)
    if (known !== undefined) {
      return known
    }
    const found = await get<(typeof SearchAnswer.Encoded)["data"]>("/search", { q: base, limit: 20 })
    const row = found.find(({ lookAlike, token }) => token.symbol === base && !lookAlike.isLookAlike)
    if (row === undefined) {
      throw failed("BadSymbol", `There is no market ${symbol}.`)
    }
    mints.set(base, row.token.address)
    return row.token.address
  }

  return {
    id: "fathom",
    name: "Fathom",
    has: { fetchMarkets: true, fetchOHLCV: true, fetchTicker: true, fetchTrades: true },
    timeframes: Object.fromEntries(
      Object.entries(timeframes).map(([name, [resolution]]) => [name, resolution])
    ) as Readonly<Record<Timeframe, string>>,
    fetchMarkets: async ({ limit = 100 } = {}) => {
      const markets = marketsOf(await get("/market/movement", { rank: "volume", window: "24h", limit }))
      markets.forEach(({ base, id }) => mints.set(base, id))
      return markets
    },
    fetchOHLCV: async (symbol, timeframe = "1m", since, limit = BARS) => {
      if (!Object.hasOwn(timeframes, timeframe)) {
        throw failed("BadRequest", `${timeframe} is not one of ${Object.keys(timeframes).join(", ")}.`)
      }
      const [resolution, widthMs] = timeframes[timeframe]
      const chart = await get<{ readonly bars: ReadonlyArray<typeof ChartBar.Encoded> }>(
        `/market/chart/${await mintOf(symbol)}`,
        { resolution, ...windowOf(since, limit, widthMs) }
      )
      return chart.bars.map(({ c, h, l, o, t, v }) => [t, o, h, l, c, v])
    },
    fetchTicker: async (symbol) => tickerOf(symbol, await get(`/tokens/solana/${await mintOf(symbol)}/stats`)),
    fetchTrades: async (symbol, since, limit) => {
      const trades = await get<(typeof TokenTradesAnswer.Encoded)["data"]>(
        `/tokens/solana/${await mintOf(symbol)}/trades`,
        { from: since === undefined ? undefined : Math.floor(since / 1000), limit }
      )
      return trades
        .filter(({ timeMs }) => since === undefined || timeMs >= since)
        .map((trade) => tradeOf(symbol, trade))
        .toReversed()
    }
  }
}
