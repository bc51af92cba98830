import { Config, Duration, Effect, Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { BlockFeed } from "./BlockFeed.ts"
import { makeBlockReader } from "./blockReader.ts"
import { BlockProgress, type BlockSettings, type BlockSource, followBlocks } from "./followBlocks.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { SolanaRpc } from "../rpc/SolanaRpc.ts"
import * as SolanaRpcHttp from "../rpc/SolanaRpcHttp.ts"

/** How blocks are read and followed. What is given wins over the environment. */
export interface BlockFeedOptions extends RpcOptions {
  /** The module that a thread of its own runs: it calls `serveBlocks` with a decoder. */
  readonly worker: URL
  readonly blocks?: Partial<BlockSettings> | undefined
}

/**
 * `SOLANA_BLOCK_CONCURRENCY` (2), `SOLANA_BLOCK_CATCH_UP` (1500 slots, ten minutes), `SOLANA_BLOCK_POLL` (400 ms) and
 * `SOLANA_BLOCK_TRIES` (10).
 */
const blockSettings: Config.Config<BlockSettings> = Config.all({
  concurrency: Config.Int("SOLANA_BLOCK_CONCURRENCY").pipe(Config.withDefault(2)),
  catchUp: Config.Int("SOLANA_BLOCK_CATCH_UP").pipe(Config.withDefault(1_500)),
  poll: Config.Duration("SOLANA_BLOCK_POLL").pipe(Config.withDefault(Duration.millis(400))),
  tries: Config.Int("SOLANA_BLOCK_TRIES").pipe(Config.withDefault(10))
})

const make = Effect.fnUntraced(function* ({ worker, blocks, ...options }: BlockFeedOptions) {
  const rpc = yield* SolanaRpc
  const { commitment, retries, rpcUrl, scanTimeout } = yield* rpcSettings(options)
  const settings = { ...(yield* blockSettings), ...blocks }
  const read = yield* makeBlockReader(worker, {
    rpcUrl: Redacted.value(rpcUrl),
    commitment,
    timeoutMs: Duration.toMillis(scanTimeout),
    retries,
    concurrency: settings.concurrency
  })
  const progress = new BlockProgress()
  const source: BlockSource = {
    newest: rpc.getSlot(),
    list: rpc.getBlocksWithLimit,
    firstAvailable: rpc.getFirstAvailableBlock(),
    read
  }
  return BlockFeed.of({
    follow: (after) => followBlocks(source, progress, settings, after),
    genesis: rpc.getGenesisHash(),
    freshness: () => progress.freshness()
  })
})

/** The blocks of the node at `SOLANA_RPC_URL`, or the one the options name. Nothing is asked before somebody follows. */
export const layer = (options: BlockFeedOptions): Layer.Layer<BlockFeed, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(BlockFeed, make(options)).pipe(Layer.provide(SolanaRpcHttp.layer(options)))
