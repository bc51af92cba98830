import { HttpApiMiddleware } from "effect/http-api"
import { InternalError, InvalidRequest } from "../problems.ts"

/** Answers every failure of an endpoint in the error envelope. The outermost middleware of the contract. */
export class ErrorEnvelope extends HttpApiMiddleware.Service<ErrorEnvelope>()("fathom/api/middleware/ErrorEnvelope", {
  error: [InvalidRequest, InternalError]
}) {}
