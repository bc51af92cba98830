import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { FeatureUnavailable, SignatureRequired } from "../../api/errors/problems.ts"
import { BodyLimit } from "../../api/middleware/JsonBody.ts"
import { bytesOf } from "../middleware/JsonBody.ts"

interface Call {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly endpoint: HttpApiEndpoint.Top
}

/** Rejects every call, because signing is not released. Only the size of the body is checked. */
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
