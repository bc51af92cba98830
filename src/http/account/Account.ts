import { Clock, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import { isSession } from "../../accounts/SessionStore.ts"
import { usageDefaults, type UsageQuery } from "../../api/account/Account.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { LimiterUnavailable } from "../../api/problems.ts"
import type { ApiKey } from "../../domain/ApiKey.ts"
import type { BudgetName } from "../../domain/Budget.ts"
import { withDecisionDeadline } from "../middleware/decisionDeadline.ts"
import { storeUnavailable } from "../problems.ts"
import { metaWith } from "../handlers/metaWith.ts"
import { nextOf, startOf } from "../handlers/paging.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { prefersCsv, usageCsv } from "./usageCsv.ts"
import { daysOf, orderKeyOf, placeOf, tooManyRows, unpaged, wireRow } from "./usageRequests.ts"

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
      return HttpServerResponse.text(usageCsv(rows.map(wireRow)), {
        contentType: "text/csv; charset=utf-8",
        headers: { "content-disposition": `attachment; filename="usage-${days.from}-${days.to}.csv"`, vary: "accept" }
      })
    })

    const usage = Effect.fnUntraced(function* ({ query, request }: UsageInput) {
      const isCsv = query.format === undefined ? prefersCsv(rawHeader(request, "accept")) : query.format === "csv"
      return yield* isCsv ? usageText(query) : usagePage(query)
    })

    return handlers.handleAll({ key, usage })
  })
)
