import { HttpApiMiddleware } from "effect/http-api"
import { InternalError, InvalidRequest, MethodNotAllowed, UriTooLong } from "../errors/problems.ts"

/**
 * Answers every failure of an endpoint in the error envelope. It is the outermost middleware of the contract. Wrong
 * methods and long URLs are answered before an endpoint is found; they are declared here because they occur at every
 * path.
 */
export class ErrorEnvelope extends HttpApiMiddleware.Service<ErrorEnvelope>()("fathom/api/middleware/ErrorEnvelope", {
  error: [InvalidRequest, MethodNotAllowed, UriTooLong, InternalError]
}) {}
