import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DataUnavailable } from "./errors/problems.ts"
import { NoQuery } from "./parameters.ts"
import { ExecutedVenue } from "./schemas/ExecutedVenue.ts"
import { ProgramDecoding } from "./schemas/ProgramDecoding.ts"
import { ProgramState } from "./schemas/ProgramState.ts"
import { SourceFreshness } from "./schemas/SourceFreshness.ts"
import { field } from "../domain/field.ts"
import { requestId } from "./schemas/fields.ts"

export class ServiceDescription extends Schema.Opaque<ServiceDescription>()(
  Schema.Struct({
    name: field(Schema.String, "Name of the service."),
    version: field(Schema.Literal("v1"), "Version of the contract."),
    status: field(Schema.Literal("beta"), "State of the contract: `beta` may still gain fields."),
    docsUrl: field(Schema.String, "URL of the documentation."),
    openapiUrl: field(Schema.String, "URL of this document."),
    changelogUrl: field(Schema.String, "URL of the changes of the contract."),
    serverTimeMs: field(Schema.Int, "Clock of the server, in milliseconds since the Unix epoch.")
  }).annotate({ identifier: "ServiceDescription", description: "Name, version and document URLs of the service." })
) {}

export class Freshness extends Schema.Opaque<Freshness>()(
  Schema.Struct({
    data: field(Schema.Array(SourceFreshness), "The answer itself."),
    meta: field(Schema.Struct({ requestId }), "How the answer was made, and how well it is known.")
  }).annotate({ identifier: "Freshness", description: "Lag of every source." })
) {}

export class Health extends Schema.Opaque<Health>()(
  Schema.Struct({
    status: field(Schema.Literal("ok"), "Always ok: a process that does not run answers nothing."),
    node: field(Schema.optionalKey(Schema.String), "Host of the node in use. Only on `/readyz`; absent without a node.")
  }).annotate({
    identifier: "Health",
    description: "The probe succeeded."
  })
) {}

export class PartState extends Schema.Opaque<PartState>()(
  Schema.Struct({
    part: field(Schema.String, "Name of the source, as at `/freshness`."),
    status: field(
      Schema.Literals(["known", "partial", "stale", "unavailable"]),
      "`known`: complete. `partial`: a part is missing, the coverage says which. `stale`: older than it may be. `unavailable`: no value."
    ),
    sinceMs: field(Schema.Int, "Since when the part is in this state, to the second, as far as this process has seen."),
    lastError: field(
      Schema.NullOr(
        Schema.Struct({
          atMs: field(Schema.Int, "Time of the event, in milliseconds since the Unix epoch."),
          detail: field(Schema.String, "The reason in words, without secrets; at most 200 characters.")
        })
      ),
      "The part's last failure since the process started; null before the first."
    ),
    programs: field(
      Schema.optionalKey(Schema.Array(ProgramState)),
      "Every quoted AMM program. Only for the source `programs`."
    ),
    executed: field(
      Schema.optionalKey(Schema.Array(ExecutedVenue)),
      "Every venue that is priced by executing its program. Only for the source `execution`."
    ),
    decoding: field(
      Schema.optionalKey(Schema.Array(ProgramDecoding)),
      "Every AMM program with swaps since the process started. Only for the source `decoding`."
    )
  }).annotate({ identifier: "PartState", description: "State and past of one part of the service." })
) {}

/** `verbose` without a value means `true`. */
const ReadinessQuery = Schema.Struct({
  verbose: field(
    Schema.optionalKey(Schema.Literals(["", "true", "false"])),
    "`true`, or no value: lists every part. The message of a 503 then names the parts that are not current."
  )
})

export class Readiness extends Schema.Opaque<Readiness>()(
  Schema.Struct({
    status: field(Schema.Literal("ok"), "Always ok: a process that is not ready answers 503."),
    lagging: field(
      Schema.Array(SourceFreshness),
      "Sources that lag or are unavailable, except services that no request has needed yet. Empty when all are current."
    ),
    node: field(
      Schema.optionalKey(Schema.String),
      "Host of the node that the chain is read from; absent without a node."
    ),
    parts: field(Schema.optionalKey(Schema.Array(PartState)), "Every part. Only with `verbose`.")
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
