import { Config, Duration, Effect, Redacted, Stream } from "effect"
import { countSetting } from "../../domain/countSetting.ts"
import { SourceMonitor } from "../../health/SourceMonitor.ts"
import type { Freshness } from "../accounts/ChainFeed.ts"
import type { BlockFeed, BlockHead, SlotContent } from "./BlockFeed.ts"
import { makeBlockReader } from "./blockReader.ts"
import { BlockProgress, type BlockSettings, type BlockSource, followBlocks, withoutBlock } from "./followBlocks.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { NodeChoice } from "../rpc/NodeChoice.ts"
import { makeSolanaRpc } from "../rpc/SolanaRpcHttp.ts"
import { BlockNodes } from "./blockNodes.ts"
import { BlockTimes } from "./blockTime.ts"

/** Settings of a block feed; they win over the environment. */
export interface BlockFeedOptions extends RpcOptions {
  /** The module that the block thread runs: it calls `serveBlocks` with a decoder. */
  readonly worker: URL
  readonly blocks?: Partial<BlockSettings> | undefined
}

/**
 * `SOLANA_BLOCK_CONCURRENCY` (2), `SOLANA_BLOCK_CATCH_UP` (1500 slots, ten minutes), `SOLANA_BLOCK_POLL` (400 ms) and
 * `SOLANA_BLOCK_TRIES` (4).
 */
export const blockSettings: Config.Config<BlockSettings> = Config.all({
  concurrency: countSetting("SOLANA_BLOCK_CONCURRENCY", 2, 1),
  catchUp: countSetting("SOLANA_BLOCK_CATCH_UP", 1_500),
  poll: Config.Duration("SOLANA_BLOCK_POLL").pipe(Config.withDefault(Duration.millis(400))),
  tries: countSetting("SOLANA_BLOCK_TRIES", 4, 1)
})

const statuses = { live: "known", recorded: "known", polling: "partial", loading: "partial", down: "stale" } as const

/** Reports the newest block, the node that it was read from, and the number of blocks whose time is an estimate. */
const reportBlocks = Effect.fnUntraced(function* (freshness: () => Freshness, estimatedTimes: () => number) {
  yield* (yield* SourceMonitor).report("block_feed", () => {
    const { heardAtMs, node, state } = freshness()
    return {
      observedAtMs: heardAtMs,
      status: heardAtMs === null ? "unavailable" : statuses[state],
      node,
      estimatedTimes: estimatedTimes()
    }
  })
})

/**
 * The blocks of the nodes at `SOLANA_RPC_URL`, or those the options name, in the form that `unpack` makes of the messages
 * of the decoder in the worker module. No request is made before `follow` runs.
 */
export const makeBlockFeed = Effect.fnUntraced(function* <Message, Block extends BlockHead>(
  { worker, blocks, ...options }: BlockFeedOptions,
  unpack: (message: Message) => Block
) {
  const rpcOptions = yield* rpcSettings(options)
  const choice = new NodeChoice(rpcOptions.nodes)
  const { commitment, scanTimeout } = rpcOptions
  const settings = { ...(yield* blockSettings), ...blocks }
  // With several nodes, a call that failed goes to the next one instead.
  const retries = choice.hasOthers ? 0 : rpcOptions.retries
  const rpcs = yield* Effect.forEach(choice.nodes, (node) =>
    Effect.map(makeSolanaRpc({ ...rpcOptions, retries }, { node: () => node }), (rpc) => [node, rpc] as const)
  )
  const rpcOf = new Map(rpcs)
  const readPacked = yield* makeBlockReader<Message>(worker, {
    rpcUrls: choice.nodes.map(({ rpcUrl }) => Redacted.value(rpcUrl)),
    commitment,
    timeoutMs: Duration.toMillis(scanTimeout),
    retries,
    concurrency: settings.concurrency
  })
  const progress = new BlockProgress()
  const nodes = new BlockNodes(choice, (node) => rpcOf.get(node) ?? rpcs[0][1], progress)
  const times = new BlockTimes(nodes)
  const feedFreshness = (): Freshness => ({ ...progress.freshness(), node: nodes.host })
  const source: BlockSource<Block> = {
    newest: nodes.newest(),
    list: (from, limit) => nodes.call((rpc) => rpc.getBlocksWithLimit(from, limit)),
    firstAvailable: nodes.call((rpc) => rpc.getFirstAvailableBlock()),
    read: (slot) =>
      nodes
        .call((_, node) => readPacked(slot, node), scanTimeout)
        .pipe(
          Effect.map(unpack),
          Effect.flatMap((block) => times.timed(block))
        )
  }
  yield* reportBlocks(feedFreshness, () => times.estimated)
  const feed: BlockFeed<Block> = {
    follow: (after) =>
      Stream.suspend(() => {
        nodes.begin()
        return followBlocks(source, progress, settings, after).pipe(
          Stream.interruptWhen(Effect.raceFirst(nodes.replaced.await, nodes.watchLag))
        )
      }),
    read: (slot) =>
      Effect.match(source.read(slot), {
        onFailure: (failure): SlotContent<Block> => withoutBlock(slot, failure),
        onSuccess: (block): SlotContent<Block> => ({ _tag: "Block", block })
      }),
    list: (from, limit) => Effect.orElseSucceed(source.list(from, limit), () => []),
    genesis: nodes.call((rpc) => rpc.getGenesisHash()),
    freshness: feedFreshness
  }
  return feed
})
