import { Context, Effect, Layer } from "effect"
import { ChartChainUnserved, type ChartRefusal, type EvmChain } from "../../api/schemas/Chart.ts"

/** The candle widths of a source. Every other resolution is folded from them. */
export type EvmInterval = "1m" | "5m" | "15m" | "1h" | "4h" | "1d"

/** Selects the newest `limit` candles that begin in `[from, to)`, in Unix seconds. */
export interface EvmRequest {
  readonly chain: EvmChain
  /** 20 bytes in hex, after `0x`. */
  readonly address: string
  readonly interval: EvmInterval
  readonly from: number
  readonly to: number
  readonly limit: number
}

/** One candle in USD per whole token. */
export interface EvmCandle {
  /** Start of the bucket in Unix seconds. */
  readonly second: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** USD. */
  readonly volume: number
}

/** The candles and facts of a token at its source. */
export interface EvmSeries {
  readonly symbol: string | null
  readonly name: string | null
  readonly decimals: number | null
  /** Whole tokens as exact decimal text; null when unknown. */
  readonly totalSupply: string | null
  /** When the source observed the token, in milliseconds. */
  readonly asOfMs: number
  /** Oldest first. Buckets without a trade are absent. */
  readonly candles: ReadonlyArray<EvmCandle>
}

/** Candles of tokens on EVM chains, which another service keeps. */
export class EvmCandles extends Context.Service<
  EvmCandles,
  {
    /** Waits for a series that is being built, as long as the source asks and the deadline allows. */
    candles(request: EvmRequest): Effect.Effect<EvmSeries, ChartRefusal>
  }
>()("fathom/market/reads/EvmCandles") {
  /** Without a configured source, no EVM chain is served. */
  static readonly layerNone: Layer.Layer<EvmCandles> = Layer.sync(EvmCandles, () =>
    EvmCandles.of({
      candles: ({ chain }) => Effect.fail(new ChartChainUnserved({ chain }))
    })
  )
}
