import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { ApiKey, ApiScope } from "../schemas/ApiKey.ts"
import type { Meter } from "./Metering.ts"
import {
  DataUnavailable,
  InvalidApiKey,
  InvalidRequest,
  IpNotAllowed,
  KeyDisabled,
  LimiterUnavailable,
  MissingApiKey,
  MissingScope,
  OriginNotAllowed,
  RateLimited,
  SessionRequired
} from "../errors/problems.ts"

/** The key that the current request was admitted with. */
export class CurrentKey extends Context.Service<CurrentKey, ApiKey>()(
  "fathom/api/middleware/Authorization/CurrentKey"
) {}

/** Endpoint annotation. The key must hold one of these scopes; an empty list admits every key. */
export const Scope = Context.Reference<ReadonlyArray<ApiScope>>("fathom/api/middleware/Authorization/Scope", {
  defaultValue: () => ["md.read"]
})

/** Endpoint annotation. True for operations of the app: they need a session and accept no key. */
export const SessionOnly = Context.Reference<boolean>("fathom/api/middleware/Authorization/SessionOnly", {
  defaultValue: () => false
})

/**
 * Admits a request before its query or body is read. The credential is `Authorization: Bearer <secret>`, `X-API-Key:
 * <secret>` or the cookie of a session. The key's IP policy and scope are checked next, then `Metering.ts` charges the
 * cost. A rejection costs nothing.
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentKey | Meter }>()(
  "fathom/api/middleware/Authorization",
  {
    requiredForClient: true,
    error: [
      InvalidRequest,
      MissingApiKey,
      InvalidApiKey,
      KeyDisabled,
      MissingScope,
      IpNotAllowed,
      SessionRequired,
      OriginNotAllowed,
      RateLimited,
      LimiterUnavailable,
      DataUnavailable
    ]
  }
) {}
