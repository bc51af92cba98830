/** Fathom inside another Effect application: ports, layers and values, without HTTP. */
export { type Ending, type Pool, type Program, type Rate, type Swap, type Unpriceable } from "./programs/Program.ts"
export { programs } from "./programs/registry.ts"
export { type CalloutLink } from "./callouts/attribution.ts"
export { attributeTrades, type LinksOf, linksOf } from "./callouts/attributionFeed.ts"
export { CalloutStore } from "./callouts/CalloutStore.ts"
export { CopyReader } from "./copying/CopyReader.ts"
export { type CopySource, keepCopies } from "./copying/copySource.ts"
export { FollowStore } from "./copying/FollowStore.ts"
export { type OnChainAccount, type ChainClock } from "./domain/OnChainAccount.ts"
export { Address, type Mint, SOL, USDC } from "./domain/Address.ts"
export { type AttributedTrade, type Callout, CalloutStoreUnavailable, NewCallout } from "./domain/wallets/Callout.ts"
export { CopyFill, type Follow, FollowStoreUnavailable, NewFollow, UnknownFollow } from "./domain/wallets/Copying.ts"
export { type CopyPnl, type CopyPnlReport } from "./domain/wallets/CopyPnl.ts"
export { fromAtomic, toAtomic } from "./domain/decimal.ts"
export {
  Hop,
  NoRoute,
  PoolsNotSearched,
  type QuoteRefusal,
  type QuoteRequest,
  RouteNotSupported,
  SpotQuote,
  StateCold,
  StateStale
} from "./domain/quotes/Quote.ts"
export { type Coverage, type Scalar } from "./domain/Scalar.ts"
export {
  type MintPrice,
  type TokenFacts,
  type TokenLiquidity,
  TokenMalformed,
  TokenNotLoaded,
  type TokenRefusal,
  UnknownToken
} from "./domain/market/Token.ts"
export { type TokenRisk } from "./domain/market/TokenRisk.ts"
export { IdentityRecord, type WalletIdentity } from "./domain/wallets/WalletIdentity.ts"
export {
  type WalletRow,
  type WalletRows,
  type WalletSummary,
  WalletsUnavailable
} from "./domain/wallets/WalletSummary.ts"
export { EvmCandles } from "./market/candles/EvmCandles.ts"
export { MarketReader } from "./market/views/MarketReader.ts"
export { type TapeTrade } from "./market/tape/TapeTrade.ts"
export { TopTraders } from "./market/views/TopTraders.ts"
export { TradeFeed } from "./market/tape/TradeFeed.ts"
export { type PricedBatch, type TradeBatch } from "./market/tape/TradeBatch.ts"
export { TradeStore } from "./market/store/TradeStore.ts"
export { TradeTape } from "./market/tape/TradeTape.ts"
export { type MintPools } from "./pools/MintPools.ts"
export { PoolBook } from "./pools/PoolBook.ts"
export { type Priced, QuoteEngine } from "./quotes/QuoteEngine.ts"
export { type BlockEvent, type BlockFeed } from "./solana/blocks/BlockFeed.ts"
export {
  type ChainEvent,
  ChainFeed,
  ChainUnavailable,
  type Freshness,
  type Snapshot
} from "./solana/accounts/ChainFeed.ts"
export * as ChainFeedDump from "./solana/accounts/ChainFeedDump.ts"
export * as ChainFeedRpc from "./solana/accounts/ChainFeedRpc.ts"
export { ActivityReader, type TokenActivity } from "./tokens/ActivityReader.ts"
export { AuditReader, AuditUnavailable, type MintAudit } from "./tokens/AuditReader.ts"
export { PriceBook, type Prices, type UnitPrice, type PriceEvidence } from "./tokens/PriceBook.ts"
export { RiskReader } from "./tokens/RiskReader.ts"
export { TokenBook } from "./tokens/TokenBook.ts"
export { TokenReader } from "./tokens/TokenReader.ts"
export { type BlockTransaction, type TradeBlock } from "./trades/blocks/TradeBlock.ts"
export { TradeBlocks } from "./trades/blocks/TradeBlocks.ts"
export { IdentityStore } from "./wallets/IdentityStore.ts"
export { applyTrade, emptyPosition, type Position, positionsOf, type WalletTrade } from "./wallets/ledger.ts"
export { LedgerProjection, LedgerReader, LedgerUnavailable } from "./wallets/LedgerReader.ts"
export { pnlOf, type PositionPnl } from "./wallets/pnl.ts"
export { summaryOf, type WalletPnl } from "./wallets/walletPnl.ts"
export { type WalletHistory, WalletIndex, WalletIndexUnavailable } from "./wallets/WalletIndex.ts"
export { WalletReader } from "./wallets/WalletReader.ts"
