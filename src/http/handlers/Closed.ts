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

/** Rejects every call: signing is not released. The body is read for its size alone and is not interpreted. */
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
