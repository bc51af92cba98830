/** Summaries of the messages of sockets and event streams, by name. */

/** Frames of the tracker socket. */
export const trackerWords = {
  snapshot: "The whole state: wallets, newest trades, positions and profit. It replaces the state of the client.",
  trade: "A tracked wallet traded.",
  balance_update: "A balance of a tracked wallet changed.",
  pnl: "The profit of one position of a tracked wallet changed.",
  pnl_summary: "The profit of a tracked wallet changed.",
  alert_fired:
    "An alert of the account fired, on any token and in every group. The fields are the same as in the list of events. Only with the scope `alerts.read`."
} as const

/** Frames without a sequence number, of both sockets. */
export const controlWords = {
  open: "The connection is open: its stream id, and the most subscriptions that it may have.",
  ended: "A subscription ended, and why.",
  heartbeat: "The connection is alive. Sent every 20 seconds.",
  pong: "The answer to a ping.",
  error: "A message of the client was malformed or could not be carried out.",
  notice: "The service restarts, the reader is slow, or chain data is late or on time again."
} as const

/** Numbered frames of the market socket. */
export const marketWords = {
  "trades snapshot": "The newest trades of a subscription.",
  "liquidity snapshot": "The newest changes of liquidity of a subscription.",
  "candles snapshot": "The newest candles of a subscription.",
  "price snapshot": "The last price of a subscription.",
  "launches snapshot": "The newest launches.",
  "graduations snapshot": "The newest graduations.",
  "movers snapshot": "The current ranking.",
  "screen snapshot": "The tokens in all ranges, in their order.",
  "holders snapshot": "The number of holders and the concentration of a token.",
  "quote snapshot": "The first tick of a quote.",
  "freshness snapshot": "The state of every source.",
  trade: "A pool swap.",
  liquidity: "Liquidity was added to a pool or taken from it.",
  candle: "The open candle changed. At most 4 a second.",
  candle_closed: "A candle is final.",
  price:
    "The price changed. At most 4 a second. None is sent while the service reads old blocks; the newest one follows.",
  launch: "A token was put on the curve of a launchpad.",
  graduation: "A token left its curve for a pool.",
  movers: "The ranking changed. At most every 2 seconds.",
  screen: "Tokens entered a screen, left it, or have other values. Every few seconds, without changes every 10.",
  holders: "The number of holders or the concentration changed. At most every 5 seconds.",
  quote: "A tick of a quote was priced.",
  quote_error: "A tick could not be priced. The quote goes on.",
  quote_throttled: "The quote budget is spent. Ticks resume when it has room.",
  freshness: "The state of the sources, at each change and every 5 seconds.",
  gap: "Blocks or frames are missing before the next frame."
} as const

/** Events of the streams of trades, liquidity and candles. */
export const eventWords: Readonly<Record<string, string>> = {
  ...marketWords,
  notice: controlWords.notice,
  close: "The end of the stream, and why."
}

/** Messages of clients. */
export const messageWords = {
  resume: "Requests the frames after the given one of an earlier stream. Once, within five seconds of connecting.",
  ping: "Requests a pong. At most once a second.",
  unsubscribe: "Ends a subscription.",
  "subscribe trades":
    "Trades of a mint, a pool or a wallet, or all trades of at least `minUsd`. Without mint, pool and wallet it costs 5 units a minute.",
  "subscribe liquidity": "Liquidity added to the pools of a mint or to one pool, and taken from them.",
  "subscribe candles": "Candles of a mint or a pool.",
  "subscribe price": "The last price of a token.",
  "subscribe launches": "Launches on all launchpads.",
  "subscribe graduations": "Graduations from all launchpads.",
  "subscribe movers": "A ranking of tokens over a window.",
  "subscribe screen":
    "Tokens by ranges of their statistics, with the fields of `POST /api/v1/tokens/screen`. Equal requests share one evaluation.",
  "subscribe holders":
    "Number of holders and concentration of a token, which is followed from now on if there is room.",
  "subscribe quote":
    "Quotes of one trade, priced on a grid. Each tick costs 1 unit of the `quote` budget; minutes cost nothing. By default a tick every 2000 milliseconds with a slippage of 50 basis points.",
  "subscribe freshness": "The state of the sources."
} as const

/** Events of the quote stream. */
export const quoteWords = {
  open: "The terms of the stream, and the budget before its first tick.",
  quote: "A tick that was priced.",
  error: "A tick that could not be priced. The stream goes on.",
  throttled: "The budget is spent. Ticks resume when it has room.",
  close: "The end of the stream, with its totals."
} as const
