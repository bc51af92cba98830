/** Fathom inside another Effect application: ports, layers and values, without HTTP. */
export { type Ending, type Pool, type Program, type Rate, type Swap, type Unpriceable } from "./amm/Program.ts"
export { programs } from "./amm/programs.ts"
export { type Account, type ChainClock } from "./domain/Account.ts"
export { Address, type Mint, SOL, USDC } from "./domain/Address.ts"
export { fromAtomic, toAtomic } from "./domain/decimal.ts"
export {
  Hop,
  NoRoute,
  type QuoteRefusal,
  type QuoteRequest,
  RouteNotSupported,
  SpotQuote,
  StateCold,
  StateStale
} from "./domain/Quote.ts"
export { type MintPools, PoolBook } from "./quotes/PoolBook.ts"
export { type Priced, QuoteEngine } from "./quotes/QuoteEngine.ts"
export { type ChainEvent, ChainFeed, ChainUnavailable, type Freshness, type Snapshot } from "./solana/ChainFeed.ts"
export * as ChainFeedDump from "./solana/ChainFeedDump.ts"
export * as ChainFeedRpc from "./solana/ChainFeedRpc.ts"
