import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CalloutItem, CalloutPage, defaults, type FeedQuery } from "../../api/Callouts.ts"
import { DataUnavailable, InvalidCursor } from "../../api/problems.ts"
import { CalloutStore } from "../../callouts/CalloutStore.ts"
import type { Mint } from "../../domain/Address.ts"
import {
  type Callout,
  type CalloutPlace,
  type CalloutSort,
  type CalloutStoreUnavailable,
  isCalloutId
} from "../../domain/wallets/Callout.ts"
import { uiNumber } from "../../domain/decimal.ts"
import { USD_DIGITS } from "../../domain/units.ts"
import { readCursor, type Selectors, writeCursor } from "../middleware/cursor.ts"

const instant = (timeMs: number): string => new Date(timeMs).toISOString()

/** A callout as the API shows it: sums as the nearest JSON numbers. */
const wireCallout = (callout: Callout): CalloutItem => {
  const { createdAtMs, expiresAtMs, attributedVolumeUsdNanos, earnedUsdNanos, priceUsdAtCreate, ...rest } = callout
  return CalloutItem.make({
    ...rest,
    createdAt: instant(createdAtMs),
    expiresAt: instant(expiresAtMs),
    priceUsdAtCreate: priceUsdAtCreate === null ? null : Number(priceUsdAtCreate),
    attributedVolumeUsd: uiNumber(attributedVolumeUsdNanos, USD_DIGITS),
    earnedUsd: uiNumber(earnedUsdNanos, USD_DIGITS),
    pointsAwarded: Number(rest.pointsAwarded)
  })
}

// No longer than what a database takes for a number of the ledger, and for a time.
const MARK = /^\d{1,18}$/u
const KEYS: Record<CalloutSort, RegExp> = { recent: /^\d{1,15}$/u, top: /^\d{1,40}$/u }

const placeOf = ([mark = "", key = "", id = ""]: ReadonlyArray<string>, sort: CalloutSort): CalloutPlace | null =>
  MARK.test(mark) && KEYS[sort].test(key) && isCalloutId(id) ? { mark: BigInt(mark), key: BigInt(key), id } : null

/** Where a page begins: null at the start of the list. */
const startOf = (cursor: string | undefined, selectors: Selectors, sort: CalloutSort, nowMs: number) => {
  if (cursor === undefined) {
    return Effect.succeed(null)
  }
  const place = placeOf(readCursor(cursor, selectors, nowMs) ?? [], sort)
  return place === null ? Effect.fail(new InvalidCursor()) : Effect.succeed(place)
}

const unavailable = ({ cause }: CalloutStoreUnavailable) =>
  Effect.andThen(
    Effect.logError("The callout store is unavailable", cause),
    Effect.fail(new DataUnavailable({ error: { message: "Callouts cannot be read right now." } }))
  )

export const layer = HttpApiBuilder.group(
  Api,
  "callouts",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* CalloutStore

    const page = Effect.fnUntraced(function* (
      mint: Mint | null,
      sort: CalloutSort,
      { cursor, limit = defaults.limit }: Pick<typeof FeedQuery.Type, "cursor" | "limit">
    ) {
      const nowMs = yield* Clock.currentTimeMillis
      const selectors = ["callouts", sort, mint ?? ""]
      const after = yield* startOf(cursor, selectors, sort, nowMs)
      const { callouts, next } = yield* store
        .page({ sort, mint, limit, after })
        .pipe(Effect.catchTag("CalloutStoreUnavailable", unavailable))
      const nextCursor =
        next === null ? null : writeCursor(selectors, [String(next.mark), String(next.key), next.id], nowMs)
      return CalloutPage.make({ callouts: callouts.map(wireCallout), nextCursor })
    })

    return handlers.handleAll({
      feed: ({ query }) => page(null, query.sort ?? defaults.feedSort, query),
      token: ({ params, query }) => page(params.mint, query.sort ?? defaults.tokenSort, query)
    })
  })
)
