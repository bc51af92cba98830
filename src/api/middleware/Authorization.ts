import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { ApiKey, ApiScope } from "../../domain/ApiKey.ts"
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
} from "../problems.ts"

/** The key that the current request was admitted with. */
export class CurrentKey extends Context.Service<CurrentKey, ApiKey>()(
  "fathom/api/middleware/Authorization/CurrentKey"
) {}

/** Scopes of which the key must hold one; an empty list admits every key. Endpoint annotation. */
export const Scope = Context.Reference<ReadonlyArray<ApiScope>>("fathom/api/middleware/Authorization/Scope", {
  defaultValue: () => ["md.read"]
})

/** True for operations of the app alone: a session is needed, and no key will do. Endpoint annotation. */
export const SessionOnly = Context.Reference<boolean>("fathom/api/middleware/Authorization/SessionOnly", {
  defaultValue: () => false
})

/**
 * Admits a request before its query or body is read: `Authorization: Bearer <secret>`, `X-API-Key: <secret>` or else the
 * cookie of a session, then the key's IP policy and scope,
 * then the charge of `Metering.ts`. A rejection costs nothing.
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
