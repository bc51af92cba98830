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
const forms = new WeakMap<HttpBody.HttpBody, Map<Encoding, Form>>()

/** A compressed form: its bytes, null when the body is sent as it is, or the work that makes it. */
type Form = Uint8Array | null | Promise<Uint8Array | null>

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

/** Starts to make a form, and keeps it. Requests that come meanwhile wait for the same work. */
const startForm = (kept: Map<Encoding, Form>, bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array | null> => {
  const pending = Effect.runPromise(compressed(bytes, encoding)).then((form) => {
    kept.set(encoding, form)
    return form
  })
  kept.set(encoding, pending)
  return pending
}

/** The form of a tagged body. It is made once and kept as long as the body. */
const formOf = (body: HttpBody.Uint8Array, encoding: Encoding): Effect.Effect<Uint8Array | null> => {
  const kept = forms.get(body) ?? new Map<Encoding, Form>()
  forms.set(body, kept)
  const form = kept.has(encoding) ? (kept.get(encoding) ?? null) : startForm(kept, body.body, encoding)
  return form instanceof Promise ? Effect.promise(() => form) : Effect.succeed(form)
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
  const isTagged = headers["etag"] !== undefined
  return Effect.map(isTagged ? formOf(body, encoding) : compressed(body.body, encoding), (bytes) =>
    bytes === null
      ? plain
      : withChanges(response, {
          headers: { ...headers, "content-encoding": encoding, "content-length": String(bytes.length) },
          body: HttpBody.uint8Array(bytes, body.contentType)
        })
  )
}
