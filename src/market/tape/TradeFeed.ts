import { Context, Effect, Layer, Schedule, Stream } from "effect"
import type { GapReason, SlotContent } from "../../solana/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../trades/blocks/TradeBlock.ts"
import { TradeBlocks } from "../../trades/blocks/TradeBlocks.ts"
import { makeBatches } from "./blockBatches.ts"
import type { ChainIdentity } from "../store/ChainIdentity.ts"
import type { TradeBatch } from "./TradeBatch.ts"

/** The JSON-RPC code of an unknown method. */
const NO_METHOD = -32601

/** Retries until the node answers. The chain is unknown when the node does not support the method. */
const chainOf = ({ genesis }: TradeBlocks["Service"], isSandbox: boolean): Effect.Effect<ChainIdentity | null> =>
  genesis.pipe(
    Effect.map((hash) => ({ genesis: hash, isSandbox })),
    Effect.retry({ while: ({ rpcCode }) => rpcCode !== NO_METHOD, schedule: Schedule.spaced("1 second") }),
    Effect.catch(() => Effect.succeed(null))
  )

/** A block that was read again, or the reason why it cannot be. */
export type ReadAgain =
  | { readonly _tag: "Block"; readonly batch: TradeBatch; readonly parentSlot: number }
  | { readonly _tag: "Missing"; readonly reason: GapReason }

const readAgain = (content: SlotContent<TradeBlock>, elseMs: number): ReadAgain => {
  switch (content._tag) {
    case "Block": {
      const { blockTimeEstimated, blockTimeMs, launches, parentSlot, slot, supply, transactions } = content.block
      const timeMs = blockTimeMs ?? elseMs
      const batch = { slot, timeMs, transactions, launches, supply, afterGap: false, timeEstimated: blockTimeEstimated }
      return { _tag: "Block", parentSlot, batch }
    }
    case "Skipped":
      return { _tag: "Missing", reason: "missing" }
    case "Gap":
      return { _tag: "Missing", reason: content.reason }
  }
}

const make = (isSandbox: boolean) =>
  Effect.map(TradeBlocks, (feed) =>
    TradeFeed.of({
      chain: chainOf(feed, isSandbox),
      batches: (after) => Stream.suspend(() => feed.follow(after).pipe(Stream.flatMap(makeBatches()))),
      again: (slot, elseMs) => Effect.map(feed.read(slot), (content) => readAgain(content, elseMs)),
      list: (from, limit) => feed.list(from, limit)
    })
  )

/** Decoded blocks, in the order of the chain, each once. */
export class TradeFeed extends Context.Service<
  TradeFeed,
  {
    /** The chain of the blocks, once the node is available; null when it is unknown. */
    readonly chain: Effect.Effect<ChainIdentity | null>
    /**
     * From the block after this slot on, or with 0 from as far back as the feed catches up. For one consumer. Ends when the
     * nodes serve another chain.
     */
    batches(after: number): Stream.Stream<TradeBatch>
    /** One block again; the time is `elseMs` where it has none. Never fails. */
    again(slot: number, elseMs: number): Effect.Effect<ReadAgain>
    /** The first slots from this one on that have a block, at most so many; empty when they cannot be listed. */
    list(from: number, limit: number): Effect.Effect<ReadonlyArray<number>>
  }
>()("fathom/market/tape/TradeFeed") {
  /** The blocks of a permanent chain. */
  static readonly layer: Layer.Layer<TradeFeed, never, TradeBlocks> = Layer.effect(
    TradeFeed,
    Effect.suspend(() => make(false))
  )

  /** The blocks of a simulated chain, whose trades are deleted once it has ended. */
  static readonly layerSandbox: Layer.Layer<TradeFeed, never, TradeBlocks> = Layer.effect(
    TradeFeed,
    Effect.suspend(() => make(true))
  )

  /** Without a source of blocks: answers made from trades stay unavailable. */
  static readonly layerSilent: Layer.Layer<TradeFeed> = Layer.sync(TradeFeed, () =>
    TradeFeed.of({
      chain: Effect.never,
      batches: () => Stream.never,
      again: () => Effect.never,
      list: () => Effect.succeed([])
    })
  )
}
