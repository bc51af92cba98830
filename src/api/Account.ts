import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiScope } from "../domain/ApiKey.ts"
import { Plan } from "../domain/Plan.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { Budget } from "./middleware/Metering.ts"
import { NoQuery } from "./parameters.ts"

/** State of one budget of the key. */
const BudgetNow = Schema.Struct({
  limit: Schema.Int,
  remaining: Schema.Int,
  resetAtMs: Schema.Int.annotate({ description: "When the oldest counted unit leaves the window." })
}).annotate({ identifier: "BudgetNow", description: "State of one budget of the key." })

/** The key of a request and its budgets. */
export class KeyReport extends Schema.Opaque<KeyReport>()(
  Schema.Struct({
    data: Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      lastFour: Schema.String,
      scopes: Schema.Array(ApiScope),
      createdAtMs: Schema.Int,
      lastUsedAtMs: Schema.NullOr(Schema.Int),
      expiresAtMs: Schema.NullOr(Schema.Int).annotate({
        description: "The key is refused from then on; null for never."
      }),
      plan: Plan,
      budgets: Schema.Struct({ rest: BudgetNow, quote: BudgetNow })
    }),
    meta: Schema.Struct({ requestId: Schema.String, executionAuthority: Schema.Literal("none") })
  }).annotate({ identifier: "KeyReport", description: "The key of this request and its budgets." })
) {}

/** The key of the caller. */
export class AccountGroup extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("key", "/api/v1/account/key", { query: NoQuery, success: KeyReport })
      .annotate(Scope, [])
      .annotate(Budget, null)
      .annotate(OpenApi.Summary, "The key of this request and its budgets")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "The key of the caller.") {}
