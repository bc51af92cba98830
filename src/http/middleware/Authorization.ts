import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { SessionStore } from "../../access/accounts/SessionStore.ts"
import type { KeyStore } from "../../access/KeyStore.ts"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { Authorization, CurrentKey, Scope, SessionOnly } from "../../api/middleware/Authorization.ts"
import { Budget, Cost, Meter } from "../../api/middleware/Metering.ts"
import { Requester } from "../../quotes/pools/Requester.ts"
import { makeAdmission } from "./admission.ts"
import { RequestContext, withServices } from "./RequestContext.ts"
import { makeMeter } from "./meter.ts"
import type { Settings } from "../Settings.ts"

/** What the admission of an endpoint needs, from its annotations. Computed once. */
const makeTerms = ({ annotations, identifier }: HttpApiEndpoint.Top, group: string) => ({
  operation: `${group}.${identifier}`,
  accepted: Context.get(annotations, Scope),
  isSessionOnly: Context.get(annotations, SessionOnly),
  budget: Context.get(annotations, Budget),
  cost: Context.get(annotations, Cost)
})

const termsByEndpoint = new WeakMap<HttpApiEndpoint.Top, ReturnType<typeof makeTerms>>()

/** What the admission of an endpoint needs. */
export const termsOf = (endpoint: HttpApiEndpoint.Top, group: string) => {
  const terms = termsByEndpoint.get(endpoint) ?? makeTerms(endpoint, group)
  termsByEndpoint.set(endpoint, terms)
  return terms
}

/** Checks key or session, address, scope and budget, in this order. The query and the body have not been read yet. */
export const layer: Layer.Layer<Authorization, never, KeyStore | RateLimiter | SessionStore | Settings> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const { accept, verify } = yield* makeAdmission
    const limiter = yield* RateLimiter

    // The eager combinators stay synchronous as long as every store answers synchronously.
    return Authorization.of((httpEffect, { endpoint, group }) =>
      Effect.withFiber((fiber) => {
        const context = fiber.getRef(RequestContext)
        context.keyed = true
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const terms = termsOf(endpoint, group.identifier)
        const { budget, cost } = terms
        const admitted = Effect.flatMapEager(verify(fiber, request), (key) => {
          context.caller = key
          context.operation = terms.operation
          return Effect.mapEager(accept(key, terms, request), () => key)
        })
        return Effect.flatMapEager(admitted, (key) =>
          Effect.flatMapEager(makeMeter({ fiber, context, limiter, key, budget, cost }), (meter) => {
            const keyed = Context.add(fiber.context, CurrentKey, key)
            return withServices(fiber, Context.add(Context.add(keyed, Meter, meter), Requester, key.id), httpEffect)
          })
        )
      })
    )
  })
)
