/**
 * Answers reads of the contract that need nothing but memory straight from the socket, with the same bytes as the default
 * handler. Everything about an endpoint comes from its description: path, scope, price, the schemas of path and query, and
 * the schema of the answer. An endpoint takes part when it is annotated with `FromMemory`. Only quotes have a `Shortcut`
 * in place of schemas and handler.
 *
 * Falls back to the default handler unless a 200, or the 429 of an empty budget, can be produced synchronously. It
 * falls back for a request that is not plain, a key that is not cached or may not ask, a path or query that its schema
 * rejects, a handler that fails or waits, budgets shared by processes, and while requests are traced. Nothing is charged
 * before the fallback, and no query is decoded for a 429. A handler that fails or waits is run again by the default handler.
 */
import { Clock, Context, Effect, Exit, type Fiber, Layer, Redacted, Schema, Tracer } from "effect"
import { FindMyWay, type HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import type { IncomingMessage, ServerResponse } from "node:http"
import { KeyStore } from "../../access/KeyStore.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import { Authorization, CurrentKey } from "../../api/middleware/Authorization.ts"
import { FromMemory, Meter } from "../../api/middleware/Metering.ts"
import type { ApiKey } from "../../api/schemas/ApiKey.ts"
import { type BudgetName, type BudgetState, budgets } from "../../api/schemas/Budget.ts"
import { Requester } from "../../quotes/pools/Requester.ts"
import { termsOf } from "../middleware/Authorization.ts"
import { secretIn } from "../middleware/bearer.ts"
import { Drain } from "../Drain.ts"
import { chosenEncoding, compressed, MOST_PLAIN_BYTES, varyByEncoding } from "../middleware/contentEncoding.ts"
import { clientAddress } from "../middleware/clientAddress.ts"
import { envelope } from "../middleware/envelope.ts"
import { keepContext, openRequest, RequestContext } from "../middleware/RequestContext.ts"
import { type HeaderRecord, writeCommonHeaders, writeProblem } from "../middleware/headers.ts"
import { rateLimited, recordCharge, recordRejection } from "../middleware/meter.ts"
import { MAX_URL } from "../middleware/RequestLifecycle.ts"
import { routerConfig } from "../middleware/routes.ts"
import { Settings } from "../Settings.ts"

/** Answers one request. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** A handler of the contract. It fails, waits or returns the answer, or the response that has it. */
type Handler = (input: object) => Effect.Effect<unknown, unknown>

/** Handlers of the contract by operation. They are set once the routes are built. */
export class Handlers extends Context.Service<Handlers, { byOperation: ReadonlyMap<string, Handler> }>()(
  "fathom/http/server/fastPath/Handlers"
) {
  static readonly layer = Layer.sync(Handlers, () => ({ byOperation: new Map() }))
}

/** What the library keeps of a group. */
interface BuiltGroup {
  readonly handlers: ReadonlyMap<string, { readonly handler: Handler }>
}

/** Notes the handlers of a contract. It needs the layers of its groups. */
export const noteHandlers = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Layer.Layer<never, never, HttpApiGroup.ToService<Id, Groups> | Handlers> =>
  Layer.effectDiscard(
    Effect.contextWith((context: Context.Context<HttpApiGroup.ToService<Id, Groups> | Handlers>) =>
      Effect.sync(() => {
        const groups: ReadonlyArray<HttpApiGroup.Top> = Object.values(api.groups)
        Context.get(context, Handlers).byOperation = new Map(
          groups.flatMap(({ identifier: group, key }) => {
            const built = context.mapUnsafe.get(key) as BuiltGroup
            return Array.from(built.handlers, ([name, { handler }]) => [`${group}.${name}`, handler] as const)
          })
        )
      })
    )
  )

type Read = (input: unknown) => Exit.Exit<unknown, unknown>

/** How one endpoint is answered. */
interface Plan {
  readonly terms: ReturnType<typeof termsOf>
  readonly params: Read | null
  readonly query: Read | null
  readonly handler: Handler
  readonly encode: Read
  /** The keys whose last read had to wait. They are left to the default handler until then, by the monotonic clock. */
  readonly resting: Map<string, number>
}

/** Reads and answers the plain requests of one endpoint by hand, because they are the most frequent. */
export interface Shortcut {
  readonly operation: string
  /** The path with its `?`. */
  readonly path: string
  /** Starts to answer a query (without `?`); undefined for a query that the schemas have to decide about. */
  readonly begin: (query: string) => Effect.Effect<unknown, unknown> | undefined
  /** The JSON of what `begin` returned. */
  readonly text: (value: never) => string
}

/** A request that may be answered: how it is begun, and the answer made of the result. Both are undefined where they cannot. */
interface Asked {
  readonly plan: Plan
  readonly begin: () => Effect.Effect<unknown, unknown> | undefined
  readonly finish: (value: unknown) => Answer | undefined
}

/** How long a key's reads of an endpoint are left to the default handler after one had to wait, for instance for a store. */
const REST_MS = 1000
/** Keys that rest at one endpoint. Beyond that, all are tried again. */
const MOST_RESTING = 1000

const reader = (schema: Schema.Top | undefined, options: object | undefined): Read | null =>
  schema === undefined ? null : Schema.decodeUnknownExit(schema as Schema.Codec<unknown, unknown>, options)

const planOf = (
  endpoint: HttpApiEndpoint.Top,
  group: string,
  annotations: Context.Context<never>,
  handlers: ReadonlyMap<string, Handler>
): Plan | null => {
  const terms = termsOf(endpoint, group)
  const handler = handlers.get(terms.operation)
  const [answer] = endpoint.success
  if (!Context.get(endpoint.annotations, FromMemory) || handler === undefined || answer === undefined) {
    return null
  }
  const query = endpoint.query && Schema.toCodecArrayFromSingle(endpoint.query)
  return {
    terms,
    params: reader(endpoint.params, undefined),
    query: reader(query, Context.getOrUndefined(annotations, HttpApi.QueryParseOptions)),
    handler,
    encode: Schema.encodeUnknownExit(answer as Schema.Codec<unknown, unknown>),
    resting: new Map()
  }
}

/** The plans of the contract by path. The other reads are there too, because a path of theirs may be the better match. */
const plansOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  handlers: ReadonlyMap<string, Handler>
) => {
  const table = FindMyWay.make<Plan | null>(routerConfig)
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, mergedAnnotations, middleware }) => {
      if (endpoint.method === "GET") {
        const isKeyed = Array.from(middleware).some(({ key }) => key === Authorization.key)
        const plan = isKeyed ? planOf(endpoint, group.identifier, mergedAnnotations, handlers) : null
        table.on("GET", endpoint.path as Exclude<HttpRouter.PathInput, "*">, plan)
      }
    }
  })
  return table
}

