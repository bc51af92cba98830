import { Config, Duration, Effect, Redacted, Stream } from "effect"
import type { BlockFeed, BlockHead, SlotContent } from "./BlockFeed.ts"
import { makeBlockReader } from "./blockReader.ts"
import { BlockProgress, type BlockSettings, type BlockSource, followBlocks, withoutBlock } from "./followBlocks.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { NodeChoice } from "../rpc/NodeChoice.ts"
import { makeSolanaRpc } from "../rpc/SolanaRpcHttp.ts"
import { BlockNodes } from "./blockNodes.ts"
import { timeOfBlock } from "./blockTime.ts"

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
  concurrency: Config.Int("SOLANA_BLOCK_CONCURRENCY").pipe(Config.withDefault(2)),
  catchUp: Config.Int("SOLANA_BLOCK_CATCH_UP").pipe(Config.withDefault(1_500)),
  poll: Config.Duration("SOLANA_BLOCK_POLL").pipe(Config.withDefault(Duration.millis(400))),
  tries: Config.Int("SOLANA_BLOCK_TRIES").pipe(Config.withDefault(4))
})

/** The block with the time that the clock sysvar allows, and a warning when estimates begin. */
const makeTimed = <Block extends BlockHead>(nodes: BlockNodes) => {
  let estimating = false
  return (block: Block): Effect.Effect<Block> => {
    const { isEstimated, timeMs } = timeOfBlock(block, nodes.clock)
    const begins = isEstimated && !estimating
    estimating = isEstimated
    if (!isEstimated) {
      return Effect.succeed(block)
    }
    const timed: Block = { ...block, blockTimeMs: timeMs, blockTimeEstimated: true }
    const { blockTimeMs, slot } = block
    const warning = "Block times of the node contradict the chain's clock and are estimated"
    return begins
      ? Effect.as(Effect.logWarning(warning, { node: nodes.host, slot, blockTimeMs, estimateMs: timeMs }), timed)
      : Effect.succeed(timed)
  }
}

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
  const timed = makeTimed<Block>(nodes)
  const source: BlockSource<Block> = {
    newest: nodes.newest(),
    list: (from, limit) => nodes.call((rpc) => rpc.getBlocksWithLimit(from, limit)),
    firstAvailable: nodes.call((rpc) => rpc.getFirstAvailableBlock()),
    read: (slot) =>
      nodes.call((_, node) => readPacked(slot, node), scanTimeout).pipe(Effect.map(unpack), Effect.flatMap(timed))
  }
  const feed: BlockFeed<Block> = {
    follow: (after) =>
      Stream.suspend(() => {
        nodes.begin()
        return Stream.interruptWhen(followBlocks(source, progress, settings, after), nodes.replaced.await)
      }),
    read: (slot) =>
      Effect.match(source.read(slot), {
        onFailure: (failure): SlotContent<Block> => withoutBlock(slot, failure),
        onSuccess: (block): SlotContent<Block> => ({ _tag: "Block", block })
      }),
    list: (from, limit) => Effect.orElseSucceed(source.list(from, limit), () => []),
    genesis: nodes.call((rpc) => rpc.getGenesisHash()),
    freshness: () => ({ ...progress.freshness(), node: nodes.host })
  }
  return feed
})
