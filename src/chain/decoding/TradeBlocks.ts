import { type Config, Context, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import type { BlockFeed } from "../blocks/BlockFeed.ts"
import { type BlockFeedOptions, makeBlockFeed } from "../blocks/BlockFeedRpc.ts"
import type { RecordedBlocks } from "../blocks/RecordedBlocks.ts"
import { type GeyserFeedOptions, makeGeyserFeed } from "../geyser/BlockFeedGeyser.ts"
import { geyserEndpoints } from "../geyser/geyserSettings.ts"
import { unpackBlock } from "./PackedTransactions.ts"
import type { TradeBlock } from "./TradeBlock.ts"

/** The module that runs in the thread which reads blocks. */
const blockWorker = new URL("./blockWorker.ts", import.meta.url)

/** The module that runs in the thread which reads a Geyser. */
const geyserWorker = new URL("./geyserWorker.ts", import.meta.url)

/** The blocks of a chain, decoded into trades off the main thread. */
export class TradeBlocks extends Context.Service<TradeBlocks, BlockFeed<TradeBlock>>()(
  "fathom/chain/decoding/TradeBlocks"
) {
  /**
   * The blocks of the nodes at `SOLANA_RPC_URL`, or of the nodes in the options. The thread runs `blockWorker`, unless
   * the options name another module. Recorded blocks come first. Sends nothing before `follow` runs.
   */
  static readonly layerRpc = (
    options: Partial<BlockFeedOptions> = {},
    recorded: RecordedBlocks<TradeBlock> | null = null
  ): Layer.Layer<TradeBlocks, Config.ConfigError, HttpClient.HttpClient> =>
    Layer.effect(TradeBlocks, makeBlockFeed({ worker: blockWorker, ...options }, unpackBlock, null, recorded))

  /**
   * The blocks that Geyser endpoints stream. The endpoints come from the options or from `GEYSER_URL`. Blocks that they do
   * not have are read from the nodes.
   */
  static readonly layerGeyser = (
    options: Partial<GeyserFeedOptions> = {}
  ): Layer.Layer<TradeBlocks, Config.ConfigError, HttpClient.HttpClient> =>
    Layer.effect(TradeBlocks, makeGeyserFeed({ worker: blockWorker, geyserWorker, ...options }, unpackBlock))

  /** The blocks of the endpoints at `GEYSER_URL` if there are any, else of the nodes. */
  static readonly layer: Layer.Layer<TradeBlocks, Config.ConfigError, HttpClient.HttpClient> = Layer.unwrap(
    Effect.map(
      Effect.suspend(() => geyserEndpoints()),
      (endpoints) => (endpoints.length === 0 ? TradeBlocks.layerRpc() : TradeBlocks.layerGeyser())
    )
  )
}