/** A body with its headers. */
interface Answer {
  readonly headers: HeaderRecord
  readonly body: string | Uint8Array
  readonly bytes: number
}

const inJson = (body: string): Answer => ({
  headers: { "content-type": "application/json" },
  body,
  bytes: Buffer.byteLength(body)
})

const answerOf = (value: unknown, { encode }: Plan): Answer | undefined => {
  if (HttpServerResponse.isHttpServerResponse(value)) {
    const { body, headers, status } = value
    return status === 200 && body._tag === "Uint8Array"
      ? { headers: { "content-type": body.contentType, ...headers }, body: body.body, bytes: body.body.length }
      : undefined
  }
  const encoded = encode(value)
  return Exit.isSuccess(encoded) ? inJson(JSON.stringify(encoded.value)) : undefined
}

const isPlain = ({ headers, method, url = "" }: IncomingMessage): boolean =>
  method === "GET" &&
  url.length <= MAX_URL &&
  headers["content-length"] === undefined &&
  headers["transfer-encoding"] === undefined

const mayAsk = ({ ipPolicy, scopes }: ApiKey, { accepted, isSessionOnly }: Plan["terms"]): boolean =>
  ipPolicy === null && !isSessionOnly && (accepted.length === 0 || accepted.some((scope) => scopes.includes(scope)))

/** The 429 of the plan `default`, made once. */
const outOfBudget = {
  quote: rateLimited("quote", budgets.quote),
  rest: rateLimited("rest", budgets.rest)
} satisfies Record<BudgetName, unknown>

const notPlain = Effect.die("the price of a plain request does not change")

