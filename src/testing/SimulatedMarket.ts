import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { PoolBook } from "../quotes/PoolBook.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import { Simulator, type SimulatorOptions } from "../simulator/Simulator.ts"
import * as ChainFeedRpc from "../solana/ChainFeedRpc.ts"

const client = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor)

/**
 * A whole simulated chain on the loopback interface with the real clients in front of it: `Simulator` to move it and to
 * make it fail, and the feed, the book and the native engine that follow it. Seeded: the same seed gives the same market.
 */
export const layer = (options: Partial<SimulatorOptions> = {}) =>
  QuoteEngine.layerNative.pipe(
    Layer.provideMerge(PoolBook.layer),
    Layer.provideMerge(
      Layer.unwrap(Effect.map(Simulator, ({ rpcUrl, wsUrl }) => ChainFeedRpc.layer({ rpcUrl, wsUrl })))
    ),
    Layer.provideMerge(Simulator.layer(options)),
    Layer.provide(client)
  )
