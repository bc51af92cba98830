import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { BodyTooLarge, InvalidRequest, UnsupportedMediaType } from "../errors/problems.ts"

/** Endpoint annotation. The most bytes of a body. */
export const BodyLimit = Context.Reference<number>("fathom/api/middleware/JsonBody/BodyLimit", {
  defaultValue: () => 8192
})

/**
 * Reads a body that is `application/json` in UTF-8, has no key twice and is no larger than `BodyLimit`. Every endpoint
 * with a payload declares it as the innermost middleware, so that a body is read only after admission.
 */
export class JsonBody extends HttpApiMiddleware.Service<JsonBody>()("fathom/api/middleware/JsonBody", {
  error: [BodyTooLarge, UnsupportedMediaType, InvalidRequest]
}) {}
