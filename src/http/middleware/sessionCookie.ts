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
const PENDING_NAME = "fathom_sign_in"

const readerOf = (name: string): RegExp => new RegExp(`(?:^|;)\\s*${name}=(?<secret>[0-9A-Za-z]{43})\\s*(?:;|$)`, "u")

/** A cookie by its name over plain HTTP and over TLS. */
interface CookieName {
  readonly plain: string
  readonly secure: string
  readonly inPlain: RegExp
  readonly inSecure: RegExp
}

const cookieName = (plain: string, prefix: string): CookieName => ({
  plain,
  secure: prefix + plain,
  inPlain: readerOf(plain),
  inSecure: readerOf(prefix + plain)
})

/** Browsers take a cookie with this prefix only from this host, over TLS and for every path. */
const session = cookieName(NAME, "__Host-")
/** This one has a path, so it can only be bound to TLS. */
const pending = cookieName(PENDING_NAME, "__Secure-")

/** True when the browser reached the service through TLS, according to the public URL or a trusted proxy. */
const isSecure = (request: Request, { publicUrl, trustedHops }: SettingsShape): boolean =>
  publicUrl === null
    ? trustedHops > 0 && rawHeader(request, "x-forwarded-proto")?.split(",").at(-1)?.trim() === "https"
    : publicUrl.startsWith("https:")

const secretIn = (request: Request, settings: SettingsShape, name: CookieName): Redacted.Redacted | null => {
  const header = rawHeader(request, "cookie")
  if (header === undefined) {
    return null
  }
  const cookie = isSecure(request, settings) ? name.inSecure : name.inPlain
  const secret = cookie.exec(header)?.groups?.["secret"]
  return secret === undefined ? null : Redacted.make(secret)
}

/** The secret in the cookie; null without one. Over TLS only the cookie that another host cannot plant counts. */
export const sessionSecret = (request: Request, settings: SettingsShape): Redacted.Redacted | null =>
  secretIn(request, settings, session)

/** The reference of the session that a request was admitted with; null for a key. */
export const admittedSession = (request: Request, settings: SettingsShape, key: Pick<ApiKey, "id">): string | null => {
  const secret = isSession(key) ? sessionSecret(request, settings) : null
  return secret === null ? null : sessionReference(secret)
}

/** A cookie that scripts cannot read and that other sites' requests do not carry, except links. */
const cookieOf = (
  request: Request,
  settings: SettingsShape,
  name: CookieName,
  { path, seconds, value }: { readonly value: string; readonly path: string; readonly seconds: number }
): string => {
  const rest = `${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
  return isSecure(request, settings) ? `${name.secure}=${rest}; Secure` : `${name.plain}=${rest}`
}

/** The `Set-Cookie` header of a session. A null secret removes the cookie. */
export const sessionCookie = (
  request: Request,
  settings: SettingsShape,
  opened: { readonly secret: Redacted.Redacted; readonly lifetimeSeconds: number } | null
): string =>
  cookieOf(request, settings, session, {
    value: opened === null ? "" : Redacted.value(opened.secret),
    path: "/",
    seconds: opened === null ? 0 : opened.lifetimeSeconds
  })

/** The secret of this browser's pending sign-in at a provider; null without one. */
export const pendingSecret = (request: Request, settings: SettingsShape): Redacted.Redacted | null =>
  secretIn(request, settings, pending)

/** The `Set-Cookie` header of a pending sign-in. The browser sends it back only below the path of the sign-in. */
export const pendingCookie = (
  request: Request,
  settings: SettingsShape,
  path: string,
  secret: Redacted.Redacted
): string =>
  cookieOf(request, settings, pending, { value: Redacted.value(secret), path, seconds: PENDING_MINUTES * 60 })

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
