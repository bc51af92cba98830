/** Codes of failures that the client itself detects. */
export type ClientCode =
  | "invalid_call"
  | "connection_lost"
  | "invalid_answer"
  | "stream_silent"
  | "stream_broken"
  | "no_tracked_wallets"
  | "tracker_closed"
  | "market_closed"

/**
 * The error of a failed call: a problem of the contract, or a failure that the client detected. `cause` is what the
 * platform threw, such as an ECONNREFUSED.
 */
export declare class FathomError extends Error {
  readonly _tag: "FathomError"
  /** Status of the response; null without a response. */
  readonly status: number | null
  /** Branch on this. A newer service may send codes that are not listed here. */
  readonly code: ErrorCode | ClientCode | (string & {})
  readonly requestId: string | null
  /** `Retry-After` in milliseconds; null without one. */
  readonly retryAfterMs: number | null
  readonly details: ReadonlyArray<ErrorDetail>
}

/** A frame of the quote stream by the name of its event. */
export type Frame =
  | { readonly event: "open"; readonly data: OpenFrame }
  | { readonly event: "quote"; readonly data: QuoteFrame }
  | { readonly event: "error"; readonly data: ErrorFrame }
  | { readonly event: "throttled"; readonly data: ThrottledFrame }
  | { readonly event: "close"; readonly data: CloseFrame }

/** Limits of attempts and delays. */
export interface RetryPolicy {
  /** Most attempts in total; 1 disables retries. */
  readonly tries: number
  /** Upper bound of the delay before the second attempt; it doubles with each further attempt. */
  readonly firstDelayMs: number
  readonly longestDelayMs: number
  /** The client does not wait for a longer `Retry-After` and returns the response as it is. */
  readonly longestWaitMs: number
}

