/**
 * `GET /api/v1/spot/quote` answered straight from the socket, with the same bytes as the default handler.
 *
 * Falls back to the default handler unless a 200 can be produced synchronously: for a request that is not plain, a key that
 * is not cached or may not quote, a trade without a price, a budget without room. Nothing is charged before the fallback.
 */
import { Clock, Effect, Exit, type Fiber, Redacted, Schema } from "effect"
import { FindMyWay } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { KeyStore } from "../access/KeyStore.ts"
import { RateLimiter } from "../access/RateLimiter.ts"
import { QuoteQuery } from "../api/Spot.ts"
import type { ApiKey } from "../domain/ApiKey.ts"
import type { Charge } from "../domain/Budget.ts"
import type { QuoteRequest, SpotQuote } from "../domain/quotes/Quote.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import { routerConfig } from "./middleware/allowedMethods.ts"
import { bearerOf } from "./middleware/bearer.ts"
import { Drain } from "./Drain.ts"
import { openRequest, RequestIds } from "./middleware/RequestContext.ts"
import { type HeaderRecord, writeCommonHeaders } from "./middleware/headers.ts"
import { recordCharge } from "./middleware/meter.ts"
import { quoteRequest } from "./handlers/spotRequests.ts"
import { quoteText } from "./streams/wireQuote.ts"

/** Answers one request. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface PricedRequest {
  readonly charge: Charge
  readonly quote: SpotQuote
}

const PATH = "/api/v1/spot/quote"
const MAX_URL = 8192

// The router of the default handler, because its parser of queries is part of it.
const router = FindMyWay.make<true>(routerConfig)
router.on("GET", PATH, true)

const decodeQuery = Schema.decodeUnknownExit(QuoteQuery, { onExcessProperty: "error" })

const queryOf = (url = ""): unknown => router.find("GET", url)?.searchParams

const isPlain = ({ headers, method, url = "" }: IncomingMessage): boolean =>
  method === "GET" &&
  url.startsWith(`${PATH}?`) &&
  url.length <= MAX_URL &&
  headers["content-length"] === undefined &&
  headers["transfer-encoding"] === undefined

const mayQuote = ({ ipPolicy, scopes }: ApiKey): boolean => ipPolicy === null && scopes.includes("md.read")

const requestOf = (key: ApiKey, query: typeof QuoteQuery.Type): Effect.Effect<QuoteRequest, unknown> =>
  mayQuote(key) ? quoteRequest(query) : Effect.fail("not allowed on the fast path")

/** Wraps the default handler: requests that the fast path can answer do not reach it. */
export const fastQuotePath = Effect.gen(function* () {
  const keys = yield* KeyStore
  const limiter = yield* RateLimiter
  const engine = yield* QuoteEngine
  const { begun } = yield* Drain
  const nextId = yield* RequestIds
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())

  const serve = (secret: Redacted.Redacted, query: typeof QuoteQuery.Type): Effect.Effect<PricedRequest, unknown> =>
    Effect.flatMapEager(keys.authenticate(secret), (key) =>
      Effect.flatMapEager(requestOf(key, query), (request) =>
        Effect.flatMapEager(engine.quote(request), (quote) =>
          Effect.mapEager(limiter.admit({ key: key.id, budget: "quote", cost: 1 }), (charge) => ({ charge, quote }))
        )
      )
    )

  /** Refunds a charge that is made after the fallback. */
  const abandon = (served: Fiber.Fiber<PricedRequest, unknown>): void => {
    served.addObserver((exit) => {
      if (Exit.isSuccess(exit)) {
        run(Effect.ignore(limiter.refund(exit.value.charge)))
      }
    })
  }

  const write = (request: IncomingMessage, response: ServerResponse, { charge, quote }: PricedRequest): void => {
    const sent = request.headers["x-client-request-id"]
    const context = openRequest(nextId(), Array.isArray(sent) ? sent.join(", ") : sent)
    context.keyed = true
    recordCharge(context, charge)
    const text = quoteText(quote)
    const headers: HeaderRecord = {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text))
    }
    writeCommonHeaders(headers, context, clock.currentTimeMillisUnsafe())
    response.writeHead(200, headers)
    response.end(text)
  }

  return (defaultHandler: Handle): Handle =>
    (request, response) => {
      const secret = isPlain(request) && !begun() ? bearerOf(request.headers.authorization) : undefined
      const query = secret === undefined ? undefined : decodeQuery(queryOf(request.url))
      if (secret === undefined || query === undefined || Exit.isFailure(query)) {
        return defaultHandler(request, response)
      }
      const served = run(serve(Redacted.make(secret), query.value))
      const exit = served.pollUnsafe()
      if (exit !== undefined && Exit.isSuccess(exit)) {
        return write(request, response, exit.value)
      }
      abandon(served)
      return defaultHandler(request, response)
    }
})
