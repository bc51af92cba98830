/** The statistics of one token: its windows, and the range of its price. */
import { type Mint, USDC } from "../../domain/Address.ts"
import type { ChartBar, ChartRequest, KnownChart } from "../../api/schemas/Chart.ts"
import type { LargestTrade, PriceExtreme, TokenStats, TokenWindowStats } from "../../api/schemas/TokenStats.ts"
import { decimalText } from "../../domain/rational.ts"
import {
  COMPLETE,
  type Coverage,
  incomplete,
  known,
  type Lifetime,
  partial,
  type Scalar,
  unavailable
} from "../../domain/Scalar.ts"
import type { TokenWindow } from "../memory/TokenWindows.ts"
import type { Market } from "../tape/Market.ts"
import { tokenRef, type TokenSources } from "./tokenRef.ts"
import { windowNames, type WindowName } from "../model/windows.ts"
import { dollarsText, measured, NOT_CAPTURED, priceChange, priceRational, volumeScalar } from "./measures.ts"
import type { LargestWindow } from "./largestTrades.ts"
import { changeIn, coverageOf, isYoungIn, NOTHING, windowStart } from "./tokenMeasures.ts"

const DAY = 86_400
/** Ranges up to this long are searched in bars of a minute, or of an hour. A chart has at most 1,500 bars. */
const MINUTES_UP_TO = 1500 * 60
const HOURS_UP_TO = 1500 * 3600
const MOST_BARS = 1500

/** The bars in which the range of a price since a second is searched. Null searches all. */
export const rangeRequest = (from: number | null, nowMs: number): ChartRequest => {
  const span = from === null ? Number.POSITIVE_INFINITY : nowMs / 1000 - from
  return {
    resolution: span < MINUTES_UP_TO - 60 ? "1m" : span < HOURS_UP_TO - 3600 ? "1h" : "1d",
    denom: "usd",
    mode: "price",
    from: span > MOST_BARS * DAY ? null : from,
    to: null,
    limit: MOST_BARS
  }
}

/** The time of the statistics, and how long they hold. */
interface Now {
  readonly life: Lifetime
  readonly nowMs: number
}

/** One window without its largest trade. */
type WindowSums = Omit<TokenWindowStats, "largestTrade">

/** The statistics without the largest trades, which may have to be read from the store. */
interface StatsSums extends Omit<TokenStats, "windows"> {
  readonly windows: ReadonlyArray<WindowSums>
}

/** Everything in one window of a token that blocks change. */
export interface WindowReading {
  readonly window: WindowName
  readonly from: number
  readonly covered: Coverage
  readonly held: TokenWindow
  readonly isYoung: boolean
  /** Nano-dollars bought; null when unknown, or not read. */
  readonly bought: bigint | null
}

/** Reads one window of a token. `withSides` also reads what was bought, from its bars. */
export const readWindow = (
  tape: Market["Service"],
  mint: Mint,
  window: WindowName,
  { nowMs, withSides }: { readonly nowMs: number; readonly withSides: boolean }
): WindowReading => {
  const from = windowStart(tape, window)
  const held = tape.state.window(mint, window) ?? NOTHING
  return {
    window,
    from,
    // A swap for USDC is counted for the other token, so none is counted for USDC itself.
    covered: mint === USDC ? NOT_CAPTURED : coverageOf(tape, mint, window, nowMs),
    held,
    isYoung: isYoungIn(tape, mint, window),
    bought: !withSides
      ? null
      : held.trades === 0
        ? 0n
        : tape.state.boughtSince(mint, window === "5m" ? "1s" : "1m", from)
  }
}

