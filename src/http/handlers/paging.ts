/** Pages of lists that are read by cursor. */
import { Clock, Effect } from "effect"
import { InvalidCursor } from "../../api/problems.ts"
import { type OrderKey, readCursor, type Selectors, writeCursor } from "../middleware/cursor.ts"

/**
 * The place that a cursor leads past; null without a cursor, at the start of the list. Selectors that name the account keep a
 * cursor from being used by another. `placeOf` returns null for a key that is not a place of the list.
 */
export const startOf = <Place>(
  cursor: string | undefined,
  selectors: Selectors,
  placeOf: (key: OrderKey) => Place | null
): Effect.Effect<Place | null, InvalidCursor> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const key = cursor === undefined ? null : readCursor(cursor, selectors, nowMs)
    const place = key === null ? null : placeOf(key)
    return cursor !== undefined && place === null ? Effect.fail(new InvalidCursor()) : Effect.succeed(place)
  })

/** The cursor that leads past the last row of a page; null on the last page. */
export const nextOf = (last: OrderKey | null, selectors: Selectors): Effect.Effect<string | null> =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => (last === null ? null : writeCursor(selectors, last, nowMs)))
