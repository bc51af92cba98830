import { Context, Layer, Stream } from "effect"
import type { Launch } from "../domain/Launch.ts"
import type { DecodedTrades } from "../trades/decode.ts"

/** What one block did to the market. */
export interface TradeBatch {
  readonly slot: number
  /** Block time, in milliseconds since the Unix epoch. */
  readonly timeMs: number
  /** Transaction by transaction, in the order of the chain. */
  readonly trades: ReadonlyArray<DecodedTrades>
  readonly launches: ReadonlyArray<Launch>
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
  /** Where nobody reads blocks: what is answered from trades stays unavailable. */
  static readonly layerSilent: Layer.Layer<TradeFeed> = Layer.sync(TradeFeed, () =>
    TradeFeed.of({ batches: Stream.never })
  )
}