/** The meter while a request is tried: a handler that changes its price is left to the default handler. */
const plainMeter: Meter["Service"] = { charge: null, raiseTo: () => notPlain, lowerTo: () => notPlain }

const valueOf = <A>(effect: Effect.Effect<A, unknown>): A | undefined =>
  Exit.isExit(effect) && Exit.isSuccess(effect) ? (effect.value as A) : undefined

/** Finds what a URL asks for. */
const finder = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  handlers: ReadonlyMap<string, Handler>,
  { begin, operation, path, text }: Shortcut
): ((url: string) => Asked | undefined) => {
  const plans = plansOf(api, handlers)
  const byShortcut = plans.find("GET", path)?.handler ?? null
  if (byShortcut?.terms.operation !== operation) {
    throw new Error(`${operation} is not at ${path}`)
  }
  return (url) => {
    if (url.startsWith(path)) {
      return {
        plan: byShortcut,
        begin: () => begin(url.slice(path.length)),
        finish: (value) => inJson(text(value as never))
      }
    }
    const found = plans.find("GET", url)
    const plan = found?.handler ?? null
    if (found === undefined || plan === null) {
      return undefined
    }
    return {
      plan,
      begin: () => {
        const params = plan.params?.(found.params) ?? Exit.void
        const query = plan.query?.(found.searchParams) ?? Exit.void
        return Exit.isSuccess(params) && Exit.isSuccess(query)
          ? plan.handler({ params: params.value, query: query.value })
          : undefined
      },
      finish: (value) => answerOf(value, plan)
    }
  }
}

const send = (response: ServerResponse, headers: HeaderRecord, body: string | Uint8Array, bytes: number): void => {
  headers["content-length"] = String(bytes)
  response.writeHead(200, headers)
  if (typeof body === "string") {
    response.end(body, bytes === body.length ? "latin1" : "utf8")
  } else {
    // Node sends head and body at once when the body is text. Latin-1 keeps every byte.
    response.end(Buffer.from(body.buffer, body.byteOffset, bytes).toString("latin1"), "latin1")
  }
}

/** Writes the answers of decided requests. */
const makeAnswers = Effect.gen(function* () {
  const usage = yield* UsageStore
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())

  const reject = (
    request: IncomingMessage,
    response: ServerResponse,
    { key, operation, state }: { readonly key: ApiKey; readonly operation: string; readonly state: BudgetState }
  ): void => {
    const context = keyedContext(request, key)
    keepContext(request, context)
    recordRejection(context, state)
    const { budget } = state
    const { limit, windowMs } = budgets[budget]
    const problem =
      state.limit === limit && state.windowMs === windowMs ? outOfBudget[budget] : rateLimited(budget, state)
    const text = envelope(problem, context.id)
    const headers: HeaderRecord = { "content-type": "application/json", "content-length": String(text.length) }
    const nowMs = clock.currentTimeMillisUnsafe()
    writeCommonHeaders(headers, context, nowMs)
    writeProblem(headers, problem, context, nowMs)
    response.writeHead(429, headers)
    response.end(text)
    usage.request({ caller: key, operation, units: 0, isError: true, bytes: text.length })
  }

  /** Writes an answer. `count` takes the bytes of the body as sent. */
  const write = (
    request: IncomingMessage,
    response: ServerResponse,
    { body, bytes, headers }: Answer,
    count: (bytes: number) => void
  ): void => {
    if (bytes <= MOST_PLAIN_BYTES) {
      send(response, headers, body, bytes)
      return count(bytes)
    }
    headers["vary"] = varyByEncoding(headers["vary"])
    const accepted = request.headers["accept-encoding"]
    const encoding = chosenEncoding(Array.isArray(accepted) ? accepted.join(", ") : accepted)
    if (encoding === undefined) {
      send(response, headers, body, bytes)
      return count(bytes)
    }
    run(
      Effect.map(compressed(body, encoding), (shorter) => {
        if (shorter !== null) {
          headers["content-encoding"] = encoding
        }
        send(response, headers, shorter ?? body, shorter?.length ?? bytes)
        count(shorter?.length ?? bytes)
      })
    )
  }

  return { reject, write }
})

const keyedContext = (request: IncomingMessage, key: ApiKey): RequestContext => {
  const sent = request.headers["x-client-request-id"]
  const context = openRequest(crypto.randomUUID(), Array.isArray(sent) ? sent.join(", ") : sent)
  context.keyed = true
  context.caller = key
  return context
}

