/** What callers of the rankings send, as what the reader is asked; and the cursors that lead through their pages. */
import { Effect } from "effect"
import { defaults, type DiscoveryQuery, type MovementQuery } from "../../api/Market.ts"
import { InvalidCursor } from "../../api/problems.ts"
import { tenTo } from "../../domain/decimal.ts"
import { type Rational, whole } from "../../domain/rational.ts"
import type { DiscoverySelectors } from "../../market/views/discovery.ts"
import type { MovementSelectors } from "../../market/views/movement.ts"
import type { Pin } from "../../market/views/PinnedViews.ts"
import { readCursor, type Selectors, writeCursor } from "../middleware/cursor.ts"

/** Decimal text that the contract has let through. */
const rational = (text: string): Rational => {
  const [digits = "", fraction = ""] = text.split(".")
  return { numerator: BigInt(digits + fraction), denominator: tenTo(fraction.length) }
}

/** What is wanted of a ranking. */
export const movementSelectors = (query: typeof MovementQuery.Type): MovementSelectors => ({
  window: query.window ?? defaults.movementWindow,
  rank: query.rank ?? defaults.rank,
  minLiquidityUsd: rational(query.minLiquidityUsd ?? defaults.minLiquidityUsd),
  minVolumeUsd: rational(query.minVolumeUsd ?? defaults.minVolumeUsd)
})

/** What is looked for. */
export const discoverySelectors = (query: typeof DiscoveryQuery.Type): DiscoverySelectors => ({
  stage: query.stage ?? defaults.stage,
  window: query.window ?? defaults.discoveryWindow,
  launchpads: query.launchpad ?? null,
  minLiquidityUsd: query.minLiquidityUsd === undefined ? null : rational(query.minLiquidityUsd),
  minHolders: query.minHolders === undefined ? null : whole(BigInt(query.minHolders))
})

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part))

/** Every choice of rows, and how many: a cursor is sealed with them. */
export const sealedBy = (operation: string, selectors: object, limit: number): Selectors => [
  operation,
  textOf(selectors),
  String(limit)
]

/** These cursors end with their view: one of a view that is gone can then be told from one that is wrong. */
const TIMELESS = 0

/** The cursor that leads to a page. */
export const writePin = (sealed: Selectors, { origin, place, untilMs, view }: Pin): string =>
  writeCursor(sealed, [origin, String(view), String(place), String(untilMs)], TIMELESS)

/** The page that a cursor leads to; null without one, which is the first. */
export const readPin = (sealed: Selectors, cursor: string | undefined): Effect.Effect<Pin | null, InvalidCursor> => {
  if (cursor === undefined) {
    return Effect.succeed(null)
  }
  const [origin, view, place, untilMs] = readCursor(cursor, sealed, TIMELESS) ?? []
  return origin === undefined
    ? Effect.fail(new InvalidCursor())
    : Effect.succeed({ origin, view: Number(view), place: Number(place), untilMs: Number(untilMs) })
}
