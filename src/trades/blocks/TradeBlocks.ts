import { type Config, Context, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import type { BlockFeed } from "../../solana/blocks/BlockFeed.ts"
import { type BlockFeedOptions, makeBlockFeed } from "../../solana/blocks/BlockFeedRpc.ts"
import { type GeyserFeedOptions, makeGeyserFeed } from "../../solana/geyser/BlockFeedGeyser.ts"
import { geyserEndpoints } from "../../solana/geyser/geyserSettings.ts"
import { blockWorker, geyserWorker } from "../decodeBlock.ts"
import { unpackBlock } from "./PackedTransactions.ts"
import type { TradeBlock } from "./TradeBlock.ts"

/** The blocks of a chain, decoded to trades off the main thread. */
export class TradeBlocks extends Context.Service<TradeBlocks, BlockFeed<TradeBlock>>()(
  "fathom/trades/blocks/TradeBlocks"
) {
  /**
   * The blocks of the node at `SOLANA_RPC_URL`, or the one the options name, read by a thread that runs `blockWorker`
   * unless the options name another module. Sends nothing before `follow` runs.
   */
  static readonly layerRpc = (
    options: Partial<BlockFeedOptions> = {}
  ): Layer.Layer<TradeBlocks, Config.ConfigError, HttpClient.HttpClient> =>
    Layer.effect(TradeBlocks, makeBlockFeed({ worker: blockWorker, ...options }, unpackBlock))

  /** The blocks that the endpoints at `GEYSER_URL`, or those of the options, stream; from the node what they do not have. */
  static readonly layerGeyser = (
    options: Partial<GeyserFeedOptions> = {}
  ): Layer.Layer<TradeBlocks, Config.ConfigError, HttpClient.HttpClient> =>
    Layer.effect(TradeBlocks, makeGeyserFeed({ worker: blockWorker, geyserWorker, ...options }, unpackBlock))

  /** The blocks of the endpoints at `GEYSER_URL` where there are any, else those of the node. */
  static readonly layer: Layer.Layer<TradeBlocks, Config.ConfigError, HttpClient.HttpClient> = Layer.unwrap(
    Effect.map(
      Effect.suspend(() => geyserEndpoints()),
      (endpoints) => (endpoints.length === 0 ? TradeBlocks.layerRpc() : TradeBlocks.layerGeyser())
    )
  )
}
