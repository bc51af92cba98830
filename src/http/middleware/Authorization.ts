import { Context, Effect, type Fiber, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { isSession, SessionStore } from "../../access/accounts/SessionStore.ts"
import { ipAllowed } from "../../access/ipPolicy.ts"
import { KeyStore } from "../../access/KeyStore.ts"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { Authorization, CurrentKey, Scope, SessionOnly } from "../../api/middleware/Authorization.ts"
import { Budget, Cost, Meter } from "../../api/middleware/Metering.ts"
import {
  type DataUnavailable,
  InvalidApiKey,
  type InvalidRequest,
  IpNotAllowed,
  KeyDisabled,
  MissingApiKey,
  MissingScope,
  OriginNotAllowed,
  SessionRequired
} from "../../api/errors/problems.ts"
import type { AccountStoreUnavailable, SessionEnded } from "../../api/schemas/Account.ts"
import type { ApiKey, ApiScope, DisabledKey, KeyStoreUnavailable, UnknownKey } from "../../api/schemas/ApiKey.ts"
import { errorDetail } from "../../domain/errorDetail.ts"
import { Requester } from "../../quotes/pools/Requester.ts"
import { bearerOf, hasTwoKeys, KEY_HEADER } from "./bearer.ts"
import { callerAddress } from "./clientAddress.ts"
import { withDecisionDeadlineOn } from "./decisionDeadline.ts"
import { RequestContext } from "./RequestContext.ts"
import { makeMeter } from "./meter.ts"
import { rawHeader } from "./rawHeader.ts"
import { mayChange, sessionSecret } from "./sessionCookie.ts"
import { invalid, unavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"

type Request = HttpServerRequest.HttpServerRequest

/** What the admission of an endpoint needs, from its annotations. Computed once. */
const makeTerms = ({ annotations, identifier }: HttpApiEndpoint.Top, group: string) => ({
  operation: `${group}.${identifier}`,
  accepted: Context.get(annotations, Scope),
  isSessionOnly: Context.get(annotations, SessionOnly),
  budget: Context.get(annotations, Budget),
  cost: Context.get(annotations, Cost)
})

const termsByEndpoint = new WeakMap<HttpApiEndpoint.Top, ReturnType<typeof makeTerms>>()

const termsOf = (endpoint: HttpApiEndpoint.Top, group: string) => {
  const terms = termsByEndpoint.get(endpoint) ?? makeTerms(endpoint, group)
  termsByEndpoint.set(endpoint, terms)
  return terms
}

const missingScope = ([scope = "md.read"]: ReadonlyArray<ApiScope>) =>
  new MissingScope({
    error: {
      message: `The API key lacks the scope ${scope}.`,
      details: [{ in: "header", field: scope, issue: "missing" }]
    }
  })

const twoKeys = () =>
  invalid({ in: "header", field: "X-API-Key", issue: "conflict" }, "Send one key, as Authorization or as X-API-Key.")

const keysUnavailable = () => unavailable("The API key cannot be checked: try again.")

const keyProblem = (
  error: UnknownKey | DisabledKey | KeyStoreUnavailable | DataUnavailable
): Effect.Effect<never, InvalidApiKey | KeyDisabled | DataUnavailable> => {
  switch (error._tag) {
    case "UnknownKey":
      return Effect.fail(new InvalidApiKey())
    case "DisabledKey":
      return Effect.fail(new KeyDisabled())
    case "KeyStoreUnavailable":
      return Effect.andThen(
        Effect.logError("The key store is unavailable", { detail: errorDetail(error.cause) }),
        Effect.fail(keysUnavailable())
      )
    case "DataUnavailable":
      return Effect.fail(error)
  }
}

const sessionsUnavailable = () => unavailable("The session cannot be checked: try again.")

const sessionProblem = (
  error: SessionEnded | AccountStoreUnavailable | DataUnavailable
): Effect.Effect<never, InvalidApiKey | DataUnavailable> => {
  switch (error._tag) {
    case "SessionEnded":
      return Effect.fail(new InvalidApiKey({ error: { message: "The session has ended: sign in again." } }))
    case "AccountStoreUnavailable":
      return Effect.andThen(
        Effect.logError("The account store is unavailable", error.cause),
        Effect.fail(sessionsUnavailable())
      )
    case "DataUnavailable":
      return Effect.fail(error)
  }
}

const isChange = ({ method }: Request): boolean => method !== "GET" && method !== "HEAD"

/** Checks key or session, address, scope and budget, in this order. The query and the body have not been read yet. */
export const layer: Layer.Layer<Authorization, never, KeyStore | RateLimiter | SessionStore | Settings> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const limiter = yield* RateLimiter
    const sessions = yield* SessionStore
    const settings = yield* Settings
    const { trustedHops } = settings

    /** The session of the cookie. Without a cookie the request has no credential at all. */
    const verifySession = (
      fiber: Fiber.Fiber<unknown, unknown>,
      request: Request
    ): Effect.Effect<ApiKey, MissingApiKey | InvalidApiKey | OriginNotAllowed | DataUnavailable> => {
      const secret = sessionSecret(request)
      if (secret === null) {
        return Effect.fail(new MissingApiKey())
      }
      const session = withDecisionDeadlineOn(fiber, sessions.authenticate(secret), sessionsUnavailable)
      return Effect.filterOrFail(
        Effect.catch(session, sessionProblem),
        () => !isChange(request) || mayChange(request, settings, secret),
        () => new OriginNotAllowed()
      )
    }

    const verify = (
      fiber: Fiber.Fiber<unknown, unknown>,
      request: Request
    ): Effect.Effect<
      ApiKey,
      InvalidRequest | MissingApiKey | InvalidApiKey | KeyDisabled | OriginNotAllowed | DataUnavailable
    > => {
      const authorization = rawHeader(request, "authorization")
      const given = rawHeader(request, KEY_HEADER)
      if (authorization === undefined && given === undefined) {
        return verifySession(fiber, request)
      }
      if (hasTwoKeys(authorization, given)) {
        return Effect.fail(twoKeys())
      }
      const secret = given ?? bearerOf(authorization)
      return secret === undefined
        ? Effect.fail(new MissingApiKey())
        : Effect.catchEager(
            withDecisionDeadlineOn(fiber, keys.authenticate(Redacted.make(secret)), keysUnavailable),
            keyProblem
          )
    }

    const accept = (
      key: ApiKey,
      { accepted, isSessionOnly }: ReturnType<typeof makeTerms>,
      request: Request
    ): Effect.Effect<void, IpNotAllowed | MissingScope | SessionRequired> => {
      if (isSessionOnly && !isSession(key)) {
        return Effect.fail(new SessionRequired())
      }
      const address = callerAddress(request, trustedHops)
      if (key.ipPolicy !== null && !ipAllowed(key.ipPolicy, address)) {
        return Effect.fail(new IpNotAllowed())
      }
      if (address !== null && !isSession(key)) {
        keys.usedFrom(key, address)
      }
      const isAccepted = accepted.length === 0 || accepted.some((scope) => key.scopes.includes(scope))
      return isAccepted ? Effect.void : Effect.fail(missingScope(accepted))
    }

    // The eager combinators stay synchronous as long as every store answers synchronously.
    return Authorization.of((httpEffect, { endpoint, group }) =>
      Effect.withFiber((fiber) => {
        const context = fiber.getRef(RequestContext)
        context.keyed = true
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const terms = termsOf(endpoint, group.identifier)
        const { budget, cost } = terms
        const admitted = Effect.flatMapEager(verify(fiber, request), (key) => {
          context.caller = key
          context.operation = terms.operation
          return Effect.mapEager(accept(key, terms, request), () => key)
        })
        return Effect.flatMapEager(admitted, (key) =>
          Effect.flatMapEager(makeMeter({ fiber, context, limiter, key, budget, cost }), (meter) =>
            Effect.updateContext(httpEffect, (context) =>
              Context.add(Context.add(Context.add(context, CurrentKey, key), Meter, meter), Requester, key.id)
            )
          )
        )
      })
    )
  })
)
