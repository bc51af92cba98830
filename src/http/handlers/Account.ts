import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { LimiterUnavailable } from "../../api/problems.ts"
import type { BudgetName } from "../../domain/Budget.ts"
import { withDecisionDeadline } from "../middleware/decisionDeadline.ts"
import { metaWith } from "./metaWith.ts"

const unavailable = () => new LimiterUnavailable()

export const layer = HttpApiBuilder.group(
  Api,
  "account",
  Effect.fnUntraced(function* (handlers) {
    const limiter = yield* RateLimiter

    const budgetNow = (key: string, budget: BudgetName) =>
      withDecisionDeadline(limiter.peek(key, budget), unavailable).pipe(
        Effect.catchTag("LimiterUnavailable", unavailable),
        Effect.map(({ limit, remaining, resetAtMs }) => ({ limit, remaining, resetAtMs }))
      )

    const key = Effect.fnUntraced(function* () {
      const { createdAtMs, id, lastFour, lastUsedAtMs, name, scopes } = yield* CurrentKey
      const rest = yield* budgetNow(id, "rest")
      const quote = yield* budgetNow(id, "quote")
      return {
        data: { id, name, lastFour, scopes, createdAtMs, lastUsedAtMs, budgets: { rest, quote } },
        meta: yield* metaWith({ executionAuthority: "none" })
      }
    })

    return handlers.handleAll({ key })
  })
)