/** One window of a token. */
export const windowStats = (
  { bought, covered, from, held, isYoung, window }: WindowReading,
  life: Lifetime
): WindowSums => {
  const price = (value: number | null) => {
    const rational = priceRational(value)
    return measured("usd", rational === null ? null : decimalText(rational), covered, life)
  }
  const side = (nanos: bigint | null): Scalar =>
    measured(
      "usd",
      nanos === null ? null : dollarsText(nanos),
      covered,
      life,
      held.unpriced > 0 ? "mark_unknown" : null
    )
  const count = (value: number) => measured("count", String(value), covered, life)
  const sum = { nanos: held.volumeUsdNanos, trades: held.trades, unpriced: held.unpriced }
  const change = changeIn({ held, isYoung })
  const isUnknown = bought === null || (held.unpriced > 0 && held.unpriced === held.trades)
  return {
    window,
    fromMs: from * 1000,
    openUsd: price(held.startPrice),
    closeUsd: price(held.lastPrice),
    changePct: priceChange(change, covered, life),
    changeSince: change.since,
    volumeUsd: volumeScalar(sum, covered, life),
    buyVolumeUsd: side(isUnknown ? null : bought),
    sellVolumeUsd: side(isUnknown ? null : held.volumeUsdNanos - bought),
    trades: count(held.trades),
    buys: count(held.buys),
    sells: count(held.sells),
    traders: count(held.traders)
  }
}

/** The newest bar with the highest or lowest price of a range. `isPast(a, b)`: `a` lies beyond `b`. */
const extremeOf = (
  { data: { bars }, knowledge: { coverage, observedAtMs } }: KnownChart,
  valueOf: (bar: ChartBar) => number,
  isPast: (a: number, b: number) => boolean
): PriceExtreme => {
  const [first, ...rest] = bars
  if (first === undefined) {
    return { priceUsd: unavailable("usd", coverage.reason ?? "basis_unknown"), barMs: null }
  }
  const found = rest.reduce((best, bar) => (isPast(valueOf(best), valueOf(bar)) ? best : bar), first)
  const price = priceRational(valueOf(found))
  const text = price === null ? null : decimalText(price)
  const life = { observedAtMs: observedAtMs ?? found.t, expiresAtMs: null }
  const { reason } = coverage
  return {
    priceUsd: reason === null ? known("usd", text, life) : partial("usd", text, life, reason),
    barMs: found.t
  }
}

/** The windows of a token, for the largest trade of each. */
export const largestWindows = (
  tape: Market["Service"],
  mint: Mint,
  { windows }: StatsSums
): ReadonlyArray<LargestWindow> =>
  windows.map(({ fromMs, window }) => {
    const { trades, unpriced } = tape.state.window(mint, window) ?? NOTHING
    return { fromMs, trades, unpriced }
  })

/** The coverage of statistics: of the day, and of the values of its trades. */
export const statsCoverage = (tape: Market["Service"], mint: Mint, nowMs: number): Coverage => {
  const covered = coverageOf(tape, mint, "24h", nowMs)
  const { unpriced } = tape.state.window(mint, "24h") ?? NOTHING
  return covered.complete && unpriced > 0 ? incomplete("mark_unknown") : covered
}

/** The statistics with the largest trade of each window, in their order. */
export const withLargest = (stats: StatsSums, largest: ReadonlyArray<LargestTrade>): TokenStats => ({
  ...stats,
  windows: stats.windows.flatMap((window, place) => {
    const largestTrade = largest[place]
    return largestTrade === undefined ? [] : [{ ...window, largestTrade }]
  })
})

/** The statistics of a token without the largest trades. `chart` is the chart of `rangeRequest`. */
export const tokenStats = (
  sources: TokenSources & { readonly tape: Market["Service"] },
  mint: Mint,
  chart: KnownChart,
  { life, nowMs }: Now
): StatsSums => {
  const { complete, reason, requestedFromMs } = chart.knowledge.coverage
  return {
    token: tokenRef(sources, mint),
    windows: windowNames.map((window) =>
      windowStats(readWindow(sources.tape, mint, window, { nowMs, withSides: true }), life)
    ),
    range: {
      fromMs: requestedFromMs,
      resolutionMs: chart.data.resolutionMs,
      high: extremeOf(
        chart,
        ({ h }) => h,
        (a, b) => a > b
      ),
      low: extremeOf(
        chart,
        ({ l }) => l,
        (a, b) => a < b
      ),
      status: chart.knowledge.status,
      coverage: complete || reason === null ? COMPLETE : incomplete(reason)
    }
  }
}
