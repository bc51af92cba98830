/** A datafeed for TradingView's charting library: bars and search by calls, live bars over one market socket. */
import { resolutionOf, searchRowOf, supported, symbolInfoOf, withoutExchange, MOST_BARS } from "../api/tradingView.ts"
import type { ChartResolution } from "../api/schemas/Chart.ts"
import { addressOf, type Mint } from "../domain/Address.ts"
import type { Client } from "./createClient.ts"
import { type DatafeedBar, LiveBars } from "./liveBars.ts"
import type { SocketOptions } from "./sockets.ts"

/** A symbol of the library. Its `ticker` is the mint. */
export type DatafeedSymbol = ReturnType<typeof symbolInfoOf>

/** The window of bars that a chart asks for, in Unix seconds; `to` is exclusive. `countBack` wins over `from`. */
export interface DatafeedPeriod {
  readonly from: number
  readonly to: number
  readonly countBack?: number
  readonly firstDataRequest?: boolean
}

/** The interface that the library calls a datafeed (`IBasicDataFeed`). */
export interface Datafeed {
  onReady(done: (configuration: object) => void): void
  searchSymbols(
    text: string,
    exchange: string,
    type: string,
    done: (rows: ReadonlyArray<ReturnType<typeof searchRowOf>>) => void
  ): void
  resolveSymbol(symbol: string, done: (info: DatafeedSymbol) => void, fail: (reason: string) => void): void
  getBars(
    symbol: { readonly ticker?: string; readonly name: string },
    resolution: string,
    period: DatafeedPeriod,
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

export interface DatafeedOptions extends SocketOptions {
  /** Hears why live bars ended for good, such as a revoked key. A later subscription tries again. */
  readonly onError?: (failure: unknown) => void
}

type Calls = Pick<Client, "market" | "marketRealtime" | "search" | "tokens">

const reasonOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

const found = async ({ search }: Calls, text: string, limit: number) => {
  const { data } = await search.tokens({ query: { q: text, limit } })
  return data.map(({ token }) => token)
}

/** The mint of a symbol: an address, or the first token that the search finds. */
const mintOf = async (client: Calls, symbol: string): Promise<Mint> => {
  const text = withoutExchange(symbol)
  const mint = addressOf(text) ?? (await found(client, text, 1))[0]?.address
  if (mint === undefined) {
    throw new Error(`There is no token ${text}.`)
  }
  return mint
}

const infoOf = async (client: Calls, symbol: string): Promise<DatafeedSymbol> => {
  const { data } = await client.tokens.facts({ params: { chain: "solana", address: await mintOf(client, symbol) } })
  const { status, value } = data.priceUsd
  return symbolInfoOf(data.token, status === "stale" || value === null ? null : Number(value))
}

const known = (text: string): ChartResolution => {
  const resolution = resolutionOf(text)
  if (resolution === undefined) {
    throw new Error(`The resolution ${text} is not one of ${supported.join(", ")}.`)
  }
  return resolution
}

const barsOf = async (client: Calls, token: string, resolution: ChartResolution, period: DatafeedPeriod) => {
  const { countBack = 0, from, to } = period
  const window =
    countBack > 0
      ? { limit: Math.min(countBack, MOST_BARS) }
      : { limit: MOST_BARS, from: Math.max(0, Math.floor(from)) }
  const { data, meta } = await client.market.chart({
    params: { token },
    query: { resolution, to: Math.ceil(to), ...window }
  })
  const bars = data.bars.map(({ c, h, l, o, t, v }) => ({ time: t, open: o, high: h, low: l, close: c, volume: v }))
  const isEmpty = bars.length === 0
  return { bars, meta: { noData: isEmpty, ...(isEmpty && meta.prevTo !== null && { nextTime: meta.prevTo }) } }
}

/** Calls back once an answer is there: never before the call has returned, as the library wants it. */
const answer = <A>(asked: Promise<A>, done: (value: A) => void, fail: (reason: string) => void): void =>
  void asked.then(done, (failure: unknown) => fail(reasonOf(failure)))

/**
 * Makes the datafeed of a chart: `new TradingView.widget({ datafeed: createDatafeed(client), symbol: mint })`. Prices and
 * volumes are in USD. All charts share one market socket, which resumes after a lost connection; when bars could not be
 * recovered, the chart is told to ask for them again. Throws a `TypeError` when there is no WebSocket to use.
 */
export const createDatafeed = (
  client: Calls,
  { onError = () => undefined, ...options }: DatafeedOptions = {}
): Datafeed => {
  const live = new LiveBars(client, options, onError)
  return {
    onReady: (done) =>
      answer(
        Promise.resolve({
          supported_resolutions: supported,
          supports_marks: false,
          supports_timescale_marks: false,
          supports_time: true,
          exchanges: [],
          symbols_types: [{ name: "Token", value: "crypto" }]
        }),
        done,
        onError
      ),
    searchSymbols: (text, _exchange, _type, done) => {
      const wanted = withoutExchange(text).trim()
      answer(
        wanted === "" ? Promise.resolve([]) : found(client, wanted, 30),
        (tokens) => done(tokens.map(searchRowOf)),
        () => done([])
      )
    },
    resolveSymbol: (symbol, done, fail) => answer(infoOf(client, symbol), done, fail),
    getBars: ({ name, ticker = name }, resolution, period, done, fail) => {
      const asked = async () => {
        const mint = await mintOf(client, ticker)
        const width = known(resolution)
        const answered = await barsOf(client, mint, width, period)
        live.shown(mint, width, answered.bars.at(-1)?.time ?? 0)
        return answered
      }
      answer(asked(), ({ bars, meta }) => done(bars, meta), fail)
    },
    subscribeBars: ({ name, ticker = name }, resolution, onTick, listener, onReset) => {
      const mint = addressOf(withoutExchange(ticker))
      const width = resolutionOf(resolution)
      if (mint === undefined || width === undefined) {
        onError(new Error(`${ticker} at ${resolution} has no live bars: resolve the symbol first.`))
        return
      }
      live.add(listener, { mint, resolution: width, onTick, onReset })
    },
    unsubscribeBars: (listener) => live.remove(listener),
    getServerTime: (done) => answer(Promise.resolve(Math.floor(Date.now() / 1000)), done, onError),
    close: () => live.close()
  }
}
