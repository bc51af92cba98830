import { Schema } from "effect"
import { ProgramState } from "../domain/market/ProgramState.ts"
import { SourceFreshness } from "../domain/market/SourceFreshness.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { NoQuery } from "./parameters.ts"
import { DataUnavailable } from "./problems.ts"

/** Name and version of the service, and the URLs of its documents. */
export class ServiceDescription extends Schema.Opaque<ServiceDescription>()(
  Schema.Struct({
    name: Schema.String,
    version: Schema.Literal("v1"),
    status: Schema.Literal("beta"),
    docsUrl: Schema.String,
    openapiUrl: Schema.String,
    changelogUrl: Schema.String,
    serverTimeMs: Schema.Int
  }).annotate({ identifier: "ServiceDescription", description: "Name, version and document URLs of the service." })
) {}

/** Lag of every source. */
export class Freshness extends Schema.Opaque<Freshness>()(
  Schema.Struct({
    data: Schema.Array(SourceFreshness),
    meta: Schema.Struct({ requestId: Schema.String })
  }).annotate({ identifier: "Freshness", description: "Lag of every source." })
) {}

/** The answer of a probe. */
export class Health extends Schema.Opaque<Health>()(
  Schema.Struct({
    status: Schema.Literal("ok"),
    node: Schema.optionalKey(Schema.String).annotate({
      description: "Of `/readyz`: host of the node in use; absent where there is none."
    })
  }).annotate({
    identifier: "Health",
    description: "The probe succeeded."
  })
) {}

/** State and past of one part of the service. */
export class PartState extends Schema.Opaque<PartState>()(
  Schema.Struct({
    part: Schema.String.annotate({ description: "Name of the source, as at `/freshness`." }),
    status: Schema.Literals(["known", "partial", "stale", "unavailable"]),
    sinceMs: Schema.Int.annotate({
      description: "Time since which it is in this state, as the process has seen it, to a second."
    }),
    lastError: Schema.NullOr(
      Schema.Struct({
        atMs: Schema.Int,
        detail: Schema.String.annotate({ description: "The reason in words, without secrets; at most 200 characters." })
      })
    ).annotate({ description: "Its last failure since the start of the process; null before the first." }),
    programs: Schema.optionalKey(Schema.Array(ProgramState)).annotate({
      description: "Of `programs`: every quoted AMM program."
    })
  }).annotate({ identifier: "PartState", description: "State and past of one part of the service." })
) {}

/** `verbose` without a value is `true`. */
const ReadinessQuery = Schema.Struct({
  verbose: Schema.optionalKey(
    Schema.Literals(["", "true", "false"]).annotate({
      description:
        "`true`, or no value: lists every part. A 503 then names the parts that are not current in its message."
    })
  )
})

/** The answer of the readiness probe. */
export class Readiness extends Schema.Opaque<Readiness>()(
  Schema.Struct({
    status: Schema.Literal("ok"),
    lagging: Schema.Array(SourceFreshness).annotate({
      description:
        "Sources that lag or are unavailable, without services that no request has needed yet; empty when all are current."
    }),
    node: Schema.optionalKey(Schema.String).annotate({
      description: "Host of the node that the chain is read from; absent where there is none."
    }),
    parts: Schema.optionalKey(Schema.Array(PartState)).annotate({ description: "Every part; with `verbose` only." })
  }).annotate({ identifier: "Readiness", description: "The service takes traffic; `lagging` lists what is behind." })
) {}

/** Operations without a key. */
export class SystemGroup extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("describe", "/api/v1", { query: NoQuery, success: ServiceDescription }).annotate(
      OpenApi.Summary,
      "Name, version and document URLs of the service"
    ),
    HttpApiEndpoint.get("freshness", "/api/v1/freshness", { query: NoQuery, success: Freshness }).annotate(
      OpenApi.Summary,
      "Lag of every source, at most one second old"
    ),
    HttpApiEndpoint.get("rootFreshness", "/freshness", { query: NoQuery, success: Freshness }).annotate(
      OpenApi.Summary,
      "The same as /api/v1/freshness"
    ),
    HttpApiEndpoint.get("live", "/livez", { query: NoQuery, success: Health }).annotate(
      OpenApi.Summary,
      "Liveness: the process answers"
    ),
    HttpApiEndpoint.get("ready", "/readyz", {
      query: ReadinessQuery,
      success: Readiness,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "Readiness: the chain feed is live and no shutdown has begun")
  )
  .annotate(OpenApi.Description, "The service itself.") {}
