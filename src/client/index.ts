/** Fathom from outside: the typed Effect client, the promise client, quote streams, the tracker and the market. */
export { type ErrorCode } from "../api/catalogue.ts"
export { type ErrorDetail } from "../api/Problem.ts"
export * as Problems from "../api/problems.ts"
export { fromAtomic, toAtomic } from "../domain/decimal.ts"
export { type SpotQuote } from "../domain/quotes/Quote.ts"
export {
  type CloseFrame,
  type ErrorFrame,
  type Frame,
  type OpenFrame,
  type QuoteFrame,
  type ThrottledFrame
} from "../domain/quotes/QuoteStream.ts"
export { type CallOptions, type Client, type ClientOptions, createClient } from "./createClient.ts"
export { FathomClient, type FathomClientOptions } from "./FathomClient.ts"
export { type ClientCode, FathomError } from "./FathomError.ts"
export { framesOf, quoteStream } from "./quoteFrames.ts"
export { marketEvents, type MarketEventsOptions, marketSession } from "./marketEvents.ts"
export { type MarketEvent, type MarketGap, type MarketSubscription } from "./MarketMemory.ts"
export { type RetryPolicy } from "./retry.ts"
export { trackerEvents, trackerSession } from "./trackerEvents.ts"
export { type TrackerEvent, type TrackerGap } from "./TrackerMemory.ts"
export { watchMarket } from "./watchMarket.ts"
export { watchTracker, type WatchOptions } from "./watchTracker.ts"
