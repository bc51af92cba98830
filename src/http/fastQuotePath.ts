/**
 * The happy path of the busiest endpoint, straight from the socket.
 *
 * Whatever could be answered otherwise than with a quote takes the whole road: a request that is not plain, a key that is
 * not known at once or may not do this, a trade without a price, a budget without room. Nothing has been charged by then,
 * so the road begins afresh, judges in its own order and says what is wrong. What the express answers is to the byte what
 * the road would have answered.
 */
import { Clock, Effect, Exit, type Fiber, Redacted, Schema } from "effect"
import { parse } from "node:querystring"
import type { IncomingMessage, ServerResponse } from "node:http"
import { KeyStore } from "../access/KeyStore.ts"
import { RateLimiter } from "../access/RateLimiter.ts"
import { QuoteQuery } from "../api/Spot.ts"
import type { ApiKey } from "../domain/ApiKey.ts"
import type { Charge } from "../domain/Budget.ts"
import type { QuoteRequest, SpotQuote } from "../domain/quotes/Quote.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import { bearerOf } from "./middleware/bearer.ts"
import { Drain } from "./Drain.ts"
import { openRequest, RequestIds } from "./middleware/RequestContext.ts"
import { type HeaderRecord, writeExchange } from "./middleware/headers.ts"
import { recordCharge } from "./middleware/meter.ts"
import { quoteRequest } from "./handlers/spotRequests.ts"
import { quoteText } from "./streams/wireQuote.ts"

/** Answers one request. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Served {
  readonly charge: Charge
  readonly quote: SpotQuote
}

const PATH = "/api/v1/spot/quote?"
const MAX_URL = 8192

const decodeQuery = Schema.decodeUnknownExit(QuoteQuery, { onExcessProperty: "error" })

const isPlain = ({ headers, method, url = "" }: IncomingMessage): boolean =>
  method === "GET" &&
  url.startsWith(PATH) &&
  url.length <= MAX_URL &&
  headers["content-length"] === undefined &&
  headers["transfer-encoding"] === undefined

const mayQuote = ({ ipPolicy, scopes }: ApiKey): boolean => ipPolicy === null && scopes.includes("md.read")

const asked = (key: ApiKey, query: typeof QuoteQuery.Type): Effect.Effect<QuoteRequest, unknown> =>
  mayQuote(key) ? quoteRequest(query) : Effect.fail("not here")

/** Puts the express before the whole road. */
export const expressQuotes = Effect.gen(function* () {
  const keys = yield* KeyStore
  const limiter = yield* RateLimiter
  const engine = yield* QuoteEngine
  const { begun } = yield* Drain
  const nextId = yield* RequestIds
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())

  const serve = (secret: Redacted.Redacted, query: typeof QuoteQuery.Type): Effect.Effect<Served, unknown> =>
    Effect.flatMapEager(keys.authenticate(secret), (key) =>
      Effect.flatMapEager(asked(key, query), (request) =>
        Effect.flatMapEager(engine.quote(request), (quote) =>
          Effect.mapEager(limiter.admit({ key: key.id, budget: "quote", cost: 1 }), (charge) => ({ charge, quote }))
        )
      )
    )

  /** What was charged after the request had taken the road is given back. */
  const letGo = (served: Fiber.Fiber<Served, unknown>): void => {
    served.addObserver((exit) => {
      if (Exit.isSuccess(exit)) {
        run(Effect.ignore(limiter.refund(exit.value.charge)))
      }
    })
  }

  const write = (request: IncomingMessage, response: ServerResponse, { charge, quote }: Served): void => {
    const sent = request.headers["x-client-request-id"]
    const context = openRequest(nextId(), Array.isArray(sent) ? sent.join(", ") : sent)
    context.keyed = true
    recordCharge(context, charge)
    const text = quoteText(quote)
    const headers: HeaderRecord = {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text))
    }
    writeExchange(headers, context, clock.currentTimeMillisUnsafe())
    response.writeHead(200, headers)
    response.end(text)
  }

  return (road: Handle): Handle =>
    (request, response) => {
      const secret = isPlain(request) && !begun() ? bearerOf(request.headers.authorization) : undefined
      const query = secret === undefined ? undefined : decodeQuery(parse((request.url ?? "").slice(PATH.length)))
      if (secret === undefined || query === undefined || Exit.isFailure(query)) {
        return road(request, response)
      }
      const served = run(serve(Redacted.make(secret), query.value))
      const exit = served.pollUnsafe()
      if (exit !== undefined && Exit.isSuccess(exit)) {
        return write(request, response, exit.value)
      }
      letGo(served)
      return road(request, response)
    }
})
