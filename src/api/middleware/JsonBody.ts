import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { BodyTooLarge, InvalidRequest, UnsupportedMediaType } from "../problems.ts"

/** The most bytes a body may have. Annotate an endpoint to change it. */
export const BodyLimit = Context.Reference<number>("fathom/api/middleware/JsonBody/BodyLimit", {
  defaultValue: () => 8192
})

/**
 * Reads the body as the contract wants it: `application/json`, UTF-8, no key twice, no larger than `BodyLimit`. Every
 * endpoint with a payload declares it, as the innermost middleware, so that a body is read only after admission.
 */
export class JsonBody extends HttpApiMiddleware.Service<JsonBody>()("fathom/api/middleware/JsonBody", {
  error: [BodyTooLarge, UnsupportedMediaType, InvalidRequest]
}) {}
