import { SOL } from "../../domain/Address.ts"
import type { MarketKnowledge, Overview } from "../../domain/market/MarketViews.ts"
import type { Coverage, Scalar } from "../../domain/Scalar.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import { knowledgeOf, priceScalar } from "../../tokens/scalars.ts"
import { type Seen, lighthouse } from "./lighthouse.ts"
import { lifetimeAt } from "./measures.ts"
import { overview } from "./overview.ts"
import { statusOf } from "./pages.ts"
import { type MeasureSources, type Moment, windowStart } from "./tokenMeasures.ts"
import { TokenRanking } from "../windows/TokenRanking.ts"
import { type WindowName, windowIndex, windowNames, windowSeconds } from "../windows/windows.ts"

/** Where the views of a market reader come from. */
export interface ViewSources extends MeasureSources {
  readonly prices: PriceBook["Service"]
}

const SOL_DECIMALS = 9

/** Every window of an answer. */
const eachWindow = <A>(of: (window: WindowName) => A) => ({
  "5m": of("5m"),
  "1h": of("1h"),
  "6h": of("6h"),
  "24h": of("24h")
})

/** The views of a market reader: each of one moment, read synchronously. */
export const makeMoments = (sources: ViewSources) => {
  const { prices, tape } = sources
  const rankings = new Map<WindowName, { readonly second: number; readonly ranking: TokenRanking }>()

  let last: { readonly key: string; readonly told: ReturnType<typeof lighthouse> } | null = null

  /** When the newest block was made, but not later than it was heard of. */
  const observedAtMs = () => Math.min(tape.tape.now * 1000, tape.heardAtMs() ?? 0)

  const coverage = (window: WindowName, nowMs: number): Coverage => tape.coverageFrom(windowStart(tape, window), nowMs)

  const before = (window: WindowName, nowMs: number): Coverage => {
    const read = tape.readFrom(windowStart(tape, window) - (windowSeconds[windowIndex[window]] ?? 0))
    return read.complete ? coverage(window, nowMs) : read
  }

  const ranking = (window: WindowName): TokenRanking => {
    const kept = rankings.get(window)
    if (kept?.second === tape.tape.now) {
      return kept.ranking
    }
    const made = new TokenRanking(tape.tape, window)
    rankings.set(window, { second: tape.tape.now, ranking: made })
    return made
  }

  const at = (nowMs: number): Moment => ({ nowMs, prices: prices.at(nowMs), life: lifetimeAt(observedAtMs()) })

  const lighthouseAt = (nowMs: number) => {
    const seen: Seen = {
      now: eachWindow((window) => coverage(window, nowMs)),
      before: eachWindow((window) => before(window, nowMs)),
      launches: tape.tellsLaunches()
    }
    // Every caller of one second of the chain sees the same.
    const key = JSON.stringify([tape.tape.now, seen])
    const { data, windowCoverage } = last?.key === key ? last.told : lighthouse(tape.tape.markets.rows(), seen)
    last = { key, told: { data, windowCoverage } }
    const worst = windowNames.map((window) => windowCoverage[window]).find(({ complete }) => !complete)
    const whole = worst ?? windowCoverage["5m"]
    return { data, windowCoverage, observedAtMs: observedAtMs(), status: statusOf(whole), coverage: whole }
  }

  const overviewAt = (window: WindowName, nowMs: number): MarketKnowledge & { readonly data: Overview } => {
    const { life, prices: now } = at(nowMs)
    const data = overview({
      window,
      activity: tape.tape.markets.all.activity.read(windowIndex[window]),
      breadth: ranking(window).breadth,
      solUsd: priceScalar(now, now.of(SOL), SOL_DECIMALS, "usd", nowMs),
      sol: tape.tape.window(SOL, window),
      now: coverage(window, nowMs),
      before: before(window, nowMs),
      tellsLaunches: tape.tellsLaunches(),
      life
    })
    const groups = [data.activity, data.change, data.launches, data.breadth, data.reference]
    return {
      data,
      ...knowledgeOf(
        groups.flatMap((group): ReadonlyArray<Scalar> => Object.values(group)),
        observedAtMs()
      )
    }
  }

  return { at, coverage, lighthouse: lighthouseAt, overview: overviewAt, ranking }
}
