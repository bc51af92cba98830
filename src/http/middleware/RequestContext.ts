import { Context } from "effect"
import type { Problem } from "../../api/Problem.ts"
import type { BudgetName, Charge } from "../../domain/Budget.ts"
import type { JsonDocument } from "./strictJson.ts"

/** What the rate-limit headers of one answer say. */
export interface MeterReading {
  readonly budget: BudgetName
  readonly limit: number
  readonly remaining: number
  /** When the oldest counted unit leaves the window; after a refusal, when the request may fit. Milliseconds since the epoch. */
  readonly resetAtMs: number
  /** Units this request has been charged. */
  readonly cost: number
  /** Whether this request was turned away because its cost, or it itself, did not fit. */
  readonly refused: boolean
}

/** One request while it is being answered. Mutable, because it has one fiber and one answer. */
export interface RequestContext {
  /** The UUID of the answer: `X-Request-Id`, and `requestId` wherever a body carries one. */
  readonly id: string
  /** What the caller sent in `X-Client-Request-Id`, if it may be echoed. */
  readonly clientId: string | undefined
  /** Whether the endpoint asks for a key: then the answer is not to be stored. */
  keyed: boolean
  /** What goes back to the budget when the answer is a 5xx. */
  readonly charges: Array<Charge>
  /** Undefined until the limiter has been reached. */
  reading: MeterReading | undefined
  /** What is said instead of the handler's answer. */
  problem: Problem | undefined
  /** Whether the answer was given before and is only repeated. */
  replayed: boolean
  /** The methods of the path, once the one that was used turned out not to be among them. */
  allow: string | undefined
  /** The JSON body, once it has been read. */
  body: JsonDocument | undefined
}

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,64}$/u

/** A request that has just arrived, with the id its answer will have. */
export const openRequest = (id: string, clientId: string | undefined): RequestContext => ({
  id,
  clientId: clientId !== undefined && PRINTABLE_ASCII.test(clientId) ? clientId : undefined,
  keyed: false,
  charges: [],
  reading: undefined,
  problem: undefined,
  replayed: false,
  allow: undefined,
  body: undefined
})

/** The context that the current fiber answers. */
export const RequestContext = Context.Reference<RequestContext>("fathom/http/middleware/RequestContext", {
  defaultValue: () => openRequest("", undefined)
})

/** Where request ids come from. */
export const RequestIds = Context.Reference<() => string>("fathom/server/Exchange/RequestIds", {
  defaultValue: () => () => crypto.randomUUID()
})
