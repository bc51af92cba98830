/**
 * `/compat/<service>`: reads under the paths of other services, so that a client changes one base URL. Each is a
 * translation of answers of the contract, which it asks for with the caller's key: same admission, budgets and errors.
 */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { InnerApp } from "../middleware/innerRequests.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { dexScreener } from "./dexScreener.ts"
import { geckoTerminal } from "./geckoTerminal.ts"
import { jupiter } from "./jupiter.ts"
import { solanaTracker } from "./solanaTracker.ts"
import { tradingView } from "./tradingView.ts"
import { asking, type KeptHeaders, type Read, type Refusal, type Service } from "./service.ts"

/** Every service whose reads are served. */
export const services: ReadonlyArray<Service> = [jupiter, dexScreener, geckoTerminal, solanaTracker, tradingView]

/** The paths of every read. */
export const compatPaths: ReadonlyArray<`/${string}`> = services.flatMap(({ prefix, reads }) =>
  reads.map(({ path }): `/${string}` => `${prefix}${path}`)
)

/** True for a path below `/compat/`, whose errors have the form of the service there. */
export const isCompat = (path: string): boolean => services.some(({ prefix }) => path.startsWith(`${prefix}/`))

const json = (status: number, body: unknown, headers: KeptHeaders) =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json", headers })

const refused = (service: Service, refusal: Refusal, kept: KeptHeaders) => {
  const { body, status } = service.refusal(refusal)
  return json(status, body, kept)
}

const STARTING: Refusal = { status: 503, code: "data_unavailable", message: "The service is starting: try again." }

/** Answers one read. */
const handle = (service: Service, read: Read, inner: InnerApp["Service"]) =>
  Effect.gen(function* () {
    const outer = yield* HttpServerRequest.HttpServerRequest
    const params = yield* HttpRouter.params
    const context = yield* RequestContext
    context.keyed = true
    if (inner.app === null) {
      return refused(service, STARTING, { "retry-after": "1" })
    }
    const kept: KeptHeaders = {}
    const key = service.keyHeaders.map((name) => outer.headers[name]).find((value) => value !== undefined)
    const call = {
      param: (name: string) => params[name] ?? "",
      query: new URL(outer.url, "http://fathom.invalid").searchParams,
      ask: asking(inner.app, outer, kept, key),
      nowMs: yield* Clock.currentTimeMillis
    }
    return yield* Effect.match(read.answer(call), {
      onFailure: (refusal) => refused(service, refusal, kept),
      onSuccess: (body) => json(200, body, kept)
    })
  })

/** Answers every other path of a service: refused by name where the service has it, otherwise unknown. */
const otherwise = (service: Service) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ method, url }) => {
    const path = (url.split("?", 1)[0] ?? "").slice(service.prefix.length)
    const reason = service.notOffered(method, path)
    return reason === null
      ? refused(service, { status: 404, code: "not_found", message: `${method} ${path} is not served.` }, {})
      : refused(service, { status: 403, code: "feature_unavailable", message: reason }, {})
  })

/** Serves the reads of every service. */
export const layer = Layer.unwrap(
  Effect.map(InnerApp, (inner) =>
    HttpRouter.addAll(
      services.flatMap((service) => [
        ...service.reads.map((read) =>
          HttpRouter.route("GET", `${service.prefix}${read.path}`, handle(service, read, inner))
        ),
        HttpRouter.route("*", `${service.prefix}/*`, otherwise(service))
      ])
    )
  )
)
