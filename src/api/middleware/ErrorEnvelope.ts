import { HttpApiMiddleware } from "effect/http-api"
import { InternalError, InvalidRequest } from "../problems.ts"

/** Turns whatever goes wrong behind any endpoint into the one error envelope. The outermost middleware of the contract. */
export class ErrorEnvelope extends HttpApiMiddleware.Service<ErrorEnvelope>()("fathom/api/middleware/ErrorEnvelope", {
  error: [InvalidRequest, InternalError]
}) {}
