/**
 * `/spot/quote` through the whole stack: the contract, admission, the engine and the edge. `fathomServer.ts URL` also reads
 * the blocks of the node at that address onto the tape.
 */
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { CallerLimits } from "../../../src/access/CallerLimits.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { WalletBatch } from "../../../src/access/WalletBatch.ts"
import { Evaluator } from "../../../src/alerts/Evaluator.ts"
import { CalloutStore } from "../../../src/callouts/CalloutStore.ts"
import { CopyReader } from "../../../src/copying/CopyReader.ts"
import { FollowStore } from "../../../src/copying/FollowStore.ts"
import { FundingClient } from "../../../src/funding/FundingClient.ts"
import { EvmCandles } from "../../../src/market/candles/EvmCandles.ts"
import { MarketReader } from "../../../src/market/views/MarketReader.ts"
import { TopTraders } from "../../../src/market/views/TopTraders.ts"
import { TokenSearch } from "../../../src/market/search/TokenSearch.ts"
import { TradesReader } from "../../../src/market/views/TradesReader.ts"
import { TradeFeed } from "../../../src/market/tape/TradeFeed.ts"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { OidcClient } from "../../../src/accounts/OidcClient.ts"
import * as MemoryAccounts from "../../../test/support/memoryAccounts.ts"
import * as MemoryAlerts from "../../../test/support/memoryAlerts.ts"
import { TradeTape } from "../../../src/market/tape/TradeTape.ts"
import { PerpsVenues } from "../../../src/perps/PerpsVenues.ts"
import { Listening } from "../../../src/http/NodeServer.ts"
import * as Server from "../../../src/http/Server.ts"
import { Settings } from "../../../src/http/Settings.ts"
import { TransactionStatus } from "../../../src/solana/rpc/TransactionStatus.ts"
import { ActivityReader } from "../../../src/tokens/ActivityReader.ts"
import { AuditReader } from "../../../src/tokens/AuditReader.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { RiskReader } from "../../../src/tokens/RiskReader.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import { TokenReader } from "../../../src/tokens/TokenReader.ts"
import { MarketFeed } from "../../../src/subscriptions/MarketFeed.ts"
import { MarketTickets } from "../../../src/subscriptions/MarketTickets.ts"
import { Tickets } from "../../../src/tracker/tickets/Tickets.ts"
import { TrackerFeed } from "../../../src/tracker/TrackerFeed.ts"
import { WatchList } from "../../../src/tracker/WatchList.ts"
import { TradeBlocks } from "../../../src/trades/blocks/TradeBlocks.ts"
import { IdentityStore } from "../../../src/wallets/IdentityStore.ts"
import { WalletAccounts } from "../../../src/wallets/accounts/WalletAccounts.ts"
import { LedgerReader } from "../../../src/wallets/LedgerReader.ts"
import { WalletIndex } from "../../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import { warmMarket } from "../warmPools.ts"
import { announce, knownKeys } from "./world.ts"
import * as TrackerStoreMemory from "../../../test/support/TrackerStoreMemory.ts"
import * as MemoryUsage from "../../../test/support/memoryUsage.ts"
import * as MemoryIdempotency from "../../../test/support/memoryIdempotency.ts"

const [rpcUrl] = process.argv.slice(2)

const tape =
  rpcUrl === undefined
    ? TradeTape.layerManual()
    : TradeTape.layer.pipe(
        Layer.provide([TradeFeed.layerSandbox, TradeStore.layerMemory, PriceBook.layer]),
        Layer.provide(TradeBlocks.layerRpc({ rpcUrl })),
        Layer.provide([warmMarket, NodeHttpClient.layerUndici])
      )

const tokens = Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
  Layer.provide([TokenBook.layer, PriceBook.layer, ActivityReader.layerUnknown]),
  Layer.provide(warmMarket)
)

const market = Layer.mergeAll(
  MarketFeed.layer,
  MarketReader.layer,
  MarketTickets.layerMemory,
  TokenSearch.layer,
  TopTraders.layer,
  TradesReader.layer
).pipe(Layer.provide([tape, TokenBook.layer, PriceBook.layer, EvmCandles.layerNone]), Layer.provide(warmMarket))

const copying = CopyReader.layer.pipe(
  Layer.provide([FollowStore.layerMemory, PriceBook.layer, TokenBook.layer]),
  Layer.provide(warmMarket)
)

const alerts = Evaluator.layer.pipe(
  Layer.provideMerge(MemoryAlerts.layer),
  Layer.provide([tape, PriceBook.layer, TokenBook.layer]),
  Layer.provide(warmMarket)
)

const wallets = WalletReader.layer.pipe(
  Layer.provide([
    IdentityStore.layerMemory,
    LedgerReader.layerNone,
    WalletAccounts.layerNamed,
    PriceBook.layer,
    tape,
    WalletIndex.layerMemory.pipe(Layer.provide(tape))
  ]),
  Layer.provide(warmMarket)
)

const tracker = Layer.mergeAll(TrackerStoreMemory.layer, TrackerFeed.layer, Tickets.layerMemory).pipe(
  Layer.provide([WatchList.layer, WalletAccounts.layerNamed, tape, PriceBook.layer, TokenBook.layer]),
  Layer.provide(warmMarket)
)

const serving = Server.layer.pipe(
  Layer.provide([
    KeyStore.layerMemory({ keys: knownKeys }),
    RateLimiter.layerMemory,
    WalletBatch.layer.pipe(Layer.provideMerge(CallerLimits.layerMemory)),
    Settings.layer({ port: 0 }),
    TransactionStatus.layerUnreachable,
    FundingClient.layerUnconfigured,
    PerpsVenues.layer([]),
    CalloutStore.layerMemory,
    MemoryIdempotency.layer,
    MemoryUsage.layer,
    MemoryAccounts.layer,
    OidcClient.layerUnconfigured,
    alerts,
    copying,
    warmMarket,
    tokens,
    tracker,
    market,
    wallets
  ])
)

const announcePort = Layer.effectDiscard(Effect.map(Listening, ({ port }) => announce(port)))

NodeRuntime.runMain(Layer.launch(announcePort.pipe(Layer.provide(serving))))
