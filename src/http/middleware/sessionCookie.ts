/** The session cookie, and the proof that a change comes from a page of this service. */
import { Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { PENDING_MINUTES } from "../../access/accounts/AccountStore.ts"
import { csrfTokenOf } from "../../access/accounts/secrets.ts"
import { isSession, sessionReference } from "../../access/accounts/SessionStore.ts"
import type { ApiKey } from "../../api/schemas/ApiKey.ts"
import type { SettingsShape } from "../Settings.ts"
import { baseUrl } from "./baseUrl.ts"
import { rawHeader } from "./rawHeader.ts"

type Request = HttpServerRequest.HttpServerRequest

const NAME = "fathom_session"
const COOKIE = /(?:^|;)\s*fathom_session=(?<secret>[0-9A-Za-z]{43})\s*(?:;|$)/u
const PENDING_NAME = "fathom_sign_in"
const PENDING = /(?:^|;)\s*fathom_sign_in=(?<secret>[0-9A-Za-z]{43})\s*(?:;|$)/u

const secretIn = (request: Request, cookie: RegExp): Redacted.Redacted | null => {
  const secret = cookie.exec(rawHeader(request, "cookie") ?? "")?.groups?.["secret"]
  return secret === undefined ? null : Redacted.make(secret)
}

/** The secret in the cookie; null without one. */
export const sessionSecret = (request: Request): Redacted.Redacted | null => secretIn(request, COOKIE)

/** The reference of the session that a request was admitted with; null for a key. */
export const admittedSession = (request: Request, key: Pick<ApiKey, "id">): string | null => {
  const secret = isSession(key) ? sessionSecret(request) : null
  return secret === null ? null : sessionReference(secret)
}

/** True when the browser reached the service through TLS, according to the public URL or a trusted proxy. */
const isSecure = (request: Request, { publicUrl, trustedHops }: SettingsShape): boolean =>
  publicUrl === null
    ? trustedHops > 0 && rawHeader(request, "x-forwarded-proto")?.split(",").at(-1)?.trim() === "https"
    : publicUrl.startsWith("https:")

/** A cookie that scripts cannot read and that other sites' requests do not carry, except links. */
const cookieOf = (request: Request, settings: SettingsShape, cookie: string, seconds: number): string =>
  [cookie, "HttpOnly", "SameSite=Lax", `Max-Age=${seconds}`, ...(isSecure(request, settings) ? ["Secure"] : [])].join(
    "; "
  )

/** The `Set-Cookie` header of a session. A null secret removes the cookie. */
export const sessionCookie = (
  request: Request,
  settings: SettingsShape,
  session: { readonly secret: Redacted.Redacted; readonly lifetimeSeconds: number } | null
): string => {
  const value = session === null ? "" : Redacted.value(session.secret)
  return cookieOf(request, settings, `${NAME}=${value}; Path=/`, session === null ? 0 : session.lifetimeSeconds)
}

/** The secret of this browser's pending sign-in at a provider; null without one. */
export const pendingSecret = (request: Request): Redacted.Redacted | null => secretIn(request, PENDING)

/** The `Set-Cookie` header of a pending sign-in. The browser sends it back only below the path of the sign-in. */
export const pendingCookie = (
  request: Request,
  settings: SettingsShape,
  path: string,
  secret: Redacted.Redacted
): string =>
  cookieOf(request, settings, `${PENDING_NAME}=${Redacted.value(secret)}; Path=${path}`, PENDING_MINUTES * 60)

/** True when the browser states that a page of this service made the request. */
export const isOwnOrigin = (request: Request, { publicUrl }: SettingsShape): boolean => {
  const origin = rawHeader(request, "origin")
  const site = rawHeader(request, "sec-fetch-site")
  const own = Option.fromNullishOr(baseUrl(publicUrl, request)).pipe(
    Option.map((base) => URL.parse(base)?.host),
    Option.getOrUndefined
  )
  const isOwn = origin !== undefined && own !== undefined && URL.parse(origin)?.host === own
  return isOwn && (site === undefined || site === "same-origin")
}

/**
 * True when a request may make changes with this session: it comes from this service and carries the session's token.
 */
export const mayChange = (request: Request, settings: SettingsShape, secret: Redacted.Redacted): boolean =>
  isOwnOrigin(request, settings) && rawHeader(request, "x-csrf-token") === csrfTokenOf(secret)
