import { Clock, Effect } from "effect"
import type { Mint } from "../domain/Address.ts"
import { ChartNotReady, type ChartRefusal, type ChartRequest, ChartUnavailable, ChartUnknown } from "../domain/Chart.ts"
import type { TokenBook } from "../tokens/TokenBook.ts"
import type { EvmCandles, EvmInterval } from "./EvmCandles.ts"
import { evmChart, type EvmToken, planEvmChart } from "./evmChart.ts"
import { solanaChart } from "./solanaChart.ts"
import type { TradeTape } from "./TradeTape.ts"

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

/** The charts of a market reader. */
export const makeCharts = (tape: TradeTape["Service"], tokens: TokenBook["Service"], evm: EvmCandles["Service"]) => ({
  chart: Effect.fnUntraced(function* (mint: Mint, request: ChartRequest) {
    const state = tokens.read(mint)
    if (state === null) {
      yield* tokens.warm(mint)
    }
    if (!tape.tape.has(mint)) {
      yield* notTraded(mint, state)
    }
    return tape.heardAtMs() === null
      ? yield* new ChartNotReady({ retryAfterMs: null })
      : solanaChart({ tape, tokens }, mint, request, yield* Clock.currentTimeMillis)
  }),
  evmChart: Effect.fnUntraced(function* (token: EvmToken, interval: EvmInterval, request: ChartRequest) {
    const plan = planEvmChart(token, interval, request, yield* Clock.currentTimeMillis)
    const series = yield* evm.candles(plan.request)
    return evmChart(plan, request, series, yield* Clock.currentTimeMillis)
  })
})
