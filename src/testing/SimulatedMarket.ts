import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Effect, Layer } from "effect"
import * as FollowHolders from "../market/holders/followHolders.ts"
import { EvmCandles } from "../market/candles/EvmCandles.ts"
import { MarketReader } from "../market/views/MarketReader.ts"
import { TradeFeed } from "../market/tape/TradeFeed.ts"
import { TradeStore } from "../market/store/TradeStore.ts"
import { TradeTape } from "../market/tape/TradeTape.ts"
import { DefaultSearchRate } from "../pools/SearchPace.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import { Simulator, type SimulatorOptions } from "../simulator/Simulator.ts"
import * as AccountScanRpc from "../solana/accounts/AccountScanRpc.ts"
import * as ChainFeedRpc from "../solana/accounts/ChainFeedRpc.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { TradeBlocks } from "../trades/blocks/TradeBlocks.ts"

export { Simulator, type SimulatorOptions } from "../simulator/Simulator.ts"

const client = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor)

/**
 * A simulated chain on the loopback interface with the real clients in front of it: `Simulator` to advance it and to inject
 * faults, and the feed, the book and the native engine that follow it. The same seed gives the same market.
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

/** The tape of its blocks, which are decoded in a worker thread. Trades are kept in memory only. */
const trades = TradeTape.layer.pipe(
  Layer.provide([TradeFeed.layerSandbox, TradeStore.layerMemory]),
  Layer.provide(Layer.unwrap(Effect.map(Simulator, ({ rpcUrl }) => TradeBlocks.layerRpc({ rpcUrl })))),
  Layer.provide(client)
)

const scan = Layer.unwrap(Effect.map(Simulator, ({ rpcUrl }) => AccountScanRpc.layer({ rpcUrl }))).pipe(
  Layer.provide(client)
)

/**
 * The same with its trades: `TradeTape` streams each block once it is priced, `MarketReader` reads the tape, and
 * `HolderReader` follows the holders of tokens.
 */
export const layerWithTrades = (options: Partial<SimulatorOptions> = {}) =>
  MarketReader.layer.pipe(
    Layer.provide(EvmCandles.layerNone),
    Layer.provideMerge(FollowHolders.layer.pipe(Layer.provide(scan))),
    Layer.provideMerge(trades),
    Layer.provideMerge([PriceBook.layer, TokenBook.layer]),
    Layer.provideMerge(layer(options))
  )
