import { type Config, Context, Layer } from "effect"
import type { HttpClient } from "effect/http"
import type { BlockFeed } from "../../solana/blocks/BlockFeed.ts"
import { type BlockFeedOptions, makeBlockFeed } from "../../solana/blocks/BlockFeedRpc.ts"
import { blockWorker } from "../decodeBlock.ts"
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
}
