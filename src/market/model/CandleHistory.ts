import { Context, type Effect } from "effect"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import type { Print } from "./outliers.ts"
import type { Resolution } from "./resolutions.ts"
import type { PrintsRequest, RevisedBar, StoredBars, StoredBarsRequest } from "./StoredBars.ts"

/** Reads the stored candles of the open chain. */
export class CandleHistory extends Context.Service<
  CandleHistory,
  {
    /** The candles of a token: closed ones as stored, open ones made from their trades. */
    bars(request: StoredBarsRequest): Effect.Effect<StoredBars, TradeStoreUnavailable>
    /** The trades that a candle is made of, in the order of the chain. */
    prints(request: PrintsRequest): Effect.Effect<ReadonlyArray<Print>, TradeStoreUnavailable>
    /** The candles from a second on that changed after they were closed; empty where candles are not stored. */
    revised(second: number): Effect.Effect<ReadonlyArray<RevisedBar>, TradeStoreUnavailable>
    /** How many seconds the bars of a resolution are kept. Trades are kept as long as bars of `1s`. */
    readonly keptSeconds: (resolution: Resolution) => number
  }
>()("fathom/market/model/CandleHistory") {}
