import { Context, type Effect, type Fiber } from "effect"
import type { Problem } from "../../api/errors/Problem.ts"
import type { BudgetName, Charge } from "../../api/schemas/Budget.ts"
import type { UsageCaller } from "../../api/schemas/Usage.ts"
import type { JsonDocument } from "./strictJson.ts"

/** Values of the rate-limit headers of one response. */
export interface MeterReading {
  readonly budget: BudgetName
  readonly limit: number
  readonly windowMs: number
  readonly remaining: number
  /**
   * When the oldest counted unit leaves the window; after a rejection, when the request may fit. Milliseconds since the
   * Unix epoch.
   */
  readonly resetAtMs: number
  /** Units this request has been charged. */
  readonly cost: number
  /** True when this request was rejected by a limit. */
  readonly refused: boolean
}

/** State of one request. It is mutable, because one fiber writes one response. */
export interface RequestContext {
  /** UUID of the request: `X-Request-Id`, and the `requestId` of bodies. */
  readonly id: string
  /** `X-Client-Request-Id` of the caller, if it may be echoed. */
  readonly clientId: string | undefined
  /** The span of the request; undefined where nothing is traced. */
  trace: { readonly traceId: string; readonly spanId: string } | undefined
  /** True when the endpoint requires a key. The response is then `no-store`. */
  keyed: boolean
  /** The credential, once it is known. The response then counts as its usage. */
  caller: UsageCaller | undefined
  /** Operation id of the contract; empty until the credential is known. */
  operation: string
  /** Charges that are refunded when the response is a 429 or 5xx. */
  readonly charges: Array<Charge>
  /** Undefined until the limiter has decided. */
  reading: MeterReading | undefined
  /** When set, it replaces the handler's response. */
  problem: Problem | undefined
  /** True for a response that was replayed for an idempotency key. */
  replayed: boolean
  /** Methods of the path for `Allow`, set on a 405. */
  allow: string | undefined
  /** The JSON body, once it has been read. */
  body: JsonDocument | undefined
}

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,64}$/u

export const openRequest = (id: string, clientId: string | undefined): RequestContext => ({
  id,
  clientId: clientId !== undefined && PRINTABLE_ASCII.test(clientId) ? clientId : undefined,
  trace: undefined,
  keyed: false,
  caller: undefined,
  operation: "",
  charges: [],
  reading: undefined,
  problem: undefined,
  replayed: false,
  allow: undefined,
  body: undefined
})

export const RequestContext = Context.Reference<RequestContext>("fathom/http/middleware/RequestContext", {
  defaultValue: () => openRequest("", undefined)
})

/** Runs the rest of a request with more services. The end of the request restores the context of its fiber. */
export const withServices = <A, E, R, Services>(
  fiber: Fiber.Fiber<unknown, unknown>,
  services: Context.Context<Services>,
  rest: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Services>> => {
  fiber.setContext(services)
  return rest as Effect.Effect<A, E, Exclude<R, Services>>
}

/** The property of a Node request that holds its context, for observers outside the fiber. */
const CONTEXT = Symbol("RequestContext")

type ObservedRequest = object & { [CONTEXT]?: RequestContext }

/** Attaches a context to a Node request. */
export const keepContext = (request: ObservedRequest, context: RequestContext): void => {
  request[CONTEXT] = context
}

/** The context of a Node request; undefined before it has one, as for a request that the parser rejects. */
export const contextOf = (request: ObservedRequest): RequestContext | undefined => request[CONTEXT]
