import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { isSession } from "../../access/accounts/SessionStore.ts"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import { usageDefaults, UsageItem, type UsageQuery } from "../../api/Account.ts"
import { Api } from "../../api/Api.ts"
import { type InvalidRequest, LimiterUnavailable } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import type { ApiKey } from "../../api/schemas/ApiKey.ts"
import type { BudgetName } from "../../api/schemas/Budget.ts"
import type { UsageDays, UsagePlace, UsageRow } from "../../api/schemas/Usage.ts"
import type { OrderKey } from "../middleware/cursor.ts"
import { withDecisionDeadline } from "../middleware/decisionDeadline.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { invalid, storeUnavailable } from "../problems.ts"
import { csvResponse, csvText, prefersCsv, unpaged } from "./csv.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, startOf } from "./paging.ts"

const COLUMNS = [
  "day",
  "keyId",
  "keyName",
  "operation",
  "requests",
  "units",
  "errors",
  "bytes",
  "streamMinutes"
] as const satisfies ReadonlyArray<keyof UsageItem>

const DAY_MS = 86_400_000
const HUNDREDTH_OF_A_MINUTE_MS = 600

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The days of a query; by default the last `usageDefaults.days` days. */
const daysOf = (
  { from, to }: Pick<typeof UsageQuery.Type, "from" | "to">,
  nowMs: number
): Effect.Effect<UsageDays, InvalidRequest> => {
  const last = to ?? dayOf(nowMs)
  const first = from ?? dayOf(Date.parse(last) - (usageDefaults.days - 1) * DAY_MS)
  return first <= last
    ? Effect.succeed({ from: first, to: last })
    : Effect.fail(invalid({ in: "query", field: "from", issue: "out_of_range" }, "from must not be after to."))
}

const wireRow = ({ keyId, keyName, streamMs, ...row }: UsageRow): UsageItem =>
  UsageItem.make({
    ...row,
    keyId: isSession({ id: keyId }) ? null : keyId,
    keyName,
    streamMinutes: Math.floor(streamMs / HUNDREDTH_OF_A_MINUTE_MS) / 100
  })

const DAY = /^[1-9]\d{3}-\d{2}-\d{2}$/u

/** The place in a cursor's key; null when it is malformed. */
const placeOf = ([day = "", keyId = "", operation = ""]: OrderKey): UsagePlace | null =>
  DAY.test(day) && !Number.isNaN(Date.parse(day)) ? { day, keyId, operation } : null

/** The cursor key of a place. */
const orderKeyOf = (place: UsagePlace | null): OrderKey | null =>
  place === null ? null : [place.day, place.keyId, place.operation]

/** A 400 for a range with more rows than a CSV answer may have. */
const tooManyRows = (): InvalidRequest =>
  invalid(
    { in: "query", field: "from", issue: "out_of_range" },
    `from and to span more than ${usageDefaults.csvRows} rows, the most that a CSV answer may have: request fewer days.`
  )

const unavailable = () => new LimiterUnavailable()
const usageUnavailable = storeUnavailable("The usage store is unavailable", "Usage is unavailable: try again.")

interface UsageInput {
  readonly query: typeof UsageQuery.Type
  readonly request: HttpServerRequest.HttpServerRequest
}

export const layer = HttpApiBuilder.group(
  Api,
  "account",
  Effect.fnUntraced(function* (handlers) {
    const limiter = yield* RateLimiter
    const store = yield* UsageStore

    const budgetNow = (key: ApiKey, budget: BudgetName) =>
      withDecisionDeadline(limiter.peek(key, budget), unavailable).pipe(
        Effect.catchTag("LimiterUnavailable", unavailable),
        Effect.map(({ limit, remaining, resetAtMs }) => ({ limit, remaining, resetAtMs }))
      )

    const key = Effect.fnUntraced(function* () {
      const key = yield* CurrentKey
      const { createdAtMs, expiresAtMs, id, lastFour, lastUsedAtMs, name, plan, scopes } = key
      const rest = yield* budgetNow(key, "rest")
      const quote = yield* budgetNow(key, "quote")
      return {
        data: { id, name, lastFour, scopes, createdAtMs, lastUsedAtMs, expiresAtMs, plan, budgets: { rest, quote } },
        meta: yield* metaWith({ executionAuthority: "none" })
      }
    })

    const usagePage = Effect.fnUntraced(function* (query: typeof UsageQuery.Type) {
      const caller = yield* CurrentKey
      const days = yield* daysOf(query, yield* Clock.currentTimeMillis)
      const selectors = ["account.usage", caller.id, days.from, days.to]
      const after = yield* startOf(query.cursor, selectors, placeOf)
      const { next, rows } = yield* store
        .page({ ...days, caller, isAccount: isSession(caller), limit: query.limit ?? usageDefaults.limit, after })
        .pipe(Effect.catchTag("UsageStoreUnavailable", usageUnavailable))
      const nextCursor = yield* nextOf(orderKeyOf(next), selectors)
      return { data: rows.map(wireRow), nextCursor, meta: yield* metaWith(days) }
    })

    const usageText = Effect.fnUntraced(function* (query: typeof UsageQuery.Type) {
      yield* unpaged(query)
      const caller = yield* CurrentKey
      const days = yield* daysOf(query, yield* Clock.currentTimeMillis)
      const { next, rows } = yield* store
        .page({ ...days, caller, isAccount: isSession(caller), limit: usageDefaults.csvRows, after: null })
        .pipe(Effect.catchTag("UsageStoreUnavailable", usageUnavailable))
      if (next !== null) {
        return yield* tooManyRows()
      }
      return csvResponse(csvText(COLUMNS, rows.map(wireRow)), `usage-${days.from}-${days.to}`)
    })

    const usage = Effect.fnUntraced(function* ({ query, request }: UsageInput) {
      const isCsv = query.format === undefined ? prefersCsv(rawHeader(request, "accept")) : query.format === "csv"
      return yield* isCsv ? usageText(query) : usagePage(query)
    })

    return handlers.handleAll({ key, usage })
  })
)
