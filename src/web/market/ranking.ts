/** Rows of the market: which of them are shown, and in which order. */
import type { Answer } from "../data/contract.ts"
import { compareDecimals, type ScalarJson } from "../parts/numbers.ts"
import { type Sorting, sortedBy } from "../parts/sorting.ts"
import { type Span, spans } from "./windows.ts"

export type Movement = Answer<"GET /api/v1/market/movement">
export type Row = Movement["data"][number]
export type Rank = Movement["meta"]["ranking"]["rank"]

/** A token with its change in every window; null where it is not among the tokens read for that window. */
export interface Line extends Pick<Row, "token" | "priceUsd" | "liquidityUsd" | "marketCapUsd"> {
  readonly volumeUsd: ScalarJson | null
  readonly trades: ScalarJson | null
  readonly traders: ScalarJson | null
  readonly changes: Readonly<Record<Span, ScalarJson | null>>
}

const figures: Readonly<Record<string, (line: Line) => ScalarJson | null>> = {
  price: ({ priceUsd }) => priceUsd,
  volume: ({ volumeUsd }) => volumeUsd,
  trades: ({ trades }) => trades,
  traders: ({ traders }) => traders,
  liquidity: ({ liquidityUsd }) => liquidityUsd,
  cap: ({ marketCapUsd }) => marketCapUsd,
  ...Object.fromEntries(spans.map(([span]) => [span, ({ changes }: Line) => changes[span]]))
}

/** The figure of a line that a column shows. */
export const figureOf = (line: Line, key: string): ScalarJson | null => figures[key]?.(line) ?? null

/** Lines in the order of a column. Unknown values come last in both directions. */
export const sorted = (lines: ReadonlyArray<Line>, { isDown, key }: Sorting): ReadonlyArray<Line> =>
  sortedBy(lines, (line) => figureOf(line, key)?.value ?? null, isDown)

/** The ranking of the service that holds the lines a column sorts to the top. */
export const rankOf = ({ isDown, key }: Sorting, span: Span): Rank => {
  if (key === span) {
    return isDown ? "gainers" : "losers"
  }
  return isDown && (key === "trades" || key === "traders") ? key : "volume"
}

/** True for a row that the service would list with these limits. A row of unknown value is left out. */
export const reaches = ({ liquidityUsd, volumeUsd }: Row, minLiquidityUsd: string, minVolumeUsd: string): boolean =>
  (
    [
      [liquidityUsd.value, minLiquidityUsd],
      [volumeUsd.value, minVolumeUsd]
    ] as const
  ).every(([value, least]) => least === "0" || (value !== null && compareDecimals(value, least) >= 0))

/** The order of keys shown before, with new keys after them. For a list that must not move under the pointer. */
export const inHeldOrder = <A>(
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string,
  held: ReadonlyArray<string>
): ReadonlyArray<A> => {
  const places = new Map(held.map((key, place) => [key, place]))
  const placeOf = (item: A): number => places.get(keyOf(item)) ?? held.length
  return items.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** Strength of a change for the eye, from -4 (a loss) to 4 (a gain). */
export const heatOf = (changePct: string | null): number => {
  const change = Number(changePct ?? 0)
  const strength = [0.5, 3, 10, 30].filter((step) => Math.abs(change) >= step).length
  return change < 0 ? -strength : strength
}
