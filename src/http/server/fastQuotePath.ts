/**
 * Answers `GET /api/v1/spot/quote` straight from the socket, with the same bytes as the default handler.
 *
 * Falls back to the default handler unless a 200, or the 429 of an empty budget, can be produced synchronously. It
 * falls back for a request that is not plain, a key that is not cached or may not quote, a trade without a price, and
 * budgets shared by processes. Nothing is charged before the fallback, and no query is read for a 429.
 */
import { Clock, Effect, Exit, type Fiber, Redacted } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { KeyStore } from "../../access/KeyStore.ts"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import type { ApiKey } from "../../api/schemas/ApiKey.ts"
import { type BudgetState, budgets, type Charge } from "../../api/schemas/Budget.ts"
import type { QuoteRequest, SpotQuote } from "../../api/schemas/Quote.ts"
import { Requester } from "../../quotes/pools/Requester.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { secretIn } from "../middleware/bearer.ts"
import { Drain } from "../Drain.ts"
import { chosenEncoding, compressed, MOST_PLAIN_BYTES, varyByEncoding } from "../middleware/contentEncoding.ts"
import { clientAddress } from "../middleware/clientAddress.ts"
import { envelope } from "../middleware/envelope.ts"
import { keepContext, openRequest, type RequestContext } from "../middleware/RequestContext.ts"
import { type HeaderRecord, writeCommonHeaders, writeProblem } from "../middleware/headers.ts"
import { rateLimited, recordCharge, recordRejection } from "../middleware/meter.ts"
import { MAX_URL } from "../middleware/RequestLifecycle.ts"
import { plainQuoteQuery } from "./plainQuoteQuery.ts"
import { Settings } from "../Settings.ts"
import { quoteText } from "../streams/wireQuote.ts"

/** Answers one request. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface PricedRequest {
  readonly _tag: "Priced"
  readonly key: ApiKey
  readonly charge: Charge
  readonly quote: SpotQuote
}

/** The budget has no room for a quote. */
interface RejectedRequest {
  readonly _tag: "Rejected"
  readonly key: ApiKey
  readonly state: BudgetState
}

type ServedRequest = PricedRequest | RejectedRequest

/** A body to compress, with the headers of the plain one. */
interface LongAnswer {
  readonly headers: HeaderRecord
  readonly text: string
  /** Takes the bytes of the body as sent. */
  readonly count: (bytes: number) => void
}

const PATH = "/api/v1/spot/quote?"
const OPERATION = "spot.quote"

const isPlain = ({ headers, method, url = "" }: IncomingMessage): boolean =>
  method === "GET" &&
  url.startsWith(PATH) &&
  url.length <= MAX_URL &&
  headers["content-length"] === undefined &&
  headers["transfer-encoding"] === undefined

const mayQuote = ({ ipPolicy, scopes }: ApiKey): boolean => ipPolicy === null && scopes.includes("md.read")

/** The 429 of the plan `default`, made once. */
const OUT_OF_BUDGET = rateLimited("quote", budgets.quote)

const notAllowed: Effect.Effect<never, unknown> = Exit.fail("not allowed on the fast path")
const notPlain: Effect.Effect<never, unknown> = Exit.fail("a query that is not plain")

/** Decides about a request by its key and query: priced and charged, rejected, or failed where the fast path does not apply. */
const makeDecision = Effect.gen(function* () {
  const keys = yield* KeyStore
  const limiter = yield* RateLimiter
  const engine = yield* QuoteEngine

  const price = (key: ApiKey, request: QuoteRequest): Effect.Effect<ServedRequest, unknown> =>
    Effect.flatMapEager(Effect.provideService(engine.quote(request), Requester, key.id), (quote) =>
      Effect.mapEager(limiter.admit({ key, budget: "quote", cost: 1 }), (charge) => ({
        _tag: "Priced",
        key,
        charge,
        quote
      }))
    )

  return (secret: Redacted.Redacted, url: string): Effect.Effect<ServedRequest, unknown> =>
    Effect.flatMapEager(keys.authenticate(secret), (key) =>
      Effect.flatMapEager(
        mayQuote(key) ? limiter.peek(key, "quote") : notAllowed,
        (state): Effect.Effect<ServedRequest, unknown> => {
          if (state.remaining < 1) {
            return Effect.succeed({ _tag: "Rejected", key, state })
          }
          const request = plainQuoteQuery(url.slice(PATH.length))
          return request === undefined ? notPlain : price(key, request)
        }
      )
    )
})

