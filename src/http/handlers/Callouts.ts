import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CalloutItem, CalloutPage, defaults, type FeedQuery } from "../../api/Callouts.ts"
import { type Callout, type CalloutPlace, type CalloutSort, isCalloutId } from "../../api/schemas/Callout.ts"
import { CalloutStore } from "../../callouts/CalloutStore.ts"
import type { Mint } from "../../domain/Address.ts"
import { uiNumber } from "../../domain/decimal.ts"
import { USD_DIGITS } from "../../domain/units.ts"
import type { OrderKey } from "../middleware/cursor.ts"
import { storeUnavailable } from "../problems.ts"
import { nextOf, startOf } from "./paging.ts"

const instant = (timeMs: number): string => new Date(timeMs).toISOString()

/** A callout on the wire. Sums become the nearest JSON numbers. */
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

// At most as many digits as ledger numbers and times have in the database.
const MARK = /^\d{1,18}$/u
const KEYS: Record<CalloutSort, RegExp> = { recent: /^\d{1,15}$/u, top: /^\d{1,40}$/u }

const placeOf = ([mark = "", key = "", id = ""]: OrderKey, sort: CalloutSort): CalloutPlace | null =>
  MARK.test(mark) && KEYS[sort].test(key) && isCalloutId(id) ? { mark: BigInt(mark), key: BigInt(key), id } : null

const unavailable = storeUnavailable("The callout store is unavailable", "Callouts are unavailable: try again.")

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
      const selectors = ["callouts", sort, mint ?? ""]
      const after = yield* startOf(cursor, selectors, (key) => placeOf(key, sort))
      const { callouts, next } = yield* store
        .page({ sort, mint, limit, after })
        .pipe(Effect.catchTag("CalloutStoreUnavailable", unavailable))
      const last = next && [String(next.mark), String(next.key), next.id]
      return CalloutPage.make({ callouts: callouts.map(wireCallout), nextCursor: yield* nextOf(last, selectors) })
    })

    return handlers.handleAll({
      feed: ({ query }) => page(null, query.sort ?? defaults.feedSort, query),
      token: ({ params, query }) => page(params.mint, query.sort ?? defaults.tokenSort, query)
    })
  })
)
