/** Rows of the market: which of them are shown, and in which order. */
import type { Answer, BodyOf } from "../data/contract.ts"
import { compareDecimals, type ScalarJson } from "../parts/numbers.ts"
import { type Sorting, sortedBy } from "../parts/sorting.ts"
import { type Span, spans } from "./windows.ts"

export type Movement = Answer<"GET /api/v1/market/movement">
export type Row = Movement["data"][number]
export type Rank = Movement["meta"]["ranking"]["rank"]

type Statistic = NonNullable<BodyOf<"POST /api/v1/tokens/screen">["show"]>[number]

/** A token with its figures. A figure is null while it has not been read, and of a token that was not traded in a day. */
export interface Line extends Pick<Row, "token"> {
  readonly priceUsd: ScalarJson | null
  readonly liquidityUsd: ScalarJson | null
  readonly marketCapUsd: ScalarJson | null
  readonly volumeUsd: ScalarJson | null
  readonly trades: ScalarJson | null
  readonly traders: ScalarJson | null
  readonly changes: Readonly<Record<Span, ScalarJson | null>>
  /** Figures of further columns, by their keys. */
  readonly more?: Readonly<Record<string, ScalarJson | null>>
}

const isSpan = (key: string): key is Span => spans.some(([span]) => span === key)

const statistics: Readonly<Record<string, (span: Span) => Statistic>> = {
  price: () => "priceUsd",
  volume: (span) => `volumeUsd.${span}`,
  trades: (span) => `trades.${span}`,
  buys: (span) => `buySharePct.${span}`,
  traders: (span) => `traders.${span}`,
  liquidity: () => "liquidityUsd",
  cap: () => "marketCapUsd",
  age: () => "ageMs",
  holders: () => "holders",
  top10: () => "top10Pct"
}

/** The statistic of the service that a column shows. */
export const statisticOf = (key: string, span: Span): Statistic =>
  isSpan(key) ? `changePct.${key}` : (statistics[key]?.(span) ?? `volumeUsd.${span}`)

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
export const figureOf = (line: Line, key: string): ScalarJson | null => figures[key]?.(line) ?? line.more?.[key] ?? null

/** Lines in the order of a column. Unknown values come last in both directions. */
export const sorted = (lines: ReadonlyArray<Line>, { isDown, key }: Sorting): ReadonlyArray<Line> =>
  sortedBy(lines, (line) => figureOf(line, key)?.value ?? null, isDown)

/** The ranking of the service that a column sorts by; null when none does. */
export const rankOf = ({ isDown, key }: Sorting, span: Span): Rank | null => {
  if (key === span) {
    return isDown ? "gainers" : "losers"
  }
  return isDown && (key === "volume" || key === "trades" || key === "traders") ? key : null
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
