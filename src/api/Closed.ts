import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { BodyTooLarge, FeatureUnavailable, SignatureRequired } from "./problems.ts"

type Operation = Parameters<typeof OpenApi.Transform.Service>[0]

/** A call that never succeeds has no success to document. */
const withoutSuccess = ({ responses, ...operation }: Operation): Operation => {
  const { 200: _, ...refusals } = responses
  return { ...operation, responses: refusals }
}

const refused = { success: Schema.Never, error: FeatureUnavailable }

/** A path that refuses every method there is a refusal for; HEAD is GET without the body. */
const everyMethod = <const Name extends string>(name: Name, path: `/${string}`, summary: string) =>
  [
    HttpApiEndpoint.get(`${name}Get`, path, refused).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.post(`${name}Post`, path, refused).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.put(`${name}Put`, path, refused).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.patch(`${name}Patch`, path, refused).annotate(OpenApi.Summary, summary),
    HttpApiEndpoint.delete(`${name}Delete`, path, refused).annotate(OpenApi.Summary, summary)
  ] as const

/**
 * What this version refuses, and says so. None of it reads more of a request than its key and, where a signature is
 * missing, the size of its body, so that a refusal tells nothing of what the body names.
 */
export class ClosedGroup extends HttpApiGroup.make("closed")
  .add(
    HttpApiEndpoint.post("spotOrders", "/api/v1/spot/orders", {
      success: Schema.Never,
      error: [BodyTooLarge, SignatureRequired]
    }).annotate(OpenApi.Summary, "Limit, TWAP and snipe orders: intake is closed"),
    ...everyMethod("perpsOrders", "/api/v1/perps/orders", "Perps orders: not offered"),
    ...everyMethod("perpsRebalance", "/api/v1/perps/rebalance", "Perps collateral rebalance: not offered")
  )
  // The scopes of these calls are reserved: no key holds them, and none is asked for.
  .annotateEndpoints(Scope, [])
  .annotateEndpoints(OpenApi.Transform, withoutSuccess)
  .middleware(Authorization)
  .annotate(OpenApi.Description, "What this version refuses.") {}
