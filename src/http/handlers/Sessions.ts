import { Effect, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccountStore } from "../../access/accounts/AccountStore.ts"
import { OidcClient } from "../../access/accounts/OidcClient.ts"
import { csrfTokenOf } from "../../access/accounts/secrets.ts"
import { SessionStore } from "../../access/accounts/SessionStore.ts"
import { CallerLimits } from "../../access/CallerLimits.ts"
import { Api } from "../../api/Api.ts"
import { InvalidApiKey, OriginNotAllowed } from "../../api/errors/problems.ts"
import type { Account } from "../../api/schemas/Account.ts"
import type { SessionReport, SignInToken } from "../../api/Sessions.ts"
import { isOwnOrigin, mayChange, sessionCookie, sessionSecret } from "../middleware/sessionCookie.ts"
import { makeAttemptGate, replaceSession } from "../pages/signInSteps.ts"
import { storeUnavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"

interface Requested {
  readonly request: HttpServerRequest.HttpServerRequest
}

const unavailable = storeUnavailable("The account store is unavailable", "Accounts are unavailable: try again.")

const linkNotValid = () =>
  new InvalidApiKey({ error: { message: "The link is unknown, used or older than 15 minutes: make another one." } })
const sessionEnded = () => new InvalidApiKey({ error: { message: "There is no session: sign in." } })

const noStore = { "cache-control": "no-store" }

const answer = (report: typeof SessionReport.Type, cookie?: string) =>
  HttpServerResponse.jsonUnsafe(report, {
    headers: cookie === undefined ? noStore : { ...noStore, "set-cookie": cookie }
  })

export const layer = HttpApiBuilder.group(
  Api,
  "sessions",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* AccountStore
    const sessions = yield* SessionStore
    const settings = yield* Settings
    const { isConfigured: oidc } = yield* OidcClient

    const reportOf = (
      account: Pick<Account, "id" | "name" | "role"> | null,
      csrfToken: string | null
    ): typeof SessionReport.Type => ({
      account: account === null ? null : { id: account.id, name: account.name, role: account.role },
      csrfToken,
      oidc
    })

    /** The account of a session; null when the session has ended. */
    const accountOf = Effect.fnUntraced(function* (secret: Redacted.Redacted | null) {
      const credential =
        secret === null
          ? null
          : yield* sessions.authenticate(secret).pipe(Effect.catchTag("SessionEnded", () => Effect.succeed(null)))
      return credential === null ? null : yield* accounts.find(credential.accountId)
    })

    const current = Effect.fnUntraced(function* ({ request }: Requested) {
      const secret = sessionSecret(request, settings)
      const account = yield* accountOf(secret).pipe(Effect.catchTag("AccountStoreUnavailable", unavailable))
      return answer(reportOf(account, account === null || secret === null ? null : csrfTokenOf(secret)))
    })

    const admitAttempt = makeAttemptGate("sign-in by link", yield* CallerLimits, settings)

    const open = Effect.fnUntraced(function* ({ payload, request }: Requested & { readonly payload: SignInToken }) {
      if (!isOwnOrigin(request, settings)) {
        return yield* new OriginNotAllowed()
      }
      yield* admitAttempt(request)
      const account = yield* accounts.redeem(Redacted.make(payload.token)).pipe(
        Effect.catchTags({
          LinkNotValid: () => Effect.fail(linkNotValid()),
          AccountStoreUnavailable: unavailable
        })
      )
      const { cookie, secret } = yield* replaceSession(sessions, settings, request, account.id).pipe(
        Effect.catchTag("AccountStoreUnavailable", unavailable)
      )
      return answer(reportOf(account, csrfTokenOf(secret)), cookie)
    })

    const signedOut = (request: Requested["request"]) =>
      answer(reportOf(null, null), sessionCookie(request, settings, null))

    const close = Effect.fnUntraced(function* ({ request }: Requested) {
      const secret = sessionSecret(request, settings)
      if (secret !== null) {
        if (!mayChange(request, settings, secret)) {
          return yield* new OriginNotAllowed()
        }
        yield* sessions.end(secret).pipe(Effect.catchTag("AccountStoreUnavailable", unavailable))
      }
      return signedOut(request)
    })

    const closeAll = Effect.fnUntraced(function* ({ request }: Requested) {
      const secret = sessionSecret(request, settings)
      const account = yield* accountOf(secret).pipe(Effect.catchTag("AccountStoreUnavailable", unavailable))
      if (secret === null || account === null) {
        return yield* sessionEnded()
      }
      if (!mayChange(request, settings, secret)) {
        return yield* new OriginNotAllowed()
      }
      yield* sessions.endAll(account.id).pipe(Effect.catchTag("AccountStoreUnavailable", unavailable))
      return signedOut(request)
    })

    return handlers.handleAll({ current, open, close, closeAll })
  })
)
