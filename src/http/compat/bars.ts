/** Candles without gaps, for clients that draw one bar for every interval. */
import type { ChartAnswer } from "../../api/Market.ts"

type Bar = (typeof ChartAnswer.Encoded)["data"]["bars"][number]

/** What a candle of another service needs. */
export type Candle = Pick<Bar, "c" | "h" | "l" | "o" | "t" | "v">

/** The bars with one at the last close for each interval without a trade between them; the newest `most` of them. */
export const filled = (bars: ReadonlyArray<Candle>, stepMs: number, most: number): ReadonlyArray<Candle> => {
  const [last] = bars.slice(-1)
  if (last === undefined) {
    return []
  }
  const oldestMs = last.t - (most - 1) * stepMs
  return bars.flatMap((bar, place) => {
    const endMs = bars[place + 1]?.t ?? bar.t + stepMs
    const fromMs = Math.max(bar.t, oldestMs + ((bar.t - oldestMs) % stepMs))
    const run: Array<Candle> = bar.t >= oldestMs ? [bar] : []
    for (let t = bar.t >= oldestMs ? bar.t + stepMs : fromMs; t < endMs; t += stepMs) {
      run.push({ t, o: bar.c, h: bar.c, l: bar.c, c: bar.c, v: 0 })
    }
    return run
  })
}
