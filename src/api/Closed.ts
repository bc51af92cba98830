import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { BodyTooLarge, FeatureUnavailable, SignatureRequired } from "./errors/problems.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"

type Operation = Parameters<typeof OpenApi.Transform.Service>[0]

/** The operation without its 200, because the call never succeeds. */
const withoutSuccess = ({ responses, ...operation }: Operation): Operation => {
  const { 200: _, ...errors } = responses
  return { ...operation, responses: errors }
}

const closed = { success: Schema.Never, error: FeatureUnavailable }

/** One endpoint per method for a path that rejects all of them; HEAD is GET without the body. */
const everyMethod = <const Name extends string>(name: Name, path: `/${string}`, summary: string) =>
  [
    HttpApiEndpoint.get(`${name}Get`, path, closed).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.post(`${name}Post`, path, closed).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.put(`${name}Put`, path, closed).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.patch(`${name}Patch`, path, closed).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.delete(`${name}Delete`, path, closed).annotate(OpenApi.Summary, summary)
  ] as const

/**
 * Operations that this version rejects. The key is checked, and where only the signature is missing, the size of the
 * body. The content of the body is never read.
 */
export class ClosedGroup extends HttpApiGroup.make("closed")
  .add(
    HttpApiEndpoint.post("spotOrders", "/api/v1/spot/orders", {
      success: Schema.Never,
      error: [BodyTooLarge, SignatureRequired]
    }).annotate(OpenApi.Summary, "Limit, TWAP and snipe orders: not accepted"),
    ...everyMethod("perpsOrders", "/api/v1/perps/orders", "Perps orders: not offered"),
    ...everyMethod("perpsRebalance", "/api/v1/perps/rebalance", "Perps collateral rebalance: not offered")
  )
  // The scopes of these calls are reserved, so none is required.
  .annotateEndpoints(Scope, [])
  .annotateEndpoints(OpenApi.Transform, withoutSuccess)
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Operations that this version rejects.") {}