/** Wraps the default handler: requests that the fast path can answer do not reach it. */
export const fastPath = Effect.fnUntraced(function* <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  shortcut: Shortcut
) {
  const keys = yield* KeyStore
  const limiter = yield* RateLimiter
  const usage = yield* UsageStore
  const clock = yield* Clock.Clock
  const { begun } = yield* Drain
  const { trustedHops } = yield* Settings
  const { byOperation } = yield* Handlers
  const find = finder(api, byOperation, shortcut)
  const { reject, write } = yield* makeAnswers
  const services: Context.Context<never> = yield* Effect.context()
  const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer

  /** Records the address of an admitted caller. */
  const noteAddress = ({ headers, socket }: IncomingMessage, key: ApiKey): void => {
    const sent = headers["x-forwarded-for"]
    const forwardedFor = Array.isArray(sent) ? sent.join(", ") : sent
    const address = clientAddress({ peer: socket.remoteAddress ?? null, forwardedFor, trustedHops })
    if (address !== null) {
      keys.usedFrom(key, address)
    }
  }

  /** Runs a handler as far as it comes. Undefined when it fails or has to wait. */
  const tried = ({ begin, finish, plan }: Asked, key: ApiKey, context: RequestContext): Answer | undefined => {
    const begun = begin()
    if (begun === undefined) {
      return undefined
    }
    const keyed = Context.add(Context.add(services, CurrentKey, key), Meter, plainMeter)
    const own = Context.add(Context.add(keyed, Requester, key.id), RequestContext, context)
    const fiber: Fiber.Fiber<unknown, unknown> = Effect.runForkWith(own)(begun)
    const exit = fiber.pollUnsafe()
    if (exit === undefined) {
      fiber.interruptUnsafe()
      if (plan.resting.size >= MOST_RESTING) {
        plan.resting.clear()
      }
      plan.resting.set(key.id, monotonicMs(clock) + REST_MS)
      return undefined
    }
    return Exit.isSuccess(exit) ? finish(exit.value) : undefined
  }

  /** Answers a request. False when the default handler has to. */
  const answered = (request: IncomingMessage, response: ServerResponse): boolean => {
    const secret = secretIn(request.headers)
    const asked = secret === undefined ? undefined : find(request.url ?? "")
    if (asked === undefined || secret === undefined) {
      return false
    }
    const { resting, terms } = asked.plan
    const { budget, cost, operation } = terms
    const key = valueOf(keys.authenticate(Redacted.make(secret), clock))
    if (key === undefined || budget === null || !mayAsk(key, terms)) {
      return false
    }
    const state = valueOf(limiter.peek(key, budget, clock))
    if (state !== undefined && state.remaining < cost && cost === 1) {
      noteAddress(request, key)
      reject(request, response, { key, operation, state })
      return true
    }
    if (state === undefined || state.remaining < cost || (resting.get(key.id) ?? 0) > monotonicMs(clock)) {
      return false
    }
    const context = keyedContext(request, key)
    const answer = tried(asked, key, context)
    const charge = answer && valueOf(limiter.admit({ key, budget, cost }, clock))
    if (charge === undefined || answer === undefined) {
      return false
    }
    keepContext(request, context)
    noteAddress(request, key)
    recordCharge(context, charge)
    writeCommonHeaders(answer.headers, context, clock.currentTimeMillisUnsafe())
    write(request, response, answer, (bytes) =>
      usage.request({ caller: key, operation, units: charge.cost, isError: false, bytes })
    )
    return true
  }

  const run = Effect.runForkWith(services)

  /** Answers a request. A defect of ours leaves it to the default handler, which has an answer for that too. */
  const safely: typeof answered = (request, response) => {
    try {
      return answered(request, response)
    } catch (defect) {
      run(Effect.logError("The fast path failed", defect))
      if (!response.headersSent) {
        return false
      }
      response.destroy()
      return true
    }
  }

  return (defaultHandler: Handle): Handle =>
    limiter.isImmediate && !isTraced
      ? (request, response) => {
          if (!isPlain(request) || begun() || !safely(request, response)) {
            defaultHandler(request, response)
          }
        }
      : defaultHandler
})
