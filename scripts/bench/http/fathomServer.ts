/**
 * `/spot/quote` through the whole stack: the contract, admission, the engine and the edge. `fathomServer.ts URL` also reads
 * the blocks of the node at that address onto the tape.
 */
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { CallerLimits } from "../../../src/access/CallerLimits.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { WalletBatch } from "../../../src/access/WalletBatch.ts"
import { Evaluator } from "../../../src/alerts/Evaluator.ts"
import { CopyReader } from "../../../src/wallets/copying/CopyReader.ts"
import { FundingClient } from "../../../src/funding/FundingClient.ts"
import { EvmCandles } from "../../../src/market/reads/EvmCandles.ts"
import { MarketReader } from "../../../src/market/reads/MarketReader.ts"
import { TopTraders } from "../../../src/market/reads/TopTraders.ts"
import { TokenSearch } from "../../../src/market/reads/TokenSearch.ts"
import { TradesReader } from "../../../src/market/reads/TradesReader.ts"
import { TradeFeed } from "../../../src/market/tape/TradeFeed.ts"
import { OidcClient } from "../../../src/access/accounts/OidcClient.ts"
import * as MemoryAccounts from "../../../test/support/memoryAccounts.ts"
import * as MemoryAlerts from "../../../test/support/memoryAlerts.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { PerpsVenues } from "../../../src/perps/PerpsVenues.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { Settings } from "../../../src/http/Settings.ts"
import { TransactionStatus } from "../../../src/chain/rpc/TransactionStatus.ts"
import { ActivityReader } from "../../../src/tokens/ActivityReader.ts"
import { AuditReader } from "../../../src/tokens/AuditReader.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { RiskReader } from "../../../src/tokens/risk/RiskReader.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import { TokenReader } from "../../../src/tokens/TokenReader.ts"
import { MarketFeed } from "../../../src/live/market/MarketFeed.ts"
import { MarketTickets } from "../../../src/live/market/MarketTickets.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { TradeBlocks } from "../../../src/chain/decoding/TradeBlocks.ts"
import { IdentityStore } from "../../../src/wallets/IdentityStore.ts"
import { TokenAccounts } from "../../../src/chain/rpc/TokenAccounts.ts"
import { WalletAccounts } from "../../../src/wallets/WalletAccounts.ts"
import { LedgerReader } from "../../../src/wallets/LedgerReader.ts"
import { WalletIndex } from "../../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import { warmMarket } from "../warmPools.ts"
import { announce, knownKeys } from "./world.ts"
import * as TrackerStoreMemory from "../../../test/support/TrackerStoreMemory.ts"
import * as MemoryUsage from "../../../test/support/memoryUsage.ts"
import * as MemoryIdempotency from "../../../test/support/memoryIdempotency.ts"
import * as MemoryFollows from "../../../test/support/memoryFollows.ts"
import * as MemoryCallouts from "../../../test/support/memoryCallouts.ts"
import * as MemoryStores from "../../../src/testing/MemoryStores.ts"
import * as MemoryKeys from "../../../test/support/memoryKeys.ts"

const [rpcUrl] = process.argv.slice(2)

const tape =
  rpcUrl === undefined
    ? Market.layerManual()
    : Market.layer.pipe(
        Layer.provide([TradeFeed.layerSandbox, MemoryStores.layer, PriceBook.layer]),
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
  Layer.provide([MemoryFollows.layer, PriceBook.layer, TokenBook.layer]),
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
    TokenAccounts.layerUnreachable,
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
    MemoryKeys.layer({ keys: knownKeys }),
    RateLimiter.layerMemory,
    WalletBatch.layer.pipe(Layer.provideMerge(CallerLimits.layerMemory)),
    Settings.layer({ port: 0 }),
    TransactionStatus.layerUnreachable,
    FundingClient.layerUnconfigured,
    PerpsVenues.layer([]),
    MemoryCallouts.layer,
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
