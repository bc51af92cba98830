/** The clients of a running service: the Effect client, the promise client, quote streams, tracker and market. */
export { type ErrorCode } from "../api/errors/catalogue.ts"
export { type ErrorDetail } from "../api/errors/Problem.ts"
export * as Problems from "../api/errors/problems.ts"
export { fromAtomic, toAtomic } from "../domain/decimal.ts"
export { type SpotQuote } from "../api/schemas/Quote.ts"
export {
  type CloseFrame,
  type ErrorFrame,
  type Frame,
  type OpenFrame,
  type QuoteFrame,
  type ThrottledFrame
} from "../api/schemas/QuoteStream.ts"
export { type CallOptions, type Client, type ClientOptions, createClient } from "./createClient.ts"
export { createQuoteClient, type Quote, type QuoteClient } from "./createQuoteClient.ts"
export { createDatafeed, type Datafeed, type DatafeedOptions } from "./createDatafeed.ts"
export {
  createExchange,
  type Exchange,
  type ExchangeTrade,
  type Market,
  type OHLCV,
  type Ticker,
  type Timeframe
} from "./createExchange.ts"
export { FathomClient, type FathomClientOptions } from "./FathomClient.ts"
export { type ClientCode, FathomError } from "./FathomError.ts"
export { framesOf, quoteStream } from "./quoteFrames.ts"
export { marketEvents, type MarketEventsOptions, marketSession } from "./marketEvents.ts"
export { type MarketEvent, type MarketGap, type MarketSubscription } from "./MarketMemory.ts"
export { type RetryPolicy } from "./retryPolicy.ts"
export { trackerEvents, trackerSession } from "./trackerEvents.ts"
export { type TrackerEvent, type TrackerGap } from "./TrackerMemory.ts"
export { type SocketOptions } from "./sockets.ts"
export { watchMarket } from "./watchMarket.ts"
export { watchTracker, type WatchOptions } from "./watchTracker.ts"
