import { Context, Effect, Layer, Schedule, Stream } from "effect"
import { BlockFeed } from "../../solana/blocks/BlockFeed.ts"
import { makeBatches } from "./blockBatches.ts"
import type { ChainIdentity } from "../store/ChainIdentity.ts"
import type { TradeBatch } from "./TradeBatch.ts"

/** The code by which a node says that it does not know a method. */
const NO_METHOD = -32601

/** Asks until the node answers. One that cannot tell its chain leaves it unknown. */
const chainOf = ({ genesis }: BlockFeed["Service"], isSandbox: boolean): Effect.Effect<ChainIdentity | null> =>
  genesis.pipe(
    Effect.map((hash) => ({ genesis: hash, isSandbox })),
    Effect.retry({ while: ({ rpcCode }) => rpcCode !== NO_METHOD, schedule: Schedule.spaced("1 second") }),
    Effect.catch(() => Effect.succeed(null))
  )

const make = (isSandbox: boolean) =>
  Effect.map(BlockFeed, (feed) =>
    TradeFeed.of({
      chain: chainOf(feed, isSandbox),
      batches: (after) => Stream.suspend(() => feed.follow(after).pipe(Stream.flatMap(makeBatches())))
    })
  )

/** Decoded blocks, in the order of the chain, each once. */
export class TradeFeed extends Context.Service<
  TradeFeed,
  {
    /** Which chain the blocks are of, once the node is there to say; null when it does not know. */
    readonly chain: Effect.Effect<ChainIdentity | null>
    /** From the block after this slot on, or with 0 from as far back as the feed catches up. For one consumer. */
    batches(after: number): Stream.Stream<TradeBatch>
  }
>()("fathom/market/tape/TradeFeed") {
  /** The blocks of a chain that is here to stay. */
  static readonly layer: Layer.Layer<TradeFeed, never, BlockFeed> = Layer.effect(
    TradeFeed,
    Effect.suspend(() => make(false))
  )

  /** The blocks of a chain that was invented, and whose trades are worth nothing once it has ended. */
  static readonly layerSandbox: Layer.Layer<TradeFeed, never, BlockFeed> = Layer.effect(
    TradeFeed,
    Effect.suspend(() => make(true))
  )

  /** Where nobody reads blocks: what is answered from trades stays unavailable. */
  static readonly layerSilent: Layer.Layer<TradeFeed> = Layer.sync(TradeFeed, () =>
    TradeFeed.of({ chain: Effect.never, batches: () => Stream.never })
  )
}
