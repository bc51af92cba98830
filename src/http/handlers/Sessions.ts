import { Clock, Effect, Redacted } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccountStore } from "../../accounts/AccountStore.ts"
import { csrfTokenOf } from "../../accounts/secrets.ts"
import { SessionStore } from "../../accounts/SessionStore.ts"
import { Api } from "../../api/Api.ts"
import { InvalidApiKey, OriginNotAllowed } from "../../api/problems.ts"
import { type SignInToken } from "../../api/Sessions.ts"
import type { Account } from "../../domain/Account.ts"
import { KeyedBudget } from "../../domain/KeyedBudget.ts"
import { isOwnOrigin, mayChange, sessionCookie, sessionSecret } from "../middleware/sessionCookie.ts"
import { callerAddress } from "../middleware/clientAddress.ts"
import { visitorOf } from "../pages/clickGate.ts"
import { limited, storeUnavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"

interface Requested {
  readonly request: HttpServerRequest.HttpServerRequest
}

const unavailable = storeUnavailable("The account store is unavailable", "Accounts are unavailable: try again.")

const linkNotValid = () =>
  new InvalidApiKey({ error: { message: "The link is unknown, used or older than 15 minutes: make another one." } })
const sessionEnded = () => new InvalidApiKey({ error: { message: "There is no session: sign in." } })

/** Attempts to sign in from one address in any minute. */
const ATTEMPTS = 20

const noStore = { "cache-control": "no-store" }

const reportOf = (account: Pick<Account, "id" | "name" | "role"> | null, csrfToken: string | null) => ({
  account: account === null ? null : { id: account.id, name: account.name, role: account.role },
  csrfToken,
  oidc: false
})

const answer = (report: ReturnType<typeof reportOf>, cookie?: string) =>
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

    /** The account of a session; null when it has ended. */
    const accountOf = Effect.fnUntraced(function* (secret: Redacted.Redacted | null) {
      const credential =
        secret === null
          ? null
          : yield* sessions.authenticate(secret).pipe(Effect.catchTag("SessionEnded", () => Effect.succeed(null)))
      return credential === null ? null : yield* accounts.find(credential.accountId)
    })

    const current = Effect.fnUntraced(function* ({ request }: Requested) {
      const secret = sessionSecret(request)
      const account = yield* accountOf(secret).pipe(Effect.catchTag("AccountStoreUnavailable", unavailable))
      return answer(reportOf(account, account === null || secret === null ? null : csrfTokenOf(secret)))
    })

    const attempts = new KeyedBudget({ limit: ATTEMPTS, windowMs: 60_000 })

    /** Bounds what an address can ask of the store; a token cannot be guessed. */
    const admitAttempt = Effect.fnUntraced(function* (request: Requested["request"]) {
      const visitor = visitorOf(callerAddress(request, settings.trustedHops))
      const clock = yield* Clock.Clock
      const decision = attempts.admit(visitor, 1, Number(clock.monotonicTimeNanosUnsafe()) / 1e6)
      if (decision._tag === "Refused") {
        return yield* limited("sign-in", `An address has ${ATTEMPTS} attempts to sign in a minute.`, decision.fitsInMs)
      }
    })

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
      // A cookie that was planted before the sign-in opens nothing afterwards: the secret is new, and the old session ends.
      const before = sessionSecret(request)
      const secret = yield* Effect.andThen(
        before === null ? Effect.void : sessions.end(before),
        sessions.open(account.id)
      ).pipe(Effect.catchTag("AccountStoreUnavailable", unavailable))
      const cookie = sessionCookie(request, settings, { secret, lifetimeSeconds: sessions.lifetimeSeconds })
      return answer(reportOf(account, csrfTokenOf(secret)), cookie)
    })

    const signedOut = (request: Requested["request"]) =>
      answer(reportOf(null, null), sessionCookie(request, settings, null))

    const close = Effect.fnUntraced(function* ({ request }: Requested) {
      const secret = sessionSecret(request)
      if (secret !== null) {
        if (!mayChange(request, settings, secret)) {
          return yield* new OriginNotAllowed()
        }
        yield* sessions.end(secret).pipe(Effect.catchTag("AccountStoreUnavailable", unavailable))
      }
      return signedOut(request)
    })

    const closeAll = Effect.fnUntraced(function* ({ request }: Requested) {
      const secret = sessionSecret(request)
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
