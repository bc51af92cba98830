import { HttpApiMiddleware } from "effect/http-api"
import { InternalError, InvalidRequest, MethodNotAllowed, UriTooLong } from "../problems.ts"

/**
 * Answers every failure of an endpoint in the error envelope. The outermost middleware of the contract. Other methods and URLs
 * that are too long are answered before an endpoint is found; they are declared here because they occur at every path.
 */
export class ErrorEnvelope extends HttpApiMiddleware.Service<ErrorEnvelope>()("fathom/api/middleware/ErrorEnvelope", {
  error: [InvalidRequest, MethodNotAllowed, UriTooLong, InternalError]
}) {}
