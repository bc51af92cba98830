import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { NoQuery } from "./parameters.ts"
import { DataUnavailable } from "./problems.ts"

/** What the service is and where its documents are. */
export class ServiceDescription extends Schema.Opaque<ServiceDescription>()(
  Schema.Struct({
    name: Schema.String,
    version: Schema.Literal("v1"),
    status: Schema.Literal("beta"),
    docsUrl: Schema.String,
    openapiUrl: Schema.String,
    changelogUrl: Schema.String,
    serverTimeMs: Schema.Int
  }).annotate({ identifier: "ServiceDescription", description: "What the service is and where its documents are." })
) {}

/** How far one source is behind. */
export class SourceFreshness extends Schema.Opaque<SourceFreshness>()(
  Schema.Struct({
    source: Schema.String,
    observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "When the source was last heard; null before." }),
    lagMs: Schema.NullOr(Schema.Int).annotate({ description: "Milliseconds since then." }),
    status: Schema.Literals(["known", "partial", "stale", "unavailable"])
  }).annotate({ identifier: "SourceFreshness", description: "How far one source is behind." })
) {}

/** Every source, and the id of the answer. */
export class Freshness extends Schema.Opaque<Freshness>()(
  Schema.Struct({
    data: Schema.Array(SourceFreshness),
    meta: Schema.Struct({ requestId: Schema.String })
  }).annotate({ identifier: "Freshness", description: "How far every source is behind." })
) {}

/** The answer of a probe. */
export class Health extends Schema.Opaque<Health>()(
  Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Health", description: "All is well." })
) {}

/** What anyone may ask without a key. */
export class SystemGroup extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("describe", "/api/v1", { query: NoQuery, success: ServiceDescription }).annotate(
      OpenApi.Summary,
      "What the service is and where its documents are"
    ),
    HttpApiEndpoint.get("freshness", "/api/v1/freshness", { query: NoQuery, success: Freshness }).annotate(
      OpenApi.Summary,
      "How far every source is behind, at most one second old"
    ),
    HttpApiEndpoint.get("rootFreshness", "/freshness", { query: NoQuery, success: Freshness }).annotate(
      OpenApi.Summary,
      "The same as /api/v1/freshness"
    ),
    HttpApiEndpoint.get("live", "/livez", { query: NoQuery, success: Health }).annotate(
      OpenApi.Summary,
      "Whether the process answers"
    ),
    HttpApiEndpoint.get("ready", "/readyz", { query: NoQuery, success: Health, error: DataUnavailable }).annotate(
      OpenApi.Summary,
      "Whether the service wants traffic: the chain is followed and no shutdown has begun"
    )
  )
  .annotate(OpenApi.Description, "The service itself.") {}
