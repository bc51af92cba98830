/** `GET /c/{id}`: the share page of a callout. */
import { Clock, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { CalloutStore } from "../../callouts/CalloutStore.ts"
import { isCalloutId } from "../../api/schemas/Callout.ts"
import { baseUrl } from "../middleware/baseUrl.ts"
import { clientAddress, visitorOf } from "../middleware/clientAddress.ts"
import { ClickGate, isVisit } from "./clickGate.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { Settings } from "../Settings.ts"
import { calloutPage, missingPage, type Page, unavailablePage } from "./sharePages.ts"
import { css, cssPath, sign, signPath } from "./shareStyle.ts"

/** Paths that answer GET outside the contract. */
export const pages = ["/c/:id", cssPath, signPath] as const

const RETRY_AFTER = "1"

/**
 * The content security policy: no scripts, frames or requests, and images only from this service and the given origins.
 */
const policyOf = (origins: ReadonlyArray<string>): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${["'self'", ...origins].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** The response of a page without scripts. */
export const respond = (status: number, { origins, text }: Page, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(text, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      ...headers,
      // The counters of a callout change, and so does the state behind a notice.
      "cache-control": "no-cache",
      "content-security-policy": policyOf(origins),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer"
    }
  })

const missing = respond(404, missingPage)
const unavailable = respond(503, unavailablePage, { "retry-after": RETRY_AFTER })

const asset = (path: `/${string}`, text: string, contentType: string) =>
  HttpRouter.add(
    "GET",
    path,
    HttpServerResponse.text(text, {
      contentType,
      headers: { "cache-control": "public, max-age=31536000, immutable" }
    })
  )

const sharePage = Layer.unwrap(
  Effect.gen(function* () {
    const store = yield* CalloutStore
    const { publicUrl, trustedHops } = yield* Settings
    const gate = new ClickGate()

    const counts = (request: HttpServerRequest.HttpServerRequest, id: string, nowMs: number): boolean => {
      const userAgent = rawHeader(request, "user-agent")
      if (!isVisit({ method: request.method, userAgent, purpose: rawHeader(request, "sec-purpose") })) {
        return false
      }
      const peer = Option.getOrNull(request.remoteAddress)
      const address = clientAddress({ peer, forwardedFor: rawHeader(request, "x-forwarded-for"), trustedHops })
      return gate.admit(visitorOf(address), id, nowMs)
    }

    /** Counts a visit. A failure is logged, and the page is answered all the same. */
    const count = (id: string) =>
      Effect.catch(store.recordClick(id), ({ cause }) =>
        Effect.logWarning("The callout store could not count a click", cause)
      )

    const show = Effect.fnUntraced(function* (id: string) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const callout = isCalloutId(id) ? yield* store.find(id) : null
      if (callout === null) {
        return missing
      }
      if (counts(request, id, yield* Clock.currentTimeMillis)) {
        yield* count(id)
      }
      return respond(200, calloutPage(callout, baseUrl(publicUrl, request)))
    })

    const answer = Effect.flatMap(HttpRouter.params, ({ id = "" }) => show(id)).pipe(
      Effect.catchTag("CalloutStoreUnavailable", ({ cause }) =>
        Effect.as(Effect.logError("The callout store is unavailable", cause), unavailable)
      )
    )
    return HttpRouter.add("GET", "/c/:id", answer)
  })
)

/** The share page and its style sheet. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | CalloutStore | Settings> = Layer.mergeAll(
  sharePage,
  asset(cssPath, css, "text/css; charset=utf-8"),
  asset(signPath, sign, "image/svg+xml")
)
