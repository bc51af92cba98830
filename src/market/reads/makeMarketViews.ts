import { SOL } from "../../domain/Address.ts"
import type { MarketKnowledge, Overview } from "../../api/schemas/MarketViews.ts"
import type { Coverage } from "../../domain/Scalar.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import { knowledgeOf, priceScalar } from "../../tokens/scalars.ts"
import { type Seen, lighthouse } from "./lighthouse.ts"
import { decisive, overview } from "./overview.ts"
import { statusOf } from "./pages.ts"
import { isYoungIn, lifeNow, type MeasureSources, type MeasureContext, windowStart } from "./tokenMeasures.ts"
import { comparedFrom } from "../memory/MarketActivity.ts"
import { TokenRanking } from "../memory/TokenRanking.ts"
import { eachWindow, type WindowName, windowIndex, windowNames } from "../model/windows.ts"

/** The sources of the views. */
export interface ViewSources extends MeasureSources {
  readonly prices: PriceBook["Service"]
}

const SOL_DECIMALS = 9

/** The views of a market reader. Each shows one time and is read synchronously. */
export const makeMarketViews = (sources: ViewSources) => {
  const { prices, tape } = sources
  const rankings = new Map<
    WindowName,
    { readonly state: object; readonly slot: number; readonly ranking: TokenRanking }
  >()

  let last: { readonly key: string; readonly state: object; readonly view: ReturnType<typeof lighthouse> } | null = null

  /** The time of the newest block, but not later than its arrival. */
  const observedAtMs = () => Math.min(tape.state.now * 1000, tape.heardAtMs() ?? 0)

  const coverage = (window: WindowName, nowMs: number): Coverage => tape.coverageFrom(windowStart(tape, window), nowMs)

  const before = (window: WindowName): Coverage => {
    const from = comparedFrom(windowIndex[window], tape.state.now)
    return tape.readFrom(from, windowStart(tape, window) - 1)
  }

  const ranking = (window: WindowName): TokenRanking => {
    const kept = rankings.get(window)
    // Blocks of one second have separate rankings, like everything else that is read with them.
    if (kept?.slot === tape.newestSlot() && kept.state === tape.state) {
      return kept.ranking
    }
    const made = new TokenRanking(tape.state, window, (mint) => isYoungIn(tape, mint, window))
    rankings.set(window, { state: tape.state, slot: tape.newestSlot(), ranking: made })
    return made
  }

  const contextAt = (nowMs: number): MeasureContext => ({
    nowMs,
    slot: tape.newestSlot(),
    prices: prices.at(nowMs),
    life: lifeNow(tape, nowMs)
  })

  const lighthouseAt = (nowMs: number) => {
    const seen: Seen = {
      now: eachWindow((window) => coverage(window, nowMs)),
      before: eachWindow((window) => before(window)),
      launches: tape.reportsLaunches()
    }
    // Until the next block the answer is the same.
    const key = JSON.stringify([tape.newestSlot(), tape.state.now, seen])
    const { data, windowCoverage } =
      last?.key === key && last.state === tape.state ? last.view : lighthouse(tape.state.markets.rows(), seen)
    last = { key, state: tape.state, view: { data, windowCoverage } }
    const worst = windowNames.map((window) => windowCoverage[window]).find(({ complete }) => !complete)
    const whole = worst ?? windowCoverage["5m"]
    const slot = tape.newestSlot()
    return { data, windowCoverage, slot, observedAtMs: observedAtMs(), status: statusOf(whole), coverage: whole }
  }

  const overviewAt = (window: WindowName, nowMs: number): MarketKnowledge & { readonly data: Overview } => {
    const { life, prices: now, slot } = contextAt(nowMs)
    const data = overview({
      window,
      activity: tape.state.markets.all.activity.read(windowIndex[window]),
      breadth: ranking(window).breadth,
      solUsd: priceScalar(now, now.of(SOL), SOL_DECIMALS, "usd", nowMs),
      sol: tape.state.window(SOL, window),
      now: coverage(window, nowMs),
      before: before(window),
      reportsLaunches: tape.reportsLaunches(),
      life
    })
    return {
      data,
      slot,
      ...knowledgeOf(decisive(data), observedAtMs())
    }
  }

  return { contextAt, coverage, lighthouse: lighthouseAt, overview: overviewAt, ranking }
}
