import { Clock, Config, Duration, Effect, Option, Redacted, Scope, Stream } from "effect"
import { countSetting, durationSetting } from "../../domain/countSetting.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import type { Freshness } from "../ChainFeed.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { BlockFeed, BlockHead, SlotContent } from "./BlockFeed.ts"
import { makeBlockReader } from "./blockReader.ts"
import {
  BlockProgress,
  type BlockSettings,
  type BlockSource,
  followBlocks,
  SLOT_SKIPPED,
  withoutBlock
} from "./followBlocks.ts"
import { historyUrlSetting, type RpcOptions, type RpcSettings, rpcSettings } from "../rpc/rpcSettings.ts"
import { NodeChoice } from "../rpc/NodeChoice.ts"
import { makeSolanaRpc } from "../rpc/SolanaRpcHttp.ts"
import { BlockNodes } from "./blockNodes.ts"
import { BlockTimes } from "./blockTime.ts"
import type { RecordedBlocks } from "./RecordedBlocks.ts"
import type { SlotStream } from "./SlotStream.ts"

/** Settings of a block feed; they win over the environment. */
export interface BlockFeedOptions extends RpcOptions {
  /** The module that the block thread runs. It calls `serveBlocks` with a decoder. */
  readonly worker: URL
  readonly blocks?: Partial<BlockSettings> | undefined
  /**
   * Nodes that old blocks are read from, comma-separated. By default the nodes at `HISTORY_RPC_URL`, unless these
   * options name other nodes.
   */
  readonly historyUrl?: string | undefined
}

/**
 * `SOLANA_BLOCK_CONCURRENCY` (2), `SOLANA_BLOCK_CATCH_UP` (1500 slots, ten minutes), `SOLANA_BLOCK_POLL` (400 ms) and
 * `SOLANA_BLOCK_TRIES` (4).
 */
export const blockSettings: Config.Config<BlockSettings> = Config.all({
  concurrency: countSetting("SOLANA_BLOCK_CONCURRENCY", 2, 1),
  catchUp: countSetting("SOLANA_BLOCK_CATCH_UP", 1_500),
  poll: durationSetting("SOLANA_BLOCK_POLL").pipe(Config.withDefault(Duration.millis(400))),
  tries: countSetting("SOLANA_BLOCK_TRIES", 4, 1)
})

/** Reports the newest block, its node, and how many blocks have an estimated time, until the scope closes. */
const reportBlocks = Effect.fnUntraced(function* (
  progress: BlockProgress,
  node: () => string,
  estimatedTimes: () => number
) {
  yield* (yield* SourceMonitor).report("block_feed", (nowMs) => ({
    ...progress.source(nowMs),
    node: node(),
    estimatedTimes: estimatedTimes()
  }))
})

const contentBy = <Block extends BlockHead>(read: BlockSource<Block>["read"], slot: number) =>
  Effect.match(read(slot), {
    onFailure: (failure): SlotContent<Block> => withoutBlock(slot, failure),
    onSuccess: (block): SlotContent<Block> => ({ _tag: "Block", block })
  })

/** Reads from some nodes, whose blocks are decoded in a thread of their own. */
const makeReads = Effect.fnUntraced(function* <Message, Block extends BlockHead>(
  worker: URL,
  { rpc: rpcOptions, blocks }: { readonly rpc: RpcSettings; readonly blocks: BlockSettings },
  choice: NodeChoice,
  unpack: (message: Message) => Block
) {
  const { commitment, scanTimeout } = rpcOptions
  // With several nodes, a failed call goes to the next node instead.
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
    concurrency: blocks.concurrency
  })
  const progress = new BlockProgress()
  const nodes = new BlockNodes(choice, (node) => rpcOf.get(node) ?? rpcs[0][1], progress)
  const times = new BlockTimes(nodes)
  const list = (from: number, limit: number) => nodes.call((rpc) => rpc.getBlocksWithLimit(from, limit))
  const read = (slot: number) =>
    nodes
      .read((node) => readPacked(slot, node), scanTimeout)
      .pipe(
        Effect.map(unpack),
        Effect.flatMap((block) => times.timed(block))
      )
  const contentOf = (slot: number) => contentBy(read, slot)
  return { nodes, times, progress, list, read, contentOf }
})

