import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { BodyLimit } from "../../api/middleware/JsonBody.ts"
import { FeatureUnavailable, SignatureRequired } from "../../api/problems.ts"
import { bytesOf } from "../middleware/JsonBody.ts"

interface Call {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly endpoint: HttpApiEndpoint.Top
}

/**
 * Admission by signature, which nobody can pass yet. The bytes a signature would cover are read, and nothing is made of
 * them: whatever they say, the answer is the same.
 */
const spotOrders = ({ endpoint, request }: Call) =>
  bytesOf(request, Context.get(endpoint.annotations, BodyLimit)).pipe(
    Effect.catchTag("InvalidRequest", () => Effect.void),
    Effect.andThen(new SignatureRequired())
  )

const notOffered = () => new FeatureUnavailable()

export const layer = HttpApiBuilder.group(Api, "closed", (handlers) =>
  handlers.handleAll({
    spotOrders,
    perpsOrdersGet: notOffered,
    perpsOrdersPost: notOffered,
    perpsOrdersPut: notOffered,
    perpsOrdersPatch: notOffered,
    perpsOrdersDelete: notOffered,
    perpsRebalanceGet: notOffered,
    perpsRebalancePost: notOffered,
    perpsRebalancePut: notOffered,
    perpsRebalancePatch: notOffered,
    perpsRebalanceDelete: notOffered
  })
)
