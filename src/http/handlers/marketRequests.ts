/** Requests of the rankings as selectors of the reader, and the cursors of their pages. */
import { Effect } from "effect"
import { defaults, type DiscoveryQuery, type MovementQuery } from "../../api/Market.ts"
import { InvalidCursor } from "../../api/problems.ts"
import { tenTo } from "../../domain/decimal.ts"
import { type Rational, whole } from "../../domain/rational.ts"
import type { DiscoverySelectors } from "../../market/views/discovery.ts"
import type { MovementSelectors } from "../../market/views/movement.ts"
import type { Pin } from "../../market/views/PinnedViews.ts"
import { readCursor, type Selectors, writeCursor } from "../middleware/cursor.ts"

/** The value of decimal text that the contract has validated. */
export const rational = (text: string): Rational => {
  const [digits = "", fraction = ""] = text.split(".")
  return { numerator: BigInt(digits + fraction), denominator: tenTo(fraction.length) }
}

/** Selectors of the movement ranking. */
export const movementSelectors = (query: typeof MovementQuery.Type): MovementSelectors => ({
  window: query.window ?? defaults.movementWindow,
  rank: query.rank ?? defaults.rank,
  minLiquidityUsd: rational(query.minLiquidityUsd ?? defaults.minLiquidityUsd),
  minVolumeUsd: rational(query.minVolumeUsd ?? defaults.minVolumeUsd)
})

/** Selectors of the discovery list. */
export const discoverySelectors = (query: typeof DiscoveryQuery.Type): DiscoverySelectors => ({
  stage: query.stage ?? defaults.stage,
  window: query.window ?? defaults.discoveryWindow,
  launchpads: query.launchpad ?? null,
  minLiquidityUsd: query.minLiquidityUsd === undefined ? null : rational(query.minLiquidityUsd),
  minHolders: query.minHolders === undefined ? null : whole(BigInt(query.minHolders))
})

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part))

/** The selectors that a cursor is sealed with: operation, choice of rows, rows per page. */
export const sealedBy = (operation: string, selectors: object, limit: number): Selectors => [
  operation,
  textOf(selectors),
  String(limit)
]

/** Cursors expire with their view, so that an expired view can be distinguished from a malformed cursor. */
const TIMELESS = 0

/** The cursor of a page of a pinned view. */
export const writePin = (sealed: Selectors, { origin, place, untilMs, view }: Pin): string =>
  writeCursor(sealed, [origin, String(view), String(place), String(untilMs)], TIMELESS)

/** The page of a cursor; null without a cursor, for the first page. */
export const readPin = (sealed: Selectors, cursor: string | undefined): Effect.Effect<Pin | null, InvalidCursor> => {
  if (cursor === undefined) {
    return Effect.succeed(null)
  }
  const [origin, view, place, untilMs] = readCursor(cursor, sealed, TIMELESS) ?? []
  return origin === undefined
    ? Effect.fail(new InvalidCursor())
    : Effect.succeed({ origin, view: Number(view), place: Number(place), untilMs: Number(untilMs) })
}
