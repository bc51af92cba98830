import { Clock, Context, Effect, Layer } from "effect"
import type { Mint } from "../domain/Address.ts"
import {
  ChartNotReady,
  type ChartRefusal,
  type ChartRequest,
  ChartUnavailable,
  ChartUnknown,
  type ToldChart
} from "../domain/Chart.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { EvmCandles, type EvmInterval } from "./EvmCandles.ts"
import { evmChart, type EvmToken, planEvmChart } from "./evmChart.ts"
import { solanaChart } from "./solanaChart.ts"
import { TradeTape } from "./TradeTape.ts"

/** The reads of the market, from memory; those of EVM tokens from the service that keeps their candles. */
export class MarketReader extends Context.Service<
  MarketReader,
  {
    /** Candles of a Solana token. A token nobody has asked about is queued, and is not ready until then. */
    chart(mint: Mint, request: ChartRequest): Effect.Effect<ToldChart, ChartRefusal>
    /** Candles of an EVM token, folded from those of an interval that its source has. */
    evmChart(token: EvmToken, interval: EvmInterval, request: ChartRequest): Effect.Effect<ToldChart, ChartRefusal>
  }
>()("fathom/market/MarketReader") {
  static readonly layer: Layer.Layer<MarketReader, never, TradeTape | TokenBook | EvmCandles> = Layer.effect(
    MarketReader,
    Effect.gen(function* () {
      const tape = yield* TradeTape
      const tokens = yield* TokenBook
      const evm = yield* EvmCandles
      const sources = { tape, tokens }

      const chart = Effect.fnUntraced(function* (mint: Mint, request: ChartRequest) {
        const state = tokens.read(mint)
        if (state === null) {
          yield* tokens.warm(mint)
        }
        if (!tape.tape.has(mint)) {
          yield* notTraded(mint, state)
        }
        return tape.heardAtMs() === null
          ? yield* new ChartNotReady({ retryAfterMs: null })
          : solanaChart(sources, mint, request, yield* Clock.currentTimeMillis)
      })

      const chartOfEvm = Effect.fnUntraced(function* (token: EvmToken, interval: EvmInterval, request: ChartRequest) {
        const plan = planEvmChart(token, interval, request, yield* Clock.currentTimeMillis)
        const series = yield* evm.candles(plan.request)
        return evmChart(plan, request, series, yield* Clock.currentTimeMillis)
      })

      return MarketReader.of({ chart, evmChart: chartOfEvm })
    })
  )
}

/** Whether a token that is on no tape exists at all. */
const notTraded = (mint: Mint, state: ReturnType<TokenBook["Service"]["read"]>): Effect.Effect<void, ChartRefusal> => {
  switch (state?._tag) {
    case undefined:
      return Effect.fail(new ChartNotReady({ retryAfterMs: null }))
    case "NoToken":
      return Effect.fail(new ChartUnknown({ address: mint }))
    case "Malformed":
      return Effect.fail(new ChartUnavailable({ detail: "The mint account makes no sense." }))
    case "Token":
      return Effect.void
  }
}
