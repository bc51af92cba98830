import { Context, Effect, Layer, Stream } from "effect"
import type { Launch } from "../domain/Launch.ts"
import { BlockFeed, type BlockTransaction } from "../solana/BlockFeed.ts"
import { makeBatches } from "./blockBatches.ts"

/** What one block did to the market. */
export interface TradeBatch {
  readonly slot: number
  /** Block time, in milliseconds since the Unix epoch. */
  readonly timeMs: number
  /** In the order of the chain. */
  readonly transactions: ReadonlyArray<BlockTransaction>
  /** Null where the feed does not tell of launches. */
  readonly launches: ReadonlyArray<Launch> | null
  /** Whether blocks between this one and the one before were not read. */
  readonly afterGap: boolean
}

/** Decoded blocks, in the order of the chain, each once. */
export class TradeFeed extends Context.Service<
  TradeFeed,
  {
    /** From the moment of subscription, for one consumer: the tape. */
    readonly batches: Stream.Stream<TradeBatch>
  }
>()("fathom/market/TradeFeed") {
  /** The blocks of the chain, from as far back as the feed catches up. */
  static readonly layer: Layer.Layer<TradeFeed, never, BlockFeed> = Layer.effect(
    TradeFeed,
    Effect.map(BlockFeed, ({ follow }) =>
      TradeFeed.of({ batches: Stream.suspend(() => follow(0).pipe(Stream.flatMap(makeBatches()))) })
    )
  )

  /** Where nobody reads blocks: what is answered from trades stays unavailable. */
  static readonly layerSilent: Layer.Layer<TradeFeed> = Layer.sync(TradeFeed, () =>
    TradeFeed.of({ batches: Stream.never })
  )
}
