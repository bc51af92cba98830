import type { HttpServerRequest } from "effect/http"
import { rawHeader } from "./rawHeader.ts"

// Host names and addresses with an optional port. Anything else is not echoed.
const HOST = /^[\w.:[\]-]{1,255}$/u

const withoutSlash = (url: string): string => url.replace(/\/+$/u, "")

/** The public URL if it is an absolute HTTP URL without query and fragment; otherwise null. */
const configured = (publicUrl: string): string | null => {
  const url = URL.parse(publicUrl)
  const isPlain = url !== null && /^https?:$/u.test(url.protocol) && url.search === "" && url.hash === ""
  return isPlain ? withoutSlash(url.href) : null
}

const originOf = (host: string): string | null =>
  HOST.test(host) ? (URL.parse(`http://${host}`)?.origin ?? null) : null

/**
 * Base URL of the service without a trailing slash: the configured one, otherwise from the Host header. Null when
 * neither is usable.
 */
export const baseUrl = (publicUrl: string | null, request: HttpServerRequest.HttpServerRequest): string | null =>
  publicUrl === null ? originOf(rawHeader(request, "host") ?? "") : configured(publicUrl)
