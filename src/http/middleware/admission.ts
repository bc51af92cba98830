/** Who may use an endpoint: the checks that every credential passes, over HTTP as in each message of `/mcp`. */
import { Clock, Effect, type Fiber, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isSession, SessionStore } from "../../access/accounts/SessionStore.ts"
import { ipAllowed } from "../../access/ipPolicy.ts"
import { KeyStore } from "../../access/KeyStore.ts"
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
import { invalid, unavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"
import { bearerOf, hasTwoKeys, KEY_HEADER } from "./bearer.ts"
import { callerAddress } from "./clientAddress.ts"
import { withDecisionDeadlineOn } from "./decisionDeadline.ts"
import { rawHeader } from "./rawHeader.ts"
import { mayChange, sessionSecret } from "./sessionCookie.ts"

type Request = HttpServerRequest.HttpServerRequest

/** What an endpoint demands of a credential. */
export interface AdmissionTerms {
  /** Any of these scopes is enough. Empty: no scope is needed. */
  readonly accepted: ReadonlyArray<ApiScope>
  readonly isSessionOnly: boolean
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

/** The problems of a credential that is not admitted. */
export type Refusal =
  | InvalidRequest
  | MissingApiKey
  | InvalidApiKey
  | KeyDisabled
  | IpNotAllowed
  | MissingScope
  | OriginNotAllowed
  | SessionRequired
  | DataUnavailable

/**
 * Two checks of a request: `verify` returns its key or session, `accept` checks address and scope. Both stay
 * synchronous as long as every store answers synchronously.
 */
export interface Admission {
  readonly verify: (fiber: Fiber.Fiber<unknown, unknown>, request: Request) => Effect.Effect<ApiKey, Refusal>
  readonly accept: (key: ApiKey, terms: AdmissionTerms, request: Request) => Effect.Effect<void, Refusal>
}

export const makeAdmission: Effect.Effect<Admission, never, KeyStore | SessionStore | Settings> = Effect.gen(
  function* () {
    const keys = yield* KeyStore
    const sessions = yield* SessionStore
    const settings = yield* Settings
    const { trustedHops } = settings

    /** The session of the cookie. Without a cookie the request has no credential at all. */
    const verifySession = (
      fiber: Fiber.Fiber<unknown, unknown>,
      request: Request
    ): Effect.Effect<ApiKey, MissingApiKey | InvalidApiKey | OriginNotAllowed | DataUnavailable> => {
      const secret = sessionSecret(request, settings)
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

    const verify: Admission["verify"] = (fiber, request) => {
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
            withDecisionDeadlineOn(
              fiber,
              keys.authenticate(Redacted.make(secret), fiber.getRef(Clock.Clock)),
              keysUnavailable
            ),
            keyProblem
          )
    }

    const accept: Admission["accept"] = (key, { accepted, isSessionOnly }, request) => {
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

    return { verify, accept }
  }
)
