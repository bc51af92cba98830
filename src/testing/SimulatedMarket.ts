import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Clock, Effect, Layer } from "effect"
import * as FollowHolders from "../market/reads/followHolders.ts"
import { EvmCandles } from "../market/reads/EvmCandles.ts"
import { MarketReader } from "../market/reads/MarketReader.ts"
import { TradeFeed } from "../market/tape/TradeFeed.ts"
import { Market } from "../market/tape/Market.ts"
import { DefaultSearchRate } from "../quotes/pools/SearchPace.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import { Simulator, type SimulatorOptions } from "../simulator/Simulator.ts"
import * as AccountScanRpc from "../chain/rpc/AccountScanRpc.ts"
import * as Replay from "../chain/recording/Replay.ts"
import * as ChainFeedRpc from "../chain/accounts/ChainFeedRpc.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import * as MemoryStores from "./MemoryStores.ts"
import { TradeBlocks } from "../chain/decoding/TradeBlocks.ts"

/** Market stores in memory, for a tape that an embedder builds itself. */
export { layer as layerMemoryStores } from "./MemoryStores.ts"
export { CurrentReplay } from "../chain/recording/Replay.ts"
export { recordMarket, type RecordedMarketOptions } from "../simulator/past/recordMarket.ts"
export { Simulator, type SimulatorOptions } from "../simulator/Simulator.ts"

const { CurrentReplay, openReplay } = Replay
type ReplayOptions = Replay.ReplayOptions

const client = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor)

/**
 * A simulated chain on the loopback interface, read by the real clients. `Simulator` advances the chain and injects
 * faults; the feed, the pool book and the native engine follow it. The same seed gives the same market.
 */
export const layer = (options: Partial<SimulatorOptions> = {}) =>
  QuoteEngine.layerNative.pipe(
    Layer.provideMerge(PoolBook.layer),
    Layer.provideMerge(
      Layer.unwrap(Effect.map(Simulator, ({ rpcUrl, wsUrl }) => ChainFeedRpc.layer({ rpcUrl, wsUrl })))
    ),
    Layer.provideMerge(Simulator.layer(options)),
    Layer.provide([client, Layer.succeed(DefaultSearchRate, null)])
  )

/**
 * A recording in `folder` as a chain, with the pool book and the native engine on its time. `CurrentReplay` pauses, steps and
 * seeks: its `pace` waits after the first slot unless `isStepping` is false.
 */
export const layerReplay = (options: Partial<ReplayOptions> & { readonly folder: string }) =>
  Layer.unwrap(
    Effect.map(openReplay({ from: null, to: null, speed: null, isStepping: true, ...options }), (opened) =>
      QuoteEngine.layerNative.pipe(
        Layer.provideMerge(PoolBook.layer),
        Layer.provideMerge(Replay.layer),
        Layer.provideMerge([Layer.succeed(CurrentReplay, opened), Layer.succeed(Clock.Clock, opened.clock)]),
        Layer.provide(Layer.succeed(DefaultSearchRate, null))
      )
    )
  )

/** The tape of the simulated blocks, decoded in a worker thread. Trades are kept in memory only. */
const trades = Market.layer.pipe(
  Layer.provide([TradeFeed.layerSandbox, MemoryStores.layer]),
  Layer.provide(Layer.unwrap(Effect.map(Simulator, ({ rpcUrl }) => TradeBlocks.layerRpc({ rpcUrl })))),
  Layer.provide(client)
)

const scan = Layer.unwrap(Effect.map(Simulator, ({ rpcUrl }) => AccountScanRpc.layer({ rpcUrl }))).pipe(
  Layer.provide(client)
)

/**
 * The simulated market with its trades: `Market` streams each block once it is priced, `MarketReader` reads the
 * tape, and `HolderReader` follows the holders of tokens.
 */
export const layerWithTrades = (options: Partial<SimulatorOptions> = {}) =>
  MarketReader.layer.pipe(
    Layer.provide(EvmCandles.layerNone),
    Layer.provideMerge(FollowHolders.layer.pipe(Layer.provide(scan))),
    Layer.provideMerge(trades),
    Layer.provideMerge([PriceBook.layer, TokenBook.layer]),
    Layer.provideMerge(layer(options))
  )
