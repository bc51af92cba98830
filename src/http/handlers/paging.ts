/** Cursors of lists that are read page by page, either by the place of a row or by a pinned view. */
import { Clock, Effect } from "effect"
import { catalogue } from "../../api/errors/catalogue.ts"
import { InvalidCursor } from "../../api/errors/problems.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import type { Pin } from "../../market/memory/PinnedViews.ts"
import { type OrderKey, readCursor, type Selectors, writeCursor } from "../middleware/cursor.ts"

const malformed = (place: "body" | "query" = "query") =>
  new InvalidCursor({
    error: { message: catalogue.invalid_cursor.message, details: [{ in: place, field: "cursor", issue: "format" }] }
  })

/**
 * The place after which a page starts; null without a cursor. Put the account into the selectors, so that another
 * account cannot use the cursor. `placeOf` returns null for a key that is not a place of the list.
 */
export const startOf = <Place>(
  cursor: string | undefined,
  selectors: Selectors,
  placeOf: (key: OrderKey) => Place | null
): Effect.Effect<Place | null, InvalidCursor> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const key = cursor === undefined ? null : readCursor(cursor, selectors, nowMs)
    const place = key === null ? null : placeOf(key)
    return cursor !== undefined && place === null ? Effect.fail(malformed()) : Effect.succeed(place)
  })

/** The cursor of the next page; null on the last page. */
export const nextOf = (last: OrderKey | null, selectors: Selectors): Effect.Effect<string | null> =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => (last === null ? null : writeCursor(selectors, last, nowMs)))

/** The selectors that a cursor is sealed with: operation, filters, rows of a page. */
export const sealedBy = (operation: string, selectors: object, limit: number): Selectors => [
  operation,
  jsonOf(selectors),
  String(limit)
]

/**
 * Such cursors carry no time, because they expire with their view: an expired view is a 409, a malformed cursor a 400.
 */
const TIMELESS = 0

/** The cursor of a page in a pinned view. */
export const writePin = (sealed: Selectors, { origin, place, untilMs, view }: Pin): string =>
  writeCursor(sealed, [origin, String(view), String(place), String(untilMs)], TIMELESS)

/** The page that a cursor names; null without a cursor, for the first page. `place`: where the caller sent it. */
export const readPin = (
  sealed: Selectors,
  cursor: string | undefined,
  place: "body" | "query" = "query"
): Effect.Effect<Pin | null, InvalidCursor> => {
  if (cursor === undefined) {
    return Effect.succeed(null)
  }
  const [origin, view, row, untilMs] = readCursor(cursor, sealed, TIMELESS) ?? []
  return origin === undefined
    ? Effect.fail(malformed(place))
    : Effect.succeed({ origin, view: Number(view), place: Number(row), untilMs: Number(untilMs) })
}
