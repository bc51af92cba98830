/** The price of a token at one second: the price of its last trade up to the end of that second. */
import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { ChartBar, ChartRefusal, ChartRequest, KnownChart } from "../../api/schemas/Chart.ts"
import type { PriceAt, PriceMoment } from "../../api/schemas/PriceAt.ts"
import {
  type CoverageReason,
  known,
  type Lifetime,
  partial,
  type Scalar,
  type ScalarUnit,
  unavailable
} from "../../domain/Scalar.ts"
import { FINE_RETENTION, floorTo, type Resolution, widthOf } from "../model/resolutions.ts"
import { chartedMint } from "./solanaChart.ts"
import type { Market } from "../tape/Market.ts"
import { lackingAtEnd } from "./tradesCoverage.ts"
import { priceText } from "./tokenTrade.ts"

type Tape = Market["Service"]
type Denom = ChartRequest["denom"]

/** Reads a chart. */
export type ReadChart = (mint: Mint, request: ChartRequest) => Effect.Effect<KnownChart, ChartRefusal>

/** Widths of the bars that are searched, one after another. Trades are kept for the shortest time. */
const widths = ["1s", "1m", "1h", "1d"] as const satisfies ReadonlyArray<Resolution>

/** The bar with the last trade. */
interface FoundBar {
  readonly bar: ChartBar
  readonly resolution: (typeof widths)[number]
  /** Why the time between the trade and the second is not completely known; null when it is. */
  readonly lacking: CoverageReason | null
}

interface NoBar {
  readonly bar: null
  readonly lacking: CoverageReason
}

/** The newest bar that ends by the end of the second. */
const lastBar = (resolution: Resolution, at: number, denom: Denom): ChartRequest => ({
  resolution,
  denom,
  mode: "price",
  from: null,
  to: floorTo(at + 1, widthOf[resolution]),
  limit: 1
})

/** From this second on every bar of a width is kept. */
const keptFrom = (tape: Tape, mint: Mint, resolution: Resolution, nowMs: number): number => {
  const stored = tape.stored()
  if (stored === null) {
    return tape.heldSince(chartedMint(mint), resolution)
  }
  const isFine = widthOf[resolution] < widthOf["1m"]
  const kept = Math.min(stored.candles.keptSeconds(resolution), isFine ? FINE_RETENTION : Number.POSITIVE_INFINITY)
  return Math.ceil(nowMs / 1000 - kept)
}

/** True when trades without a price lie between a bar and the second. */
const hasUnpricedAfter = Effect.fnUntraced(function* (
  read: ReadChart,
  mint: Mint,
  request: ChartRequest,
  bar: ChartBar | null
) {
  const from = bar === null ? null : bar.t / 1000 + widthOf[request.resolution]
  if (from !== null && from >= (request.to ?? from)) {
    return false
  }
  const { knowledge } = yield* read(mint, { ...request, from })
  return (knowledge.coverage.missingBars ?? 0) > 0
})

/** Why blocks between a bar and the second were not read; null when all were read. */
const unreadAfter = (tape: Tape, second: number, at: number, nowMs: number): CoverageReason | null =>
  lackingAtEnd(tape, (at + 1) * 1000, nowMs) ??
  tape.recordedFrom(second, Math.max(second, Math.min(at, tape.state.now))).reason

/** The bar with the last trade, in the finest bars that are still kept. */
const findBar = Effect.fnUntraced(function* (
  tape: Tape,
  read: ReadChart,
  { at, mint }: PriceMoment,
  denom: Denom,
  nowMs: number
): Effect.fn.Return<FoundBar | NoBar, ChartRefusal> {
  let unpriced = false
  let searchedFrom = at + 1
  let lacking: CoverageReason | null = null
  const refusals: Array<ChartRefusal> = []
  for (const resolution of widths) {
    const request = lastBar(resolution, at, denom)
    // A token that is not in memory may have wider bars in the store.
    const chart = yield* Effect.catchTag(read(mint, request), ["ChartNotReady", "ChartUnknown"], (refusal) => {
      refusals.push(refusal)
      return Effect.succeed(null)
    })
    const bar = chart?.data.bars.at(-1) ?? null
    const mayBeUnpriced = (chart?.knowledge.coverage.missingBars ?? 0) > 0
    unpriced ||= mayBeUnpriced && (yield* hasUnpricedAfter(read, mint, request, bar))
    const isCut = Math.min(searchedFrom, at + 1) > (request.to ?? 0)
    if (bar !== null) {
      const unread = unreadAfter(tape, bar.t / 1000, at, nowMs)
      return { bar, resolution, lacking: unread ?? (isCut ? "resolution_retention" : unpriced ? "mark_unknown" : null) }
    }
    searchedFrom = keptFrom(tape, mint, resolution, nowMs)
    lacking = chart?.knowledge.coverage.reason ?? null
    if (searchedFrom === Number.NEGATIVE_INFINITY) {
      break
    }
  }
  const [refused] = refusals
  if (refused !== undefined) {
    return yield* refused
  }
  return { bar: null, lacking: unpriced ? "mark_unknown" : (lacking ?? "basis_unknown") }
})

const scalarOf = (unit: ScalarUnit, bar: ChartBar | null, lacking: CoverageReason | null, life: Lifetime): Scalar => {
  const text = priceText(bar?.c ?? null)
  if (text === null) {
    return unavailable(unit, lacking ?? "mark_unknown")
  }
  return lacking === null ? known(unit, text, life) : partial(unit, text, life, lacking)
}

/** The price of a moment about which nothing is known. */
export const unknownPrice = ({ at, mint }: PriceMoment, reason: CoverageReason): PriceAt => ({
  mint,
  at,
  priceUsd: unavailable("usd", reason),
  priceSol: unavailable("sol", reason),
  method: "last_trade",
  barMs: null,
  resolutionMs: null,
  ageMs: null
})

/** The price of a token at a second. A bar without a price in dollars is searched for in SOL. */
export const priceAt = Effect.fnUntraced(function* (
  tape: Tape,
  read: ReadChart,
  moment: PriceMoment,
  nowMs: number
): Effect.fn.Return<PriceAt, ChartRefusal> {
  const { at, mint } = moment
  const inUsd = yield* findBar(tape, read, moment, "usd", nowMs)
  const isPriced = inUsd.bar !== null || inUsd.lacking !== "mark_unknown"
  const found = isPriced ? inUsd : yield* findBar(tape, read, moment, "sol", nowMs)
  if (found.bar === null) {
    return unknownPrice(moment, found.lacking)
  }
  const { bar, lacking, resolution } = found
  const second = bar.t / 1000
  const end = second + widthOf[resolution]
  const inSol = isPriced
    ? yield* read(mint, { resolution, denom: "sol", mode: "price", from: second, to: end, limit: 1 })
    : null
  const life = { observedAtMs: Math.min(tape.state.now * 1000, tape.heardAtMs() ?? 0), expiresAtMs: null }
  return {
    mint,
    at,
    priceUsd: scalarOf("usd", isPriced ? bar : null, lacking, life),
    priceSol: scalarOf("sol", inSol === null ? bar : (inSol.data.bars[0] ?? null), lacking, life),
    method: "last_trade",
    barMs: bar.t,
    resolutionMs: widthOf[resolution] * 1000,
    ageMs: (at + 1 - end) * 1000
  }
})