/** Options of a client. */
export interface ClientOptions {
  /** Base URL of the service, without `/api/v1`. */
  readonly baseUrl: string | URL
  /** The secret of an API key. */
  readonly key: string
  readonly retry?: Partial<RetryPolicy>
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call; its promise is rejected with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** The part of a WebSocket that the client uses. */
export interface WebSocketLike {
  readonly readyState: number
  addEventListener(type: "open" | "message" | "error" | "close", listener: (event: WebSocketLikeEvent) => void): void
  removeEventListener(type: "open" | "message" | "error" | "close", listener: (event: WebSocketLikeEvent) => void): void
  close(code?: number, reason?: string): void
  send(data: string | Uint8Array<ArrayBuffer>): void
}

/** An event of a `WebSocketLike`. */
export interface WebSocketLikeEvent {
  readonly data?: unknown
  readonly code?: number
  readonly reason?: string
}

/** Options of a live stream. */
export interface SocketOptions {
  /** Ends the loop with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Replaces the `WebSocket` of the platform. With the package `ws`: `(url) => new WebSocket(url)`. */
  readonly webSocket?: (url: string) => WebSocketLike
}

/** Options of `watchTracker`. */
export interface WatchOptions extends SocketOptions {
  /** Only the wallets of this group. By default all wallets of the account. */
  readonly group?: string
  /** Adds control frames: heartbeats and notices. */
  readonly control?: boolean
}

/** Missing events of the tracker, reported by the service or noticed as missing frames (`lost`). */
export interface TrackerGap {
  readonly type: "gap"
  readonly fromMs: number | null
  readonly toMs: number
  readonly reason: SnapshotGap["reason"] | "lost"
}

/** An event of `watchTracker`. */
export type TrackerEvent = DataFrame | ControlFrame | TrackerGap

type SubscriptionOf<M> = M extends unknown ? Omit<M, "op" | "id" | "resume"> & { readonly id?: string } : never

/** A subscription of `watchMarket`: channel, parameters and a name. Without a name, its place in the list names it. */
export type MarketSubscription = SubscriptionOf<SubscribeMessage>

/** Missing events of a subscription, reported by the service or noticed as missing frames (`lost`). */
export interface MarketGap {
  readonly type: "gap"
  readonly id: string
  readonly fromMs: number | null
  readonly toMs: number
  readonly reason: LiveGap["reason"] | "lost"
}

/** An event of `watchMarket`: a frame, the end of a subscription, or a gap between frames. */
export type MarketEvent =
  | Exclude<MarketDataFrame, { readonly type: "gap" }>
  | Extract<MarketControlFrame, { readonly type: "ended" }>
  | MarketGap

/** Why a decimal text is not an amount: not written as one, or finer than the smallest unit of the token. */
export type DecimalFault = "format" | "too_fine"

/** Atomic units of a whole-token amount as text: no sign, exponent or leading zeros, at most `decimals` fraction digits. */
export declare const toAtomic: (text: string, decimals: number) => bigint | DecimalFault

/** Whole tokens of an atomic amount as exact decimal text, without trailing zeros. */
export declare const fromAtomic: (amount: bigint, decimals: number) => string

/** A client of the service. Nothing is sent before the first call. */
export declare const createClient: (options: ClientOptions) => Client

/** What `spot.quote` is asked. */
export type QuoteQuery = Parameters<Client["spot"]["quote"]>[0]["query"]

/** A client for quotes alone: a few kilobytes of a bundle instead of the whole client. It checks no answers against schemas. */
export declare const createQuoteClient: (options: ClientOptions) => {
  readonly quote: (query: QuoteQuery, options?: CallOptions) => Promise<SpotQuote>
}

/** Live events of the tracked wallets, each trade once, across reconnections. Throws a `TypeError` when there is no WebSocket to use. */
export declare const watchTracker: (
  client: Pick<Client, "tracker">,
  options?: WatchOptions
) => AsyncIterable<TrackerEvent>

/** Live events of market subscriptions, across reconnections. Throws a `TypeError` when there is no WebSocket to use. */
export declare const watchMarket: (
  client: Pick<Client, "marketRealtime">,
  subscriptions: ReadonlyArray<MarketSubscription>,
  options?: SocketOptions
) => AsyncIterable<MarketEvent>

/** A bar as TradingView's charting library has it: `time` in milliseconds, prices and volume in USD. */
export interface DatafeedBar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** A symbol as the charting library describes it. Its `ticker` is the mint. */
export interface DatafeedSymbol {
  readonly name: string
  readonly ticker: string
  readonly full_name: string
  readonly description: string
  readonly type: "crypto"
  readonly session: "24x7"
  readonly timezone: "Etc/UTC"
  readonly exchange: string
  readonly listed_exchange: string
  readonly format: "price"
  readonly minmov: 1
  readonly pricescale: number
  readonly has_intraday: true
  readonly has_seconds: true
  readonly seconds_multipliers: ReadonlyArray<string>
  readonly intraday_multipliers: ReadonlyArray<string>
  readonly has_daily: true
  readonly has_weekly_and_monthly: true
  readonly has_empty_bars: false
  readonly supported_resolutions: ReadonlyArray<string>
  readonly volume_precision: 2
  readonly data_status: "streaming"
  readonly currency_code: "USD"
}

/** The interface that TradingView's charting library calls a datafeed. */
export interface Datafeed {
  onReady(done: (configuration: object) => void): void
  searchSymbols(
    text: string,
    exchange: string,
    type: string,
    done: (
      rows: ReadonlyArray<{
        readonly symbol: string
        readonly full_name: string
        readonly description: string
        readonly exchange: string
        readonly ticker: string
        readonly type: string
      }>
    ) => void
  ): void
  resolveSymbol(symbol: string, done: (info: DatafeedSymbol) => void, fail: (reason: string) => void): void
  getBars(
    symbol: { readonly ticker?: string; readonly name: string },
    resolution: string,
    period: { readonly from: number; readonly to: number; readonly countBack?: number },
    done: (bars: ReadonlyArray<DatafeedBar>, meta: { readonly noData: boolean; readonly nextTime?: number }) => void,
    fail: (reason: string) => void
  ): void
  subscribeBars(
    symbol: { readonly ticker?: string; readonly name: string },
    resolution: string,
    onTick: (bar: DatafeedBar) => void,
    listener: string,
    onReset: () => void
  ): void
  unsubscribeBars(listener: string): void
  getServerTime(done: (second: number) => void): void
  /** Ends the socket. The library has no call for it. */
  close(): void
}

/** Options of a datafeed. */
export interface DatafeedOptions extends SocketOptions {
  /** Hears why live bars ended for good, such as a revoked key. A later subscription tries again. */
  readonly onError?: (failure: unknown) => void
}

/** The datafeed of a chart: bars and search by calls, live bars of all charts over one market socket. */
export declare const createDatafeed: (
  client: Pick<Client, "market" | "marketRealtime" | "search" | "tokens">,
  options?: DatafeedOptions
) => Datafeed

/** A timeframe of ccxt. */
export type Timeframe =
  | "1s"
  | "5s"
  | "15s"
  | "30s"
  | "1m"
  | "3m"
  | "5m"
  | "15m"
  | "30m"
  | "1h"
  | "2h"
  | "4h"
  | "6h"
  | "8h"
  | "12h"
  | "1d"
  | "1w"
  | "1M"

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

/**
 * An exchange as ccxt's users know it, for reads alone, in four kilobytes of a bundle. It throws a `FathomError`, and an error
 * called `BadSymbol` or `BadRequest` for what it does not know.
 */
export declare const createExchange: (options: ClientOptions) => Exchange
