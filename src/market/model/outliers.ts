/**
 * Finds prints far away from their neighbours with next to no volume. They would draw a spike at which hardly anything
 * was traded.
 */

/** One trade of a bar, in one denomination. */
export interface Print {
  /** Price of a whole token; null when unknown. */
  readonly price: number | null
  /** In the smallest unit of the denomination; zero when unknown. */
  readonly volume: bigint
}

/** The number of outliers of a bar, and the highest and lowest price of its other prints. */
export interface Outliers {
  readonly count: number
  readonly high: number
  readonly low: number
}

/** An outlier is more than this many times above or below the median of its neighbours. */
const FAR = 20
/** Neighbours on each side, in the order of the chain. */
const NEIGHBOURS = 5
/** An outlier has less than one part in this of the bar's volume. */
const PARTS = 100n

/** False for a bar whose prices are so close together that none can be an outlier. */
export const mayHaveOutliers = ({ high, low }: { readonly high: number; readonly low: number }): boolean =>
  high > FAR * low

/** The middle value, or the mean of the two middle values; null for an empty list. */
const medianOf = (values: ReadonlyArray<number>): number | null => {
  const sorted = values.toSorted((a, b) => a - b)
  const [below, above] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return below === undefined || above === undefined ? null : (below + above) / 2
}

const isFar = (price: number, median: number | null): boolean =>
  median !== null && (price > FAR * median || price * FAR < median)

/** Finds the outliers among all prints of a bar, given in the order of the chain. */
export const outliersOf = (prints: ReadonlyArray<Print>): Outliers => {
  const total = prints.reduce((sum, { volume }) => sum + volume, 0n)
  const priced = prints.flatMap(({ price, volume }) => (price === null ? [] : [{ price, volume }]))
  const isOutlier = ({ price, volume }: (typeof priced)[number], place: number): boolean => {
    if (volume * PARTS >= total) {
      return false
    }
    const before = priced.slice(Math.max(0, place - NEIGHBOURS), place)
    const after = priced.slice(place + 1, place + 1 + NEIGHBOURS)
    return isFar(price, medianOf([...before, ...after].map((neighbour) => neighbour.price)))
  }
  const found = { count: 0, high: Number.NEGATIVE_INFINITY, low: Number.POSITIVE_INFINITY }
  for (const [place, print] of priced.entries()) {
    if (isOutlier(print, place)) {
      found.count++
    } else {
      found.high = Math.max(found.high, print.price)
      found.low = Math.min(found.low, print.price)
    }
  }
  return found
}
