/** Common parts of every sign-in: a bound on attempts, and a session that replaces the one before. */
import { Clock, Effect, Option, type Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SessionStore } from "../../accounts/SessionStore.ts"
import type { RateLimited } from "../../api/problems.ts"
import { KeyedBudget } from "../../domain/KeyedBudget.ts"
import { visitorOf } from "./clickGate.ts"
import { limited } from "../problems.ts"
import type { SettingsShape } from "../Settings.ts"
import { clientAddress } from "../middleware/clientAddress.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { sessionCookie, sessionSecret } from "../middleware/sessionCookie.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Attempts to sign in from one address in any minute. */
const ATTEMPTS = 20

/** Bounds what an address can ask of the store; a secret cannot be guessed. */
export const makeAttemptGate = ({ trustedHops }: SettingsShape) => {
  const attempts = new KeyedBudget({ limit: ATTEMPTS, windowMs: 60_000 })
  return (request: Request): Effect.Effect<void, RateLimited> =>
    Clock.clockWith((clock) => {
      const peer = Option.getOrNull(request.remoteAddress)
      const forwardedFor = rawHeader(request, "x-forwarded-for")
      const visitor = visitorOf(clientAddress({ peer, forwardedFor, trustedHops }))
      const decision = attempts.admit(visitor, 1, Number(clock.monotonicTimeNanosUnsafe()) / 1e6)
      return decision._tag === "Refused"
        ? Effect.fail(limited("sign-in", `An address has ${ATTEMPTS} attempts to sign in a minute.`, decision.fitsInMs))
        : Effect.void
    })
}

/**
 * A new session and its cookie. A cookie that was planted before the sign-in opens nothing afterwards: the secret is new, and
 * the old session ends.
 */
export const replaceSession = Effect.fnUntraced(function* (
  sessions: SessionStore["Service"],
  settings: SettingsShape,
  request: Request,
  accountId: string
) {
  const before = sessionSecret(request)
  if (before !== null) {
    yield* sessions.end(before)
  }
  const secret: Redacted.Redacted = yield* sessions.open(accountId)
  const cookie = sessionCookie(request, settings, { secret, lifetimeSeconds: sessions.lifetimeSeconds })
  return { secret, cookie }
})
