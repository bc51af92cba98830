/** A small contract whose endpoints do whatever a test of the edge needs. */
import { Context, Deferred, Effect, Layer, Schema, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Authorization, Scope } from "../../src/api/middleware/Authorization.ts"
import { JsonBody } from "../../src/api/middleware/JsonBody.ts"
import { Budget, Meter } from "../../src/api/middleware/Metering.ts"
import { BooleanParameter, CommaList, IntegerParameter, NoQuery, refuse } from "../../src/api/parameters.ts"
import { retryAfter } from "../../src/api/errors/Problem.ts"
import { ChartWarming, DataUnavailable, RouteNotFound, StatusNotFound } from "../../src/api/errors/problems.ts"
import { ErrorEnvelope } from "../../src/api/middleware/ErrorEnvelope.ts"
import { Address } from "../../src/domain/Address.ts"
import { Drain } from "../../src/http/Drain.ts"
import { Listening, serve } from "../../src/http/server/NodeServer.ts"
import { ground, middleware, surroundings } from "../../src/http/server/Server.ts"
import { type Capable, capabilities, type World } from "./http.ts"

/** Lets a test hold an answer back: `waiting` counts requests inside, `release` lets them out. */
export class Gate extends Context.Service<Gate, { waiting: number; readonly release: Deferred.Deferred<void> }>()(
  "fathom/test/Gate"
) {
  static readonly layer = Layer.effect(
    Gate,
    Effect.map(Deferred.make<void>(), (release) => ({ waiting: 0, release }))
  )
}

const Ok = Schema.Struct({ ok: Schema.Boolean })

const Parameters = Schema.Struct({
  limit: Schema.optionalKey(IntegerParameter(1, 100)),
  flag: Schema.optionalKey(BooleanParameter),
  list: Schema.optionalKey(CommaList(Schema.NonEmptyString, 3)),
  mint: Schema.optionalKey(Address),
  kind: Schema.optionalKey(Schema.Literals(["a", "b"])),
  name: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(5)))
}).check(
  Schema.makeFilter(
    ({ flag, limit }) => !(flag === true && limit === 13) || refuse("limit", "conflict", "Not 13 with a flag.")
  )
)

const Body = Schema.Struct({
  rungs: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 })),
  note: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(8000))),
  deep: Schema.optionalKey(Schema.Struct({ list: Schema.Array(Schema.Finite) }))
})

class ProbeGroup extends HttpApiGroup.make("probe")
  .add(
    HttpApiEndpoint.get("read", "/probe/read", { query: Parameters, success: Schema.Unknown }),
    HttpApiEndpoint.get("quote", "/probe/quote", { query: NoQuery, success: Ok }).annotate(Budget, "quote"),
    HttpApiEndpoint.post("ladder", "/probe/ladder", { query: NoQuery, payload: Body, success: Body })
      .annotate(Budget, "quote")
      .middleware(JsonBody),
    HttpApiEndpoint.get("perps", "/probe/perps", { query: NoQuery, success: Ok }).annotate(Scope, ["perps.read"]),
    HttpApiEndpoint.get("defect", "/probe/defect", { query: NoQuery, success: Ok }),
    HttpApiEndpoint.get("unencodable", "/probe/unencodable", { query: NoQuery, success: Ok }),
    HttpApiEndpoint.get("fails", "/probe/fails/:as", {
      params: { as: Schema.Literals(["no_route", "status", "warming", "unavailable"]) },
      query: NoQuery,
      success: Ok,
      error: [RouteNotFound, StatusNotFound, ChartWarming, DataUnavailable]
    }),
    HttpApiEndpoint.get("held", "/probe/held", { query: NoQuery, success: Ok }).annotate(Budget, null),
    HttpApiEndpoint.get("stream", "/probe/stream", {
      query: NoQuery,
      success: HttpApiSchema.StreamSse({ data: Schema.String })
    }).annotate(Budget, null),
    HttpApiEndpoint.get("free", "/probe/free", { query: NoQuery, success: Ok }).annotate(Budget, null)
  )
  .middleware(Authorization) {}

class ProbeApi extends HttpApi.make("probe")
  .add(ProbeGroup)
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .middleware(ErrorEnvelope) {}

const ok = () => Effect.succeed({ ok: true })

const handlers = HttpApiBuilder.group(
  ProbeApi,
  "probe",
  Effect.fnUntraced(function* (handlers) {
    const gate = yield* Gate
    const drain = yield* Drain
    return handlers.handleAll({
      read: ({ query }) => Effect.succeed(query),
      quote: ok,
      ladder: ({ payload }) =>
        Effect.as(
          Effect.flatMap(Meter, (meter) => meter.raiseTo(payload.rungs)),
          payload
        ),
      perps: ok,
      defect: () => Effect.die(new Error("the password is hunter2")),
      // A value that the schema of the answer refuses, past the compiler.
      unencodable: () => Effect.sync(() => JSON.parse(`{"ok":"hunter2"}`)),
      fails: ({ params }) => {
        switch (params.as) {
          case "no_route":
            return new RouteNotFound()
          case "status":
            return new StatusNotFound()
          case "warming":
            return retryAfter(new ChartWarming(), 7)
          case "unavailable":
            return new DataUnavailable()
        }
      },
      held: () => {
        gate.waiting++
        return Effect.as(Deferred.await(gate.release), { ok: true })
      },
      stream: () =>
        Effect.succeed(
          Stream.make("open").pipe(Stream.concat(Stream.fromEffect(drain.wait).pipe(Stream.map(() => "close"))))
        ),
      free: ok
    })
  })
)

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(ProbeApi, { openapiPath: "/openapi.json" }).pipe(Layer.provide(handlers)),
  surroundings(ProbeApi),
  HttpRouter.add("GET", "/outside", Effect.die("outside the contract")),
  HttpRouter.add("GET", "/bare", HttpServerResponse.empty({ status: 418 }))
).pipe(Layer.provide(middleware))

/** The probe on a free port. */
export const probing = (world: World = {}): Layer.Layer<Listening | Gate | Capable> =>
  Layer.effect(Listening, Effect.flatMap(HttpRouter.toHttpEffect(routes), serve)).pipe(
    Layer.provide(ground),
    Layer.provideMerge([Gate.layer, capabilities(world)]),
    Layer.orDie
  )