/**
 * The addresses of the nodes with old blocks: `historyUrl` of the options, else `HISTORY_RPC_URL` unless the options
 * name nodes.
 */
const historyUrls = ({ historyUrl, rpcUrl }: BlockFeedOptions) =>
  historyUrl === undefined && rpcUrl === undefined
    ? Effect.map(
        Effect.suspend(() => historyUrlSetting),
        Option.map((urls) => urls.join(","))
      )
    : Effect.succeed(Option.fromUndefinedOr(historyUrl))

/** Single blocks, and lists of blocks, from nodes with old blocks. Nodes of an unwanted chain are not used. */
const makeHistory = Effect.fnUntraced(function* <Message, Block extends BlockHead>(
  { worker, ...options }: BlockFeedOptions & { readonly rpcUrl: string },
  blocks: BlockSettings,
  wanted: () => string | null,
  unpack: (message: Message) => Block
) {
  const rpc = yield* rpcSettings(options)
  const { contentOf, list, nodes } = yield* makeReads(
    worker,
    { rpc, blocks },
    new NodeChoice(rpc.nodes, wanted),
    unpack
  )
  const state: { readAtMs: number | null; hasFailed: boolean } = { readAtMs: null, hasFailed: false }
  const monitor = yield* SourceMonitor
  // A process that never reads old blocks does not have the source.
  const reported = yield* Effect.cached(
    monitor
      .report("history_feed", () => ({
        observedAtMs: state.readAtMs,
        status: state.hasFailed ? "stale" : state.readAtMs === null ? "unavailable" : "known",
        node: nodes.host
      }))
      .pipe(Scope.provide(yield* Effect.scope))
  )
  const read = (slot: number) =>
    Effect.tap(Effect.andThen(reported, contentOf(slot)), (content) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        state.hasFailed = content._tag === "Gap" && content.reason !== "cleaned_up"
        state.readAtMs = state.hasFailed ? state.readAtMs : nowMs
      })
    )
  return { read, list: (from: number, limit: number) => Effect.orElseSucceed(list(from, limit), () => []) }
})

/** While a stream runs, how often a node is asked for its chain, its clock and its newest slot. */
const STREAM_COMPARED_EVERY = Duration.seconds(10)

/** The blocks of a stream. Blocks that the stream does not have are read from the nodes. */
const streamedSource = <Message, Block extends BlockHead>(
  slots: SlotStream<Message>,
  nodes: BlockSource<Block>,
  made: (message: Message) => Effect.Effect<Block>
): BlockSource<Block> => ({
  newest: slots.newest(nodes.newest),
  list: (from, limit) =>
    Option.match(slots.list(from, limit), { onNone: () => nodes.list(from, limit), onSome: Effect.succeed }),
  firstAvailable: nodes.firstAvailable,
  forked: slots.forked,
  read: (slot) => Effect.flatMap(slots.read(slot), Option.match({ onNone: () => nodes.read(slot), onSome: made }))
})

/** The recorded blocks, and then the blocks of the nodes. */
const recordedSource = <Block extends BlockHead>(
  { first, last, list, read }: RecordedBlocks<Block>,
  nodes: BlockSource<Block>
): BlockSource<Block> => ({
  newest: nodes.newest,
  list: (from, limit) => (from > last ? nodes.list(from, limit) : Effect.succeed(list(from, limit))),
  firstAvailable: Effect.succeed(first),
  read: (slot) =>
    slot < first || slot > last
      ? nodes.read(slot)
      : Option.match(read(slot), {
          onNone: () =>
            Effect.fail(new ChainUnavailable({ reason: "invalid", detail: "skipped", rpcCode: SLOT_SKIPPED })),
          onSome: Effect.succeed
        })
})

/** Asks a node now and then, which also detects that the chain was replaced. Never ends. */
const compareStream = <Block extends BlockHead>(
  slots: SlotStream<unknown>,
  { newest }: BlockSource<Block>
): Effect.Effect<never> =>
  Effect.forever(
    Effect.andThen(Effect.ignore(Effect.flatMap(newest, slots.compare)), Effect.sleep(STREAM_COMPARED_EVERY))
  )

