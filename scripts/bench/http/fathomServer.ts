/**
 * The whole stack over eight pools and a fixed market: the contract, admission, the engine and the edge. `fathomServer.ts URL`
 * reads the blocks of the node at that address onto the tape instead.
 */
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { CallerLimits } from "../../../src/access/CallerLimits.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { WalletBatch } from "../../../src/access/WalletBatch.ts"
import { Evaluator } from "../../../src/alerts/Evaluator.ts"
import { CopyReader } from "../../../src/wallets/copying/CopyReader.ts"
import { FundingClient } from "../../../src/funding/FundingClient.ts"
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
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { TradeBlocks } from "../../../src/chain/decoding/TradeBlocks.ts"
import { warmMarket } from "../warmPools.ts"
import { filled, manualTape, marketOver, tokenBook, tokens, trackerOver, walletsOver } from "./reads.ts"
import { announce, knownKeys } from "./world.ts"
import * as MemoryUsage from "../../../test/support/memoryUsage.ts"
import * as MemoryIdempotency from "../../../test/support/memoryIdempotency.ts"
import * as MemoryFollows from "../../../test/support/memoryFollows.ts"
import * as MemoryCallouts from "../../../test/support/memoryCallouts.ts"
import * as MemoryStores from "../../../src/testing/MemoryStores.ts"
import * as MemoryKeys from "../../../test/support/memoryKeys.ts"

const [rpcUrl] = process.argv.slice(2)

const tape =
  rpcUrl === undefined
    ? manualTape
    : Market.layer.pipe(
        Layer.provide([TradeFeed.layerSandbox, MemoryStores.layer, PriceBook.layer]),
        Layer.provide(TradeBlocks.layerRpc({ rpcUrl })),
        Layer.provide([warmMarket, NodeHttpClient.layerUndici])
      )

const copying = CopyReader.layer.pipe(
  Layer.provide([MemoryFollows.layer, PriceBook.layer, tokenBook]),
  Layer.provide(warmMarket)
)

const alerts = Evaluator.layer.pipe(
  Layer.provideMerge(MemoryAlerts.layer),
  Layer.provide([tape, PriceBook.layer, tokenBook]),
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
    trackerOver(tape),
    marketOver(tape),
    walletsOver(tape)
  ])
)

const announcePort = Layer.effectDiscard(Effect.map(Listening, ({ port }) => announce(port)))

NodeRuntime.runMain(
  Layer.launch(
    announcePort.pipe(Layer.provide(rpcUrl === undefined ? filled.pipe(Layer.provideMerge(serving)) : serving))
  )
)
