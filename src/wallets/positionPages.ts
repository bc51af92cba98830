/** Pages of the positions of one wallet: filtered, in the order of one figure. Pure. */
import type { PositionSort, WalletPosition } from "../api/schemas/WalletPositions.ts"
import type { Mint } from "../domain/Address.ts"
import { compare, fractionOf, type Rational } from "../domain/rational.ts"

/** A place among the positions of a wallet: the figure of the order as decimal text, and the mint. */
export interface PositionPlace {
  readonly value: string | null
  readonly mint: Mint
}

/** Selects positions of a wallet. Null does not filter. */
export interface PositionsRequest {
  readonly mint: Mint | null
  /** True: only positions that hold something, or may. False: only positions that certainly hold nothing. */
  readonly open: boolean | null
  /** Least value in dollars. A position whose value is unknown does not pass, and is counted. */
  readonly minValueUsd: Rational | null
  readonly sort: PositionSort
  readonly order: "asc" | "desc"
  /** Null starts with the first position. */
  readonly after: PositionPlace | null
  readonly limit: number
}

/** A page of positions. */
export interface PositionsPage {
  readonly positions: ReadonlyArray<WalletPosition>
  /** The place after which the next page begins; null at the end. */
  readonly next: PositionPlace | null
  /** Positions on all pages. */
  readonly matching: number
  /** Positions that are on no page because their value is unknown. */
  readonly unknownValue: number
}

/** Every position by the last trade, the latest first. */
export const allPositions = (limit: number): PositionsRequest => ({
  mint: null,
  open: null,
  minValueUsd: null,
  sort: "lastTrade",
  order: "desc",
  after: null,
  limit
})

const timeText = (ms: number | null): string | null => (ms === null ? null : String(ms))

/** The figure of an order as decimal text; null when it is unknown. */
const figureOf = (position: WalletPosition, sort: PositionSort): string | null => {
  switch (sort) {
    case "lastTrade":
      return timeText(position.lastAtMs)
    case "firstTrade":
      return timeText(position.firstAtMs)
    case "value":
      return position.valueUsd
    case "cost":
      return position.costUsd
    case "roi":
      return position.roiPct
    case "realized":
    case "unrealized":
    case "total":
      return position[sort]
  }
}

const placeOf = (position: WalletPosition, sort: PositionSort): PositionPlace => ({
  value: figureOf(position, sort),
  mint: position.mint
})

/** Compares places. Unknown figures come last in both directions, equal ones by their mint. */
const inOrder =
  (order: PositionsRequest["order"]) =>
  (a: PositionPlace, b: PositionPlace): number => {
    const byMint = a.mint === b.mint ? 0 : a.mint < b.mint ? -1 : 1
    if (a.value === null || b.value === null) {
      return Number(a.value === null) - Number(b.value === null) || byMint
    }
    const difference = compare(fractionOf(a.value), fractionOf(b.value))
    return (order === "asc" ? difference : -difference) || byMint
  }

/** One page of the positions that pass. */
export const positionsPage = (
  all: ReadonlyArray<WalletPosition>,
  { after, limit, minValueUsd, mint, open, order, sort }: PositionsRequest
): PositionsPage => {
  const named = all.filter(
    (position) => (mint === null || position.mint === mint) && (open === null || position.open === open)
  )
  const matching =
    minValueUsd === null
      ? named
      : named.filter(({ valueUsd }) => valueUsd !== null && compare(fractionOf(valueUsd), minValueUsd) >= 0)
  const compared = inOrder(order)
  const rest = matching
    .map((position) => ({ position, place: placeOf(position, sort) }))
    .filter(({ place }) => after === null || compared(after, place) < 0)
    .toSorted((a, b) => compared(a.place, b.place))
  const page = rest.slice(0, limit)
  return {
    positions: page.map(({ position }) => position),
    next: rest.length > limit ? (page.at(-1)?.place ?? null) : null,
    matching: matching.length,
    unknownValue: minValueUsd === null ? 0 : named.filter(({ valueUsd }) => valueUsd === null).length
  }
}
