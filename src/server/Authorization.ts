import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { ipAllowed } from "../access/ipPolicy.ts"
import { KeyStore } from "../access/KeyStore.ts"
import { RateLimiter } from "../access/RateLimiter.ts"
import { Authorization, CurrentKey, Scope } from "../api/Authorization.ts"
import { Budget, Cost, Meter } from "../api/Metering.ts"
import {
  DataUnavailable,
  InvalidApiKey,
  IpNotAllowed,
  KeyDisabled,
  MissingApiKey,
  MissingScope
} from "../api/problems.ts"
import type { ApiKey, ApiScope } from "../domain/ApiKey.ts"
import { clientAddress } from "./clientAddress.ts"
import { decide } from "./decide.ts"
import { Exchange } from "./Exchange.ts"
import { makeMeter } from "./meter.ts"
import { Settings } from "./Settings.ts"

/** Whether the key holds one of the scopes that an endpoint accepts. */
const inScope = (key: ApiKey, accepted: ReadonlyArray<ApiScope>): boolean =>
  accepted.length === 0 || accepted.some((scope) => key.scopes.includes(scope))

const missingScope = ([wanted = "md.read"]: ReadonlyArray<ApiScope>) =>
  new MissingScope({
    error: {
      message: `The API key lacks the scope ${wanted}.`,
      details: [{ in: "header", field: wanted, issue: "missing" }]
    }
  })

const callerOf = (request: HttpServerRequest.HttpServerRequest, trustedHops: number): string | null =>
  clientAddress({
    peer: Option.getOrNull(request.remoteAddress),
    forwardedFor: request.headers["x-forwarded-for"],
    trustedHops
  })

const keyStoreDown = () => new DataUnavailable({ error: { message: "The API key cannot be checked right now." } })

/** Key, address, scope, charge: in this order, each before anything more of the request is read. */
export const layer: Layer.Layer<Authorization, never, KeyStore | RateLimiter | Settings> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const limiter = yield* RateLimiter
    const { trustedHops } = yield* Settings

    const verify = (
      secret: Redacted.Redacted
    ): Effect.Effect<ApiKey, MissingApiKey | InvalidApiKey | KeyDisabled | DataUnavailable> => {
      if (Redacted.value(secret) === "") {
        return Effect.fail(new MissingApiKey())
      }
      return decide(keys.authenticate(secret), keyStoreDown).pipe(
        Effect.catchTags({
          UnknownKey: () => new InvalidApiKey(),
          DisabledKey: () => new KeyDisabled(),
          KeyStoreUnavailable: keyStoreDown
        })
      )
    }

    /** What keeps this key from this endpoint; undefined when nothing does. */
    const objection = (
      key: ApiKey,
      accepted: ReadonlyArray<ApiScope>,
      request: HttpServerRequest.HttpServerRequest
    ) => {
      if (key.ipPolicy !== null && !ipAllowed(key.ipPolicy, callerOf(request, trustedHops))) {
        return new IpNotAllowed()
      }
      return inScope(key, accepted) ? undefined : missingScope(accepted)
    }

    return Authorization.of({
      bearer: (httpEffect, { credential, endpoint }) =>
        Effect.withFiber((fiber) => {
          const exchange = fiber.getRef(Exchange)
          exchange.keyed = true
          const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const admitted = verify(credential).pipe(
            Effect.flatMap((key) => {
              const objected = objection(key, Context.get(endpoint.annotations, Scope), request)
              return objected === undefined ? Effect.succeed(key) : Effect.fail(objected)
            })
          )
          return Effect.flatMap(admitted, (key) => {
            const budget = Context.get(endpoint.annotations, Budget)
            const cost = Context.get(endpoint.annotations, Cost)
            return Effect.flatMap(makeMeter({ exchange, limiter, key: key.id, budget, cost }), (meter) =>
              Effect.updateContext(httpEffect, (context) =>
                context.pipe(Context.add(CurrentKey, key), Context.add(Meter, meter))
              )
            )
          })
        })
    })
  })
)
