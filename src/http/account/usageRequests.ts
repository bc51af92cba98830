/** Requests of the usage in terms of its store, and rows in terms of the contract. */
import { Effect } from "effect"
import { isSession } from "../../accounts/SessionStore.ts"
import { UsageItem, usageDefaults, type UsageQuery } from "../../api/account/Account.ts"
import type { InvalidRequest } from "../../api/problems.ts"
import type { UsageDays, UsagePlace, UsageRow } from "../../domain/keys/Usage.ts"
import { invalid } from "../problems.ts"
import type { OrderKey } from "../middleware/cursor.ts"

const DAY_MS = 86_400_000
const HUNDREDTH_OF_A_MINUTE_MS = 600

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The days of a query. */
export const daysOf = (
  { from, to }: Pick<typeof UsageQuery.Type, "from" | "to">,
  nowMs: number
): Effect.Effect<UsageDays, InvalidRequest> => {
  const last = to ?? dayOf(nowMs)
  const first = from ?? dayOf(Date.parse(last) - (usageDefaults.days - 1) * DAY_MS)
  return first <= last
    ? Effect.succeed({ from: first, to: last })
    : Effect.fail(invalid({ in: "query", field: "from", issue: "out_of_range" }, "from must not be after to."))
}

/** The row on the wire. */
export const wireRow = ({ keyId, keyName, streamMs, ...row }: UsageRow): UsageItem =>
  UsageItem.make({
    ...row,
    keyId: isSession({ id: keyId }) ? null : keyId,
    keyName,
    streamMinutes: Math.floor(streamMs / HUNDREDTH_OF_A_MINUTE_MS) / 100
  })

const DAY = /^[1-9]\d{3}-\d{2}-\d{2}$/u

/** The place of a cursor's key; null for one that is no place. */
export const placeOf = ([day = "", keyId = "", operation = ""]: OrderKey): UsagePlace | null =>
  DAY.test(day) && !Number.isNaN(Date.parse(day)) ? { day, keyId, operation } : null

/** The key of a place. */
export const orderKeyOf = (place: UsagePlace | null): OrderKey | null =>
  place === null ? null : [place.day, place.keyId, place.operation]

/** The 400 of a range with more rows than a CSV answer has. */
export const tooManyRows = (): InvalidRequest =>
  invalid(
    { in: "query", field: "from", issue: "out_of_range" },
    `from and to span more than ${usageDefaults.csvRows} rows, the most of a CSV answer: ask for fewer days.`
  )

/** Refuses the parameters of a page beside CSV. */
export const unpaged = ({ cursor, limit }: typeof UsageQuery.Type): Effect.Effect<void, InvalidRequest> => {
  const field = cursor === undefined ? "limit" : "cursor"
  return cursor === undefined && limit === undefined
    ? Effect.void
    : Effect.fail(
        invalid({ in: "query", field, issue: "conflict" }, `${field} must be left out: a CSV answer has no pages.`)
      )
}
