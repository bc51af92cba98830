import { Clock, Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import {
  ChartNotReady,
  type ChartRefusal,
  type ChartRequest,
  ChartUnavailable,
  ChartUnknown,
  type KnownChart
} from "../../api/schemas/Chart.ts"
import type { TokenBook } from "../../tokens/TokenBook.ts"
import type { EvmCandles, EvmInterval } from "./EvmCandles.ts"
import { evmChart, type EvmToken, planEvmChart } from "./evmChart.ts"
import { findOutliers, NO_OUTLIERS } from "./barOutliers.ts"
import { chartWindow } from "./chartWindow.ts"
import { olderBars, type OlderBars, wholeBars } from "./longBars.ts"
import { chartedMint, solanaChart } from "./solanaChart.ts"
import { supplyHistory } from "./supplyHistory.ts"
import type { Market } from "../tape/Market.ts"

/** Fails unless a token that is not in memory is known to exist. */
const notTraded = (mint: Mint, state: ReturnType<TokenBook["Service"]["read"]>): Effect.Effect<void, ChartRefusal> => {
  switch (state?._tag) {
    case undefined:
      return Effect.fail(new ChartNotReady({ retryAfterMs: null }))
    case "NoToken":
      return Effect.fail(new ChartUnknown({ address: mint }))
    case "Malformed":
      return Effect.fail(new ChartUnavailable({ detail: "The mint account is malformed." }))
    case "Token":
      return Effect.void
  }
}

const isKnown = ({ bars, isMissing }: OlderBars): boolean => isMissing || (bars?.cells.length ?? 0) > 0

/**
 * The bars that the store adds to a chart: bars older than memory, or all bars of a pool, or all bars while memory is
 * restored.
 */
const storedBars = (
  tape: Market["Service"],
  mint: Mint,
  request: ChartRequest,
  nowMs: number
): Effect.Effect<OlderBars, ChartUnavailable> => {
  const { pool } = request
  const window = chartWindow(request)
  const stored = tape.stored()
  if (pool === undefined && (stored === null || !tape.isRestoring())) {
    return olderBars(tape, mint, window, nowMs)
  }
  return stored === null
    ? Effect.fail(new ChartUnavailable({ detail: "No store has the trades of single pools." }))
    : // Unstored blocks are read before the store, so that no block is missing from both.
      wholeBars(stored.candles, tape.unstored(), pool === undefined ? { mint } : { mint, pool }, window, nowMs)
}

/** The charts of a market reader. */
export const makeCharts = (tape: Market["Service"], tokens: TokenBook["Service"], evm: EvmCandles["Service"]) => {
  /** A chart, and a value that is read at its slot. */
  const chartWith = Effect.fnUntraced(function* <A>(
    mint: Mint,
    request: ChartRequest,
    valueOf: (chart: KnownChart) => A
  ) {
    const state = tokens.read(mint)
    if (state === null) {
      yield* tokens.warm(mint)
    }
    const charted = chartedMint(mint)
    if (tape.heardAtMs() === null) {
      if (!tape.state.has(charted)) {
        yield* notTraded(mint, state)
      }
      return yield* new ChartNotReady({ retryAfterMs: null })
    }
    const nowMs = yield* Clock.currentTimeMillis
    const older = yield* storedBars(tape, charted, request, nowMs)
    // A token that is only in the store has traded, too.
    if (!tape.state.has(charted) && !isKnown(older)) {
      yield* notTraded(mint, state)
    }
    const sources = { tape, tokens, older, outliers: NO_OUTLIERS, supply: null }
    const plain = solanaChart(sources, mint, request, nowMs)
    const slot = tape.newestSlot()
    const outliers = yield* findOutliers(tape.stored()?.candles ?? null, mint, request, plain.data.bars)
    const [first] = plain.data.bars
    const supply =
      request.mode === "mcap" && first !== undefined
        ? yield* supplyHistory(tape, mint, Math.floor(first.t / 1000))
        : null
    const chart =
      outliers.size === 0 && supply === null && tape.newestSlot() === slot
        ? plain
        : solanaChart({ ...sources, outliers, supply }, mint, request, nowMs)
    return older.isMissing && chart.data.bars.length === 0
      ? yield* new ChartUnavailable({ detail: "The stored candles of this window are unavailable right now." })
      : { chart, value: valueOf(chart) }
  })

  const evmChartOf = Effect.fnUntraced(function* (token: EvmToken, interval: EvmInterval, request: ChartRequest) {
    const plan = planEvmChart(token, interval, request, yield* Clock.currentTimeMillis)
    const series = yield* evm.candles(plan.request)
    return evmChart(plan, request, series, yield* Clock.currentTimeMillis)
  })

  return {
    chart: (mint: Mint, request: ChartRequest) =>
      Effect.map(
        chartWith(mint, request, () => null),
        ({ chart }) => chart
      ),
    chartWith,
    evmChart: evmChartOf
  }
}
