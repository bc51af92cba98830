import type { HttpServerRequest } from "effect/http"
import { rawHeader } from "./rawHeader.ts"

// Only what a host name can be is repeated to the caller.
const HOST = /^[\w.:[\]-]{1,255}$/u

const withoutSlash = (url: string): string => url.replace(/\/+$/u, "")

/** The public URL if it is one: absolute, over HTTP, without query or fragment. */
const configured = (publicUrl: string): string | null => {
  const url = URL.parse(publicUrl)
  const isPlain = url !== null && /^https?:$/u.test(url.protocol) && url.search === "" && url.hash === ""
  return isPlain ? withoutSlash(url.href) : null
}

const asked = (host: string): string | null => (HOST.test(host) ? (URL.parse(`http://${host}`)?.origin ?? null) : null)

/**
 * Where the service is reached, without a trailing slash: what is configured, else what the caller wrote if that can be a
 * host. Null when neither is usable.
 */
export const baseUrl = (publicUrl: string | null, request: HttpServerRequest.HttpServerRequest): string | null =>
  publicUrl === null ? asked(rawHeader(request, "host") ?? "") : configured(publicUrl)
