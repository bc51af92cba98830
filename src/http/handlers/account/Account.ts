import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "../../../access/RateLimiter.ts"
import { Api } from "../../../api/Api.ts"
import { CurrentKey } from "../../../api/middleware/Authorization.ts"
import { LimiterUnavailable } from "../../../api/problems.ts"
import type { ApiKey } from "../../../domain/ApiKey.ts"
import type { BudgetName } from "../../../domain/Budget.ts"
import { withDecisionDeadline } from "../../middleware/decisionDeadline.ts"
import { metaWith } from "../metaWith.ts"

const unavailable = () => new LimiterUnavailable()

export const layer = HttpApiBuilder.group(
  Api,
  "account",
  Effect.fnUntraced(function* (handlers) {
    const limiter = yield* RateLimiter

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

    return handlers.handleAll({ key })
  })
)
