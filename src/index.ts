/** Fathom inside another Effect application: ports, layers and values, without HTTP. */
export {
  type Ending,
  type Pool,
  type Program,
  type Rate,
  type Swap,
  type Unpriceable
} from "./programs/interface/Program.ts"
export { programs } from "./programs/registry.ts"
export { type CalloutLink } from "./callouts/attribution.ts"
export { attributeTrades, type LinksOf, linksOf } from "./callouts/attributionFeed.ts"
export { CalloutStore } from "./callouts/CalloutStore.ts"
export * as CalloutStorePg from "./callouts/CalloutStorePg.ts"
export { CopyReader } from "./wallets/copying/CopyReader.ts"
export { type CopySource, keepCopies } from "./wallets/copying/copySource.ts"
export { FollowStore } from "./wallets/copying/FollowStore.ts"
export * as FollowStorePg from "./wallets/copying/FollowStorePg.ts"
export { type OnChainAccount, type ChainClock } from "./domain/OnChainAccount.ts"
export { Address, type Mint, SOL, USDC } from "./domain/Address.ts"
export { type AttributedTrade, type Callout, CalloutStoreUnavailable, NewCallout } from "./api/schemas/Callout.ts"
export { CopyFill, type Follow, FollowStoreUnavailable, NewFollow, UnknownFollow } from "./api/schemas/Copying.ts"
export { type CopyPnl, type CopyPnlReport } from "./api/schemas/CopyPnl.ts"
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
} from "./api/schemas/Quote.ts"
export { type Coverage, type Scalar } from "./domain/Scalar.ts"
export {
  type MintPrice,
  type TokenFacts,
  type TokenLiquidity,
  TokenMalformed,
  TokenNotLoaded,
  type TokenRefusal,
  UnknownToken
} from "./api/schemas/Token.ts"
export { type TokenRisk } from "./api/schemas/TokenRisk.ts"
export { IdentityRecord, type WalletIdentity } from "./api/schemas/WalletIdentity.ts"
export { type WalletRow, type WalletRows, type WalletSummary, WalletsUnavailable } from "./api/schemas/WalletSummary.ts"
export { EvmCandles } from "./market/reads/EvmCandles.ts"
export { MarketReader } from "./market/reads/MarketReader.ts"
export { type TapeTrade } from "./market/model/TapeTrade.ts"
export { TopTraders } from "./market/reads/TopTraders.ts"
export { TradeFeed } from "./market/tape/TradeFeed.ts"
export { type PricedBatch, type TradeBatch } from "./market/model/TradeBatch.ts"
export { BlockStore } from "./market/model/BlockStore.ts"
export { CandleHistory } from "./market/model/CandleHistory.ts"
export { SnapshotStore } from "./market/model/SnapshotStore.ts"
export { TradeHistory } from "./market/model/TradeHistory.ts"
export { Market } from "./market/tape/Market.ts"
export { Tape } from "./market/tape/Tape.ts"
export { type MintPools } from "./quotes/pools/MintPools.ts"
export { PoolBook } from "./quotes/pools/PoolBook.ts"
export { type Priced, QuoteEngine } from "./quotes/QuoteEngine.ts"
export { type BlockEvent, type BlockFeed } from "./chain/blocks/BlockFeed.ts"
export { type ChainEvent, ChainFeed, type Freshness, type Snapshot } from "./chain/ChainFeed.ts"
export { ChainUnavailable } from "./chain/ChainUnavailable.ts"
export * as ChainFeedDump from "./chain/accounts/ChainFeedDump.ts"
export * as ChainFeedRpc from "./chain/accounts/ChainFeedRpc.ts"
export { ActivityReader, type TokenActivity } from "./tokens/ActivityReader.ts"
export { AuditReader, AuditUnavailable, type MintAudit } from "./tokens/AuditReader.ts"
export { PriceBook, type Prices, type UnitPrice, type PriceEvidence } from "./tokens/PriceBook.ts"
export { RiskReader } from "./tokens/risk/RiskReader.ts"
export { TokenBook } from "./tokens/TokenBook.ts"
export { TokenReader } from "./tokens/TokenReader.ts"
export { type BlockTransaction, type TradeBlock } from "./chain/decoding/TradeBlock.ts"
export { TradeBlocks } from "./chain/decoding/TradeBlocks.ts"
export { IdentityStore } from "./wallets/IdentityStore.ts"
export { applyTrade, emptyPosition, type Position, positionsOf, type WalletTrade } from "./wallets/ledger.ts"
export { LedgerProjection, LedgerReader, LedgerUnavailable } from "./wallets/LedgerReader.ts"
export { pnlOf, type PositionPnl } from "./wallets/pnl.ts"
export { summaryOf, type WalletPnl } from "./wallets/walletPnl.ts"
export { type WalletHistory, WalletIndex, WalletIndexUnavailable } from "./wallets/WalletIndex.ts"
export { WalletReader } from "./wallets/WalletReader.ts"
