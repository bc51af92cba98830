/** Activity of one pool in four windows, from its bars of a minute. */
import type { ChartAnswer } from "../../api/Market.ts"

type Chart = typeof ChartAnswer.Encoded
type Bar = Chart["data"]["bars"][number]

const MINUTE_MS = 60_000

const minutes = { m5: 5, h1: 60, h6: 360, h24: 1440 } as const

export type PoolWindow = keyof typeof minutes

/** Activity in one window. Volumes are in USD. */
export interface WindowActivity {
  readonly buys: number | null
  readonly sells: number | null
  readonly volume: number | null
  /** Change of the price in percent; null without a trade before the window. */
  readonly changePct: number | null
}

/** Only the windows that were seen whole. */
export type PoolWindows = Partial<Record<PoolWindow, WindowActivity>>

/** The sum of a value of the bars; null when one of them does not know it. */
const sumOf = (bars: ReadonlyArray<Bar>, value: (bar: Bar) => number | null): number | null =>
  bars.reduce<number | null>((sum, bar) => {
    const one = value(bar)
    return sum === null || one === null ? null : sum + one
  }, 0)

const activityOf = (bars: ReadonlyArray<Bar>, fromMs: number): WindowActivity => {
  const within = bars.filter(({ t }) => t >= fromMs)
  const before = bars.findLast(({ t }) => t < fromMs)
  const last = bars.at(-1)
  return {
    buys: sumOf(within, ({ buys }) => buys),
    sells: sumOf(within, ({ sells }) => sells),
    volume: sumOf(within, ({ v }) => v),
    changePct: before === undefined || last === undefined || before.c === 0 ? null : (last.c / before.c - 1) * 100
  }
}

/** The windows that end with the current minute. */
export const windowsOf = ({ data, meta }: Chart, nowMs: number): PoolWindows => {
  const endMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS
  const { coveredFromMs, coveredToMs, missingBars } = meta.coverage
  // Within three minutes of now, the newest minutes may still be on their way.
  const isCurrent = coveredToMs !== null && coveredToMs >= endMs - 3 * MINUTE_MS
  const isSeen = (fromMs: number) => isCurrent && missingBars === 0 && coveredFromMs !== null && coveredFromMs <= fromMs
  return Object.fromEntries(
    Object.entries(minutes).flatMap(([name, length]) => {
      const fromMs = endMs - length * MINUTE_MS
      return isSeen(fromMs) ? [[name, activityOf(data.bars, fromMs)]] : []
    })
  )
}
