/** Geometry of the bars of a wallet's days. */

/** One bar: its upper edge and its height. */
interface DayBar {
  readonly y: number
  readonly height: number
}

/** Bars, the zero line from the top, and the amounts at the upper and lower edge. */
interface DrawnDays {
  readonly zero: number
  readonly bars: ReadonlyArray<DayBar | null>
  readonly top: number
  readonly bottom: number
}

/**
 * Bars for decimal amounts, above and below a zero line at `zero` from the top, in a drawing of this height. An unknown
 * amount has no bar (null). Amounts become floats here, because they are only drawn.
 */
export const daysDrawn = (amounts: ReadonlyArray<string | null>, height: number): DrawnDays => {
  const values = amounts.map((amount) => (amount === null ? null : Number(amount)))
  const known = values.filter((value) => value !== null)
  const top = Math.max(0, ...known)
  const bottom = Math.min(0, ...known)
  const scale = top === bottom ? 0 : height / (top - bottom)
  const zero = scale === 0 ? height : top * scale
  return {
    zero,
    top,
    bottom,
    bars: values.map((value) =>
      value === null ? null : { y: zero - Math.max(0, value) * scale, height: Math.abs(value) * scale }
    )
  }
}
