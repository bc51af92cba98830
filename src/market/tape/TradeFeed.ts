import { Context, Effect, Layer, Stream } from "effect"
import type { GapReason, SlotContent } from "../../chain/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../chain/decoding/TradeBlocks.ts"
import { keepTrying } from "../../operations/keepRunning.ts"
import { makeBatches } from "./blockBatches.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import type { BlockPlace } from "../model/Gaps.ts"
import type { TradeBatch } from "../model/TradeBatch.ts"

const NO_METHOD = -32601

/** Waits until the node answers. Returns null when the node does not know the method, so that the chain has no name. */
const chainOf = ({ genesis }: TradeBlocks["Service"], isSandbox: boolean): Effect.Effect<ChainIdentity | null> =>
  genesis.pipe(
    Effect.map((hash) => ({ genesis: hash, isSandbox })),
    Effect.catchIf(
      ({ rpcCode }) => rpcCode === NO_METHOD,
      () => Effect.succeed(null)
    ),
    keepTrying("Reading the genesis of the chain")
  )

/** A block that was read again, or why it cannot be read. */
export type ReadAgain =
  | { readonly _tag: "Block"; readonly batch: TradeBatch; readonly parentSlot: number }
  | { readonly _tag: "Missing"; readonly reason: GapReason }

const readAgain = (content: SlotContent<TradeBlock>, elseMs: number): ReadAgain => {
  switch (content._tag) {
    case "Block": {
      const { blockTimeEstimated, blockTimeMs, launches, liquidity, openings, parentSlot, slot, supply, transactions } =
        content.block
      const timeMs = blockTimeMs ?? elseMs
      const batch = {
        slot,
        timeMs,
        transactions,
        launches,
        supply,
        liquidity,
        openings,
        afterGap: false,
        timeEstimated: blockTimeEstimated
      }
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
      list: (from, limit) => feed.list(from, limit),
      recorded: feed.recorded
    })
  )

/** Decoded blocks in the order of the chain, each once. */
export class TradeFeed extends Context.Service<
  TradeFeed,
  {
    /** The chain of the blocks, once the node answers; null when the node cannot name it. */
    readonly chain: Effect.Effect<ChainIdentity | null>
    /**
     * The blocks after this slot. With 0 they begin as far back as the feed catches up. For one consumer. Ends when the
     * nodes serve another chain.
     */
    batches(after: number): Stream.Stream<TradeBatch>
    /** Reads one block again. A block without a time gets `elseMs`. Never fails. */
    again(slot: number, elseMs: number): Effect.Effect<ReadAgain>
    /** The first slots with a block, from this slot on, at most `limit`. Empty when the node cannot list them. */
    list(from: number, limit: number): Effect.Effect<ReadonlyArray<number>>
    /** The first block of the chain, when all blocks since are at hand, so that no node is asked for them. */
    readonly recorded?: BlockPlace | undefined
  }
>()("fathom/market/tape/TradeFeed") {
  /** The blocks of a permanent chain. */
  static readonly layer: Layer.Layer<TradeFeed, never, TradeBlocks> = Layer.effect(
    TradeFeed,
    Effect.suspend(() => make(false))
  )

  /** The blocks of a simulated chain. Its trades are deleted once the chain has ended. */
  static readonly layerSandbox: Layer.Layer<TradeFeed, never, TradeBlocks> = Layer.effect(
    TradeFeed,
    Effect.suspend(() => make(true))
  )

  /** No blocks at all: answers made from trades stay unavailable. */
  static readonly layerSilent: Layer.Layer<TradeFeed> = Layer.sync(TradeFeed, () =>
    TradeFeed.of({
      chain: Effect.never,
      batches: () => Stream.never,
      again: () => Effect.never,
      list: () => Effect.succeed([])
    })
  )
}
