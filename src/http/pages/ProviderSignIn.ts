/**
 * Sign-in with an OpenID provider. `GET /sign-in/oidc` sends the browser there; `GET /sign-in/oidc/callback` opens its
 * session.
 */
import { Effect, Layer, type Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { CallerLimits } from "../../access/CallerLimits.ts"
import { AccountStore } from "../../access/accounts/AccountStore.ts"
import { OidcClient } from "../../access/accounts/OidcClient.ts"
import { signInProofs } from "../../access/accounts/secrets.ts"
import { SessionStore } from "../../access/accounts/SessionStore.ts"
import { catalogue } from "../../api/errors/catalogue.ts"
import type { Problem } from "../../api/errors/Problem.ts"
import { InvalidApiKey, OriginNotAllowed } from "../../api/errors/problems.ts"
import { baseUrl } from "../middleware/baseUrl.ts"
import { serverProblem } from "../middleware/envelope.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { pendingCookie, pendingSecret } from "../middleware/sessionCookie.ts"
import { makeAttemptGate, replaceSession } from "./signInSteps.ts"
import { storeUnavailable, unavailable } from "../problems.ts"
import { Settings, type SettingsShape } from "../Settings.ts"
import { noticePage } from "./sharePages.ts"
import { respond } from "./SharePage.ts"

type Request = HttpServerRequest.HttpServerRequest

const START = "/sign-in/oidc"
const CALLBACK = "/sign-in/oidc/callback"

/** Paths that answer GET outside the contract. */
export const pages = [START, CALLBACK] as const

/** A redirect that is not cached and sends no referrer. */
const redirect = (location: string, cookie: string) =>
  HttpServerResponse.empty({
    status: 303,
    headers: { location, "set-cookie": cookie, "cache-control": "no-store", "referrer-policy": "no-referrer" }
  })

const refused = () =>
  new InvalidApiKey({ error: { message: "The sign-in was refused, or is older than 10 minutes: start again." } })
const foreign = () =>
  new OriginNotAllowed({ error: { message: "A sign-in begins on a page of this service: open /sign-in." } })

const accountsUnavailable = storeUnavailable("The account store is unavailable", "Accounts are unavailable: try again.")
const providerUnavailable = storeUnavailable(
  "The OpenID provider is unavailable",
  "The sign-in provider does not answer: try again."
)

const titles: Partial<Record<Problem["error"]["code"], string>> = {
  not_found: "Page not found",
  rate_limited: "Too many sign-ins",
  data_unavailable: "Sign-in is unavailable"
}

/** The problem as a page when a browser asks for one, otherwise as JSON. */
const answerTo = (request: Request, problem: Problem) =>
  Effect.map(RequestContext, (context) => {
    const { code, message } = problem.error
    const { status } = catalogue[code]
    if (rawHeader(request, "accept")?.includes("text/html") !== true) {
      context.problem = problem
      return HttpServerResponse.empty({ status })
    }
    const page = noticePage(String(status), titles[code] ?? "Sign-in failed", message)
    const retryAfter = status === 429 || status === 503 ? { "retry-after": String(problem.retryAfter ?? 1) } : {}
    return respond(status, page, retryAfter)
  })

/** True when another site sent the browser here. Such a site could sign a browser in against its user's will. */
const isSentByOthers = (request: Request): boolean =>
  !["none", "same-origin", undefined].includes(rawHeader(request, "sec-fetch-site"))

/** The address that the provider sends the browser back to. */
const callbackOf = (request: Request, { publicUrl }: SettingsShape) => {
  const base = baseUrl(publicUrl, request)
  return base === null
    ? Effect.fail(unavailable("PUBLIC_URL is not set: sign-in needs it."))
    : Effect.succeed(base + CALLBACK)
}

/** The query of the request with `?`; empty without one. */
const queryOf = ({ url }: Request): string => (url.includes("?") ? url.slice(url.indexOf("?")) : "")

/** True when the callback carries the state of this sign-in. A callback of another sign-in does not use it up. */
const isOf = (secret: Redacted.Redacted, query: string): boolean =>
  new URLSearchParams(query).get("state") === signInProofs(secret).state

const configured = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const oidc = yield* OidcClient
  const sessions = yield* SessionStore
  const settings = yield* Settings
  const limits = yield* CallerLimits
  // Counted apart: whoever is sent to a callback again and again can still begin a sign-in.
  const admitStart = makeAttemptGate("sign-in by provider", limits, settings)
  const admitReturn = makeAttemptGate("return from provider", limits, settings)

  const start = Effect.fnUntraced(
    function* (request: Request) {
      if (isSentByOthers(request)) {
        return yield* foreign()
      }
      yield* admitStart(request)
      const callback = yield* callbackOf(request, settings)
      const secret = yield* accounts.beginSignIn
      const location = yield* oidc.authorizationUrl(secret, callback)
      return redirect(location, pendingCookie(request, settings, START, secret))
    },
    Effect.catchTags({ AccountStoreUnavailable: accountsUnavailable, ProviderUnavailable: providerUnavailable })
  )

  const finish = Effect.fnUntraced(
    function* (request: Request) {
      yield* admitReturn(request)
      const callback = yield* callbackOf(request, settings)
      const [secret, query] = [pendingSecret(request, settings), queryOf(request)]
      if (secret === null || !isOf(secret, query)) {
        return yield* refused()
      }
      yield* accounts.finishSignIn(secret)
      const { identity, name } = yield* oidc.redeem(secret, callback, query)
      const account = yield* accounts.ofIdentity(identity, name)
      const { cookie } = yield* replaceSession(sessions, settings, request, account.id)
      return redirect("/", cookie)
    },
    Effect.catchTags({
      LinkNotValid: () => Effect.fail(refused()),
      SignInRefused: ({ code }) =>
        Effect.andThen(
          Effect.logWarning("A sign-in with the OpenID provider was refused", { code }),
          Effect.fail(refused())
        ),
      AccountStoreUnavailable: accountsUnavailable,
      ProviderUnavailable: providerUnavailable
    })
  )
  return { start, finish }
})

/** A route that turns problems into answers. HEAD gets an empty 204, because it must not start or finish a sign-in. */
const route = (
  path: (typeof pages)[number],
  answer: (request: Request) => Effect.Effect<HttpServerResponse.HttpServerResponse, Problem>
) =>
  HttpRouter.add(
    "GET",
    path,
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      request.method === "HEAD"
        ? Effect.succeed(HttpServerResponse.empty({ status: 204 }))
        : Effect.catch(answer(request), (problem) => answerTo(request, problem))
    )
  )

const missing = () => Effect.fail(serverProblem("not_found", "No OpenID provider is configured (OIDC_ISSUER)."))

/** Both addresses. They answer 404 when no provider is configured. */
export const layer: Layer.Layer<
  never,
  never,
  HttpRouter.HttpRouter | AccountStore | CallerLimits | OidcClient | SessionStore | Settings
> = Layer.unwrap(
  Effect.gen(function* () {
    const { isConfigured } = yield* OidcClient
    const { finish, start } = isConfigured ? yield* configured : { finish: missing, start: missing }
    return Layer.mergeAll(route(START, start), route(CALLBACK, finish))
  })
)