/** The content of a slot from the first reader that has it. It counts as cleaned up only when neither reader has it. */
const firstContent = <Block extends BlockHead>(
  history: Effect.Effect<SlotContent<Block>>,
  live: Effect.Effect<SlotContent<Block>>
): Effect.Effect<SlotContent<Block>> =>
  Effect.flatMap(history, (old) =>
    old._tag === "Gap"
      ? Effect.map(live, (recent) => (recent._tag === "Gap" && recent.reason === "cleaned_up" ? old : recent))
      : Effect.succeed(old)
  )

/**
 * The blocks of the nodes at `SOLANA_RPC_URL`, or of the nodes in the options. `unpack` turns the messages of the
 * worker's decoder into blocks. Single blocks are first looked for at the nodes of `HISTORY_RPC_URL`. With a stream,
 * the nodes only give what the stream does not have. Recorded blocks are never asked for. Makes no request before
 * `follow` runs.
 */
export const makeBlockFeed = Effect.fnUntraced(function* <Message, Block extends BlockHead>(
  options: BlockFeedOptions,
  unpack: (message: Message) => Block,
  slots: SlotStream<Message> | null = null,
  recorded: RecordedBlocks<Block> | null = null
) {
  const rpc = yield* rpcSettings(options)
  const settings = { ...(yield* blockSettings), ...options.blocks }
  const choice = new NodeChoice(rpc.nodes)
  const { contentOf, list, nodes, progress, read, times } = yield* makeReads(
    options.worker,
    { rpc, blocks: settings },
    choice,
    unpack
  )
  const host = () => slots?.host() ?? nodes.host
  const feedFreshness = (): Freshness => ({ ...progress.freshness(), node: host() })
  const ofNodes: BlockSource<Block> = {
    newest: nodes.newest(),
    list,
    firstAvailable: nodes.call((rpc) => rpc.getFirstAvailableBlock()),
    read
  }
  const source = recorded === null ? ofNodes : recordedSource(recorded, ofNodes)
  const reported = reportBlocks(progress, host, () => times.estimated)
  const rpcUrl = yield* historyUrls(options)
  const history = Option.isNone(rpcUrl)
    ? null
    : yield* makeHistory({ ...options, rpcUrl: rpcUrl.value }, settings, () => choice.genesis, unpack)
  const listed = (from: number, limit: number) => Effect.orElseSucceed(source.list(from, limit), () => [])
  const isRecorded = (slot: number) => recorded !== null && slot >= recorded.first && slot <= recorded.last
  const feed: BlockFeed<Block> = {
    follow: (after) =>
      // A process that only follows the bus never comes here, and does not have the source.
      Effect.map(reported, () => {
        nodes.begin()
        const isEnded = Effect.raceFirst(nodes.replaced.await, nodes.watchLag)
        if (slots === null) {
          return followBlocks(source, progress, settings, after).pipe(Stream.interruptWhen(isEnded))
        }
        const streamed = streamedSource(slots, source, (message) => times.timed(unpack(message)))
        // The stream itself waits for the next slot, so no pause between polls is needed.
        return Stream.fromEffectDrain(slots.begin(after)).pipe(
          Stream.concat(followBlocks(streamed, progress, { ...settings, poll: Duration.zero }, after)),
          Stream.interruptWhen(
            Effect.raceAllFirst([
              isEnded,
              compareStream(slots, source),
              slots.disputed((slot) => nodes.call((rpc) => rpc.getBlockhash(slot)))
            ])
          )
        )
      }).pipe(Stream.unwrap),
    read: (slot) =>
      isRecorded(slot)
        ? contentBy(source.read, slot)
        : history === null
          ? contentOf(slot)
          : firstContent(history.read(slot), contentOf(slot)),
    list: (from, limit) =>
      history === null || isRecorded(from)
        ? listed(from, limit)
        : Effect.flatMap(history.list(from, limit), (slots) =>
            slots.length === 0 ? listed(from, limit) : Effect.succeed(slots)
          ),
    genesis: nodes.call((rpc) => rpc.getGenesisHash()),
    freshness: feedFreshness,
    recorded: recorded === null ? undefined : { slot: recorded.first, timeMs: recorded.firstMs }
  }
  return feed
})
