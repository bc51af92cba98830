/** Compresses a response, or answers 304 when the caller has it already. */
import { Effect } from "effect"
import { Headers, HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import {
  chosenEncoding,
  compressed,
  type Encoding,
  isCompressible,
  MOST_PLAIN_BYTES,
  varyByEncoding
} from "./contentEncoding.ts"
import { rawHeader } from "./rawHeader.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** A copy of the response. The library's constructors would copy and normalise each header again. */
export const withChanges = (
  response: Response,
  changes: { readonly headers: Record<string, string>; readonly body?: HttpBody.HttpBody }
): Response => {
  const copy: Response = Object.create(Object.getPrototypeOf(response))
  return Object.assign(copy, response, changes)
}

/** Tags and compressed forms of bodies that are sent again and again. */
const tags = new WeakMap<HttpBody.HttpBody, string>()
const forms = new WeakMap<HttpBody.HttpBody, Map<Encoding, Uint8Array | null>>()

/** A weak entity tag, because the compressed forms share it. */
const tagOf = (body: HttpBody.Uint8Array): string => {
  const tag = tags.get(body) ?? `W/"${createHash("sha256").update(body.body).digest("base64url").slice(0, 22)}"`
  tags.set(body, tag)
  return tag
}

const bare = (tag: string): string => tag.trim().replace(/^W\//u, "")

/** True when `If-None-Match` names the tag, by weak comparison. */
const isKnown = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch?.split(",").some((known) => known.trim() === "*" || bare(known) === bare(tag)) === true

/** Compressed bytes of the body. For a tagged response they are kept as long as its body. */
const bytesOf = (
  body: HttpBody.Uint8Array,
  encoding: Encoding,
  isTagged: boolean
): Effect.Effect<Uint8Array | null> => {
  const kept = isTagged ? (forms.get(body) ?? new Map<Encoding, Uint8Array | null>()) : undefined
  const known = kept?.get(encoding)
  return known !== undefined
    ? Effect.succeed(known)
    : Effect.map(compressed(body.body, encoding), (bytes) => {
        if (kept !== undefined) {
          forms.set(body, kept.set(encoding, bytes))
        }
        return bytes
      })
}

const contentTypeOf = ({ body, headers }: Response): string | undefined =>
  headers["content-type"] ?? (body._tag === "Uint8Array" ? body.contentType : undefined)

/**
 * The response with `ETag` and `Cache-Control` (`no-cache` unless it has one); 304 when the caller has this version.
 */
export const validated = (request: Request, response: Response): Response => {
  const { body } = response
  if (response.status !== 200 || body._tag !== "Uint8Array") {
    return response
  }
  const etag = tagOf(body)
  const headers: Record<string, string> = { "cache-control": "no-cache", ...response.headers, etag }
  if (!isKnown(rawHeader(request, "if-none-match"), etag)) {
    return withChanges(response, { headers })
  }
  if (isCompressible(contentTypeOf(response))) {
    headers["vary"] = varyByEncoding(headers["vary"])
  }
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith("content-"))
  return HttpServerResponse.empty({ status: 304, headers: Headers.fromInput(kept) })
}

/**
 * The response in an encoding that the request accepts. Only bodies in memory of more than MOST_PLAIN_BYTES are
 * compressed, so streams never are.
 */
export const encoded = (request: Request, response: Response): Effect.Effect<Response> => {
  const { body } = response
  if (
    body._tag !== "Uint8Array" ||
    body.contentLength <= MOST_PLAIN_BYTES ||
    !isCompressible(contentTypeOf(response))
  ) {
    return Effect.succeed(response)
  }
  const headers: Record<string, string> = { ...response.headers, vary: varyByEncoding(response.headers["vary"]) }
  const encoding = request.method === "HEAD" ? undefined : chosenEncoding(rawHeader(request, "accept-encoding"))
  const plain = withChanges(response, { headers })
  if (encoding === undefined) {
    return Effect.succeed(plain)
  }
  return Effect.map(bytesOf(body, encoding, headers["etag"] !== undefined), (bytes) =>
    bytes === null
      ? plain
      : withChanges(response, {
          headers: { ...headers, "content-encoding": encoding, "content-length": String(bytes.length) },
          body: HttpBody.uint8Array(bytes, body.contentType)
        })
  )
}