const open = (request: IncomingMessage, key: ApiKey): RequestContext => {
  const sent = request.headers["x-client-request-id"]
  const context = openRequest(crypto.randomUUID(), Array.isArray(sent) ? sent.join(", ") : sent)
  context.keyed = true
  context.caller = key
  keepContext(request, context)
  return context
}

/** Writes the answers of decided requests. */
const makeAnswers = Effect.gen(function* () {
  const usage = yield* UsageStore
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())

  /** Writes a text that is long enough to compress. */
  const writeLong = (
    request: IncomingMessage,
    response: ServerResponse,
    { count, headers, text }: LongAnswer
  ): void => {
    headers["vary"] = varyByEncoding(undefined)
    const accepted = request.headers["accept-encoding"]
    const encoding = chosenEncoding(Array.isArray(accepted) ? accepted.join(", ") : accepted)
    const bytes = encoding === undefined ? Effect.succeed(null) : compressed(text, encoding)
    run(
      Effect.map(bytes, (shorter) => {
        const changes = shorter && { "content-encoding": encoding, "content-length": String(shorter.length) }
        response.writeHead(200, { ...headers, ...changes })
        response.end(shorter ?? text)
        count(shorter?.length ?? Buffer.byteLength(text))
      })
    )
  }

  const reject = (request: IncomingMessage, response: ServerResponse, { key, state }: RejectedRequest): void => {
    const context = open(request, key)
    recordRejection(context, state)
    const { limit, windowMs } = budgets.quote
    const problem = state.limit === limit && state.windowMs === windowMs ? OUT_OF_BUDGET : rateLimited("quote", state)
    const text = envelope(problem, context.id)
    const headers: HeaderRecord = { "content-type": "application/json", "content-length": String(text.length) }
    const nowMs = clock.currentTimeMillisUnsafe()
    writeCommonHeaders(headers, context, nowMs)
    writeProblem(headers, problem, context, nowMs)
    response.writeHead(429, headers)
    response.end(text)
    usage.request({ caller: key, operation: OPERATION, units: 0, isError: true, bytes: text.length })
  }

  const write = (request: IncomingMessage, response: ServerResponse, { charge, key, quote }: PricedRequest): void => {
    const context = open(request, key)
    recordCharge(context, charge)
    const text = quoteText(quote)
    const length = Buffer.byteLength(text)
    const headers: HeaderRecord = { "content-type": "application/json", "content-length": String(length) }
    const count = (bytes: number) =>
      usage.request({ caller: key, operation: OPERATION, units: charge.cost, isError: false, bytes })
    writeCommonHeaders(headers, context, clock.currentTimeMillisUnsafe())
    if (text.length > MOST_PLAIN_BYTES) {
      return writeLong(request, response, { headers, text, count })
    }
    response.writeHead(200, headers)
    response.end(text, length === text.length ? "latin1" : "utf8")
    count(length)
  }

  return { reject, write }
})

/** Wraps the default handler: requests that the fast path can answer do not reach it. */
export const fastQuotePath = Effect.gen(function* () {
  const keys = yield* KeyStore
  const limiter = yield* RateLimiter
  const { begun } = yield* Drain
  const { trustedHops } = yield* Settings
  const decide = yield* makeDecision
  const { reject, write } = yield* makeAnswers
  const run = Effect.runForkWith(yield* Effect.context())

  /** Refunds a charge that is made after the fallback. */
  const abandon = (served: Fiber.Fiber<ServedRequest, unknown>): void => {
    served.addObserver((exit) => {
      if (Exit.isSuccess(exit) && exit.value._tag === "Priced") {
        run(Effect.ignore(limiter.refund(exit.value.charge)))
      }
    })
  }

  /** Records the address of an admitted caller. */
  const noteAddress = ({ headers, socket }: IncomingMessage, key: ApiKey): void => {
    const sent = headers["x-forwarded-for"]
    const forwardedFor = Array.isArray(sent) ? sent.join(", ") : sent
    const address = clientAddress({ peer: socket.remoteAddress ?? null, forwardedFor, trustedHops })
    if (address !== null) {
      keys.usedFrom(key, address)
    }
  }

  return (defaultHandler: Handle): Handle =>
    (request, response) => {
      const secret = limiter.isImmediate && isPlain(request) && !begun() ? secretIn(request.headers) : undefined
      if (secret === undefined) {
        return defaultHandler(request, response)
      }
      const served = run(decide(Redacted.make(secret), request.url ?? ""))
      const exit = served.pollUnsafe()
      if (exit !== undefined && Exit.isSuccess(exit)) {
        const { value } = exit
        noteAddress(request, value.key)
        return value._tag === "Priced" ? write(request, response, value) : reject(request, response, value)
      }
      abandon(served)
      return defaultHandler(request, response)
    }
})
