import { Config, Duration, Effect, Redacted } from "effect"
import type { BlockFeed, BlockHead } from "./BlockFeed.ts"
import { makeBlockReader } from "./blockReader.ts"
import { BlockProgress, type BlockSettings, type BlockSource, followBlocks } from "./followBlocks.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { SolanaRpc } from "../rpc/SolanaRpc.ts"
import * as SolanaRpcHttp from "../rpc/SolanaRpcHttp.ts"

/** Settings of a block feed; they win over the environment. */
export interface BlockFeedOptions extends RpcOptions {
  /** The module that the block thread runs: it calls `serveBlocks` with a decoder. */
  readonly worker: URL
  readonly blocks?: Partial<BlockSettings> | undefined
}

/**
 * `SOLANA_BLOCK_CONCURRENCY` (2), `SOLANA_BLOCK_CATCH_UP` (1500 slots, ten minutes), `SOLANA_BLOCK_POLL` (400 ms) and
 * `SOLANA_BLOCK_TRIES` (10).
 */
export const blockSettings: Config.Config<BlockSettings> = Config.all({
  concurrency: Config.Int("SOLANA_BLOCK_CONCURRENCY").pipe(Config.withDefault(2)),
  catchUp: Config.Int("SOLANA_BLOCK_CATCH_UP").pipe(Config.withDefault(1_500)),
  poll: Config.Duration("SOLANA_BLOCK_POLL").pipe(Config.withDefault(Duration.millis(400))),
  tries: Config.Int("SOLANA_BLOCK_TRIES").pipe(Config.withDefault(10))
})

/**
 * The blocks of the node at `SOLANA_RPC_URL`, or the one the options name, in the form that `unpack` makes of the messages
 * of the decoder in the worker module. Sends nothing before `follow` runs.
 */
export const makeBlockFeed = Effect.fnUntraced(
  function* <Message, Block extends BlockHead>(
    { worker, blocks, ...options }: BlockFeedOptions,
    unpack: (message: Message) => Block
  ) {
    const rpc = yield* SolanaRpc
    const { commitment, retries, rpcUrl, scanTimeout } = yield* rpcSettings(options)
    const settings = { ...(yield* blockSettings), ...blocks }
    const readPacked = yield* makeBlockReader<Message>(worker, {
      rpcUrl: Redacted.value(rpcUrl),
      commitment,
      timeoutMs: Duration.toMillis(scanTimeout),
      retries,
      concurrency: settings.concurrency
    })
    const progress = new BlockProgress()
    const source: BlockSource<Block> = {
      newest: rpc.getSlot(),
      list: rpc.getBlocksWithLimit,
      firstAvailable: rpc.getFirstAvailableBlock(),
      read: (slot) => Effect.map(readPacked(slot), unpack)
    }
    const feed: BlockFeed<Block> = {
      follow: (after) => followBlocks(source, progress, settings, after),
      genesis: rpc.getGenesisHash(),
      freshness: () => progress.freshness()
    }
    return feed
  },
  (effect, options) => Effect.provide(effect, SolanaRpcHttp.layer(options))
)
