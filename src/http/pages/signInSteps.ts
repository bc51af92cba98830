/** Common parts of every sign-in: a limit on attempts, and a session that replaces the previous one. */
import { Effect, Option, type Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { CallerLimits } from "../../access/CallerLimits.ts"
import type { SessionStore } from "../../access/accounts/SessionStore.ts"
import type { DataUnavailable, RateLimited } from "../../api/errors/problems.ts"
import { limited, storeUnavailable } from "../problems.ts"
import type { SettingsShape } from "../Settings.ts"
import { clientAddress, visitorOf } from "../middleware/clientAddress.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { sessionCookie, sessionSecret } from "../middleware/sessionCookie.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Attempts to sign in from one address in any minute. */
export const ATTEMPTS = 20
const WINDOW_MS = 60_000

/**
 * Limits what an address can request of the store, over all processes that share limits; a secret cannot be guessed
 * anyway. Attempts of the same `kind` are counted together.
 */
export const makeAttemptGate =
  (kind: string, limits: CallerLimits["Service"], { trustedHops }: SettingsShape) =>
  (request: Request): Effect.Effect<void, RateLimited | DataUnavailable> => {
    const peer = Option.getOrNull(request.remoteAddress)
    const forwardedFor = rawHeader(request, "x-forwarded-for")
    const caller = visitorOf(clientAddress({ peer, forwardedFor, trustedHops }))
    return limits.count({ kind, caller, limit: ATTEMPTS, windowMs: WINDOW_MS }).pipe(
      Effect.catchTags({
        TooOften: ({ retryAfterMs }) =>
          Effect.fail(limited("sign-in", `An address may try to sign in ${ATTEMPTS} times a minute.`, retryAfterMs)),
        LimiterUnavailable: storeUnavailable("The limiter is unavailable", "Sign-in is unavailable: try again.")
      })
    )
  }

/**
 * A new session and its cookie. A cookie that was planted before the sign-in opens nothing afterwards, because the
 * secret is new and the old session ends.
 */
export const replaceSession = Effect.fnUntraced(function* (
  sessions: SessionStore["Service"],
  settings: SettingsShape,
  request: Request,
  accountId: string
) {
  const before = sessionSecret(request, settings)
  if (before !== null) {
    yield* sessions.end(before)
  }
  const secret: Redacted.Redacted = yield* sessions.open(accountId)
  const cookie = sessionCookie(request, settings, { secret, lifetimeSeconds: sessions.lifetimeSeconds })
  return { secret, cookie }
})
