/** Candles in SOL: every bar of a token at the SOL price of that bar. */
import type { Bar, BarPage, BarWindow } from "./foldBars.ts"
import { type Resolution, widthOf } from "./resolutions.ts"

/** A SOL bar that ended longer ago than this, in seconds, does not price a bar. */
const CARRIED = 60

/** The bars that could be priced, and how many could not. */
export interface SolBars {
  readonly bars: ReadonlyArray<Bar>
  readonly unpriced: number
}

const MINUTE = 60

/** The bars of SOL that price these; null when there are none to price. Its limit is the caller's. */
export const solWindow = (
  { bars }: BarPage,
  { resolution }: Pick<BarWindow, "resolution">
): Omit<BarWindow, "limit"> | null => {
  const [first, last] = [bars[0], bars.at(-1)]
  return first === undefined || last === undefined
    ? null
    : { resolution, from: first.second - widthOf[resolution] - MINUTE, to: last.second + 1 }
}

/** True when a bar of SOL still prices a bar that begins at `second`. */
const reaches = (sol: Bar, second: number, resolution: Resolution): boolean =>
  sol.second + widthOf[resolution] + CARRIED >= second

/**
 * Bars in SOL from bars in USD. The SOL price of a bar is the close of SOL's own bar of the same bucket or, when SOL has
 * none, of its last bar that ended at most a minute before. A bar without one is left out and counted. Both oldest first.
 */
export const solBars = (bars: ReadonlyArray<Bar>, sol: ReadonlyArray<Bar>, resolution: Resolution): SolBars => {
  const priced: Array<Bar> = []
  let at = -1
  for (const bar of bars) {
    while ((sol[at + 1]?.second ?? Number.POSITIVE_INFINITY) <= bar.second) {
      at++
    }
    const of = sol[at]
    if (of !== undefined && reaches(of, bar.second, resolution)) {
      const { open, high, low, close, volume } = bar
      priced.push({
        ...bar,
        open: open / of.close,
        high: high / of.close,
        low: low / of.close,
        close: close / of.close,
        volume: volume / of.close
      })
    }
  }
  return { bars: priced, unpriced: bars.length - priced.length }
}
