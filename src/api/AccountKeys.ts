import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  DataUnavailable,
  InvalidCursor,
  InvalidRequest,
  KeyNotFound,
  LimitReached,
  OwnerRequired
} from "./errors/problems.ts"
import { Authorization, Scope, SessionOnly } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { pageOf, pageParameters, RequestId } from "./pages.ts"
import { atLeastOneChange, NoQuery } from "./parameters.ts"
import { ApiKey, ApiScope, KeyName, MAX_ACTIVE_KEYS, overlap } from "./schemas/ApiKey.ts"
import { KeyAuditEntry } from "./schemas/KeyAudit.ts"
import { Plan, PlanName } from "./schemas/Plan.ts"
import { field } from "../domain/field.ts"
import { UniqueList } from "./schemas/lists.ts"

/** Default number of audit entries per page. */
export const defaults = { audit: 50 } as const

/** Most blocks of an IP policy. */
const MAX_BLOCKS = 50

const { accountId: _accountId, plan: _plan, replacedBy: _replacedBy, ...shown } = ApiKey.fields

export class ManagedKey extends Schema.Opaque<ManagedKey>()(
  Schema.Struct({
    ...shown,
    plan: field(Schema.String, "Name of the key's plan."),
    expiresAtMs: field(
      Schema.NullOr(Schema.Int),
      "The key is refused from this time on, in milliseconds since the Unix epoch; null for never."
    )
  }).annotate({ identifier: "ManagedKey", description: "A key of the account, without its secret." })
) {}

export class NewKey extends Schema.Opaque<NewKey>()(
  Schema.Struct({
    key: ManagedKey,
    secret: field(Schema.String, "The secret of the key. It is shown only here, because the service does not keep it.")
  }).annotate({ identifier: "NewKey", description: "A new key and its secret." })
) {}

export class ManagedKeys extends Schema.Opaque<ManagedKeys>()(
  Schema.Struct({
    data: field(Schema.Array(ManagedKey), "Every key of the account, newest first."),
    meta: field(
      Schema.Struct({
        limit: field(Schema.Int, "Most active keys of an account; one more during a rotation."),
        requestId: RequestId
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "ManagedKeys", description: "Every key of the account, newest first." })
) {}

export class Plans extends Schema.Opaque<Plans>()(
  Schema.Struct({
    data: field(Schema.Array(Plan), "The answer itself."),
    meta: field(Schema.Struct({ requestId: RequestId }), "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "Plans",
    description: "Every plan: `default` first, then the others by name."
  })
) {}

export class KeyAudit extends Schema.Opaque<KeyAudit>()(
  pageOf(KeyAuditEntry, Schema.Struct({ requestId: RequestId }), {
    identifier: "KeyAudit",
    description:
      "One page of changes of the account's keys, newest first. They are kept for a year unless the deployment sets KEY_AUDIT_KEPT."
  })
) {}

const name = KeyName
const scopes = Schema.Array(ApiScope).annotate({ description: "Permissions. `md.read` is always included." })
const ipPolicy = Schema.NullOr(UniqueList(Schema.String, MAX_BLOCKS, "addresses or CIDR blocks")).annotate({
  description: "Addresses or CIDR blocks that the key may be used from; null for any."
})
const expiresAtMs = Schema.NullOr(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))
).annotate({ description: "A time in the future from which the key is refused; null for never." })
const plan = PlanName.annotate({ description: "Name of a plan. Only owners can choose a plan other than `default`." })

export const CreateKeyBody = Schema.Struct({
  name,
  scopes: Schema.optionalKey(scopes),
  ipPolicy: Schema.optionalKey(ipPolicy),
  plan: Schema.optionalKey(plan),
  expiresAtMs: Schema.optionalKey(expiresAtMs)
}).annotate({ identifier: "KeyRequest", description: "A new key." })

export const ChangeKeyBody = Schema.Struct({
  name: Schema.optionalKey(name),
  scopes: Schema.optionalKey(scopes),
  ipPolicy: Schema.optionalKey(ipPolicy),
  plan: Schema.optionalKey(plan),
  expiresAtMs: Schema.optionalKey(expiresAtMs)
})
  .annotate({
    identifier: "KeyChange",
    description: "Changes of a key, at least one; fields that are left out stay as they are."
  })
  .check(atLeastOneChange)

export const RotateKeyBody = Schema.Struct({
  overlapSeconds: field(
    Schema.optionalKey(
      Schema.Int.check(
        Schema.isBetween(
          { minimum: 0, maximum: overlap.longest },
          { expected: `a whole number from 0 to ${overlap.longest}` }
        )
      )
    ),
    `Seconds for which the old key stays valid; ${overlap.byDefault} by default.`
  )
}).annotate({ identifier: "KeyRotation", description: "The overlap of a rotation." })

export const AuditQuery = Schema.Struct(pageParameters(100, defaults.audit))

const params = { id: field(Schema.String, "The id of a key.") }
const ofKey = [KeyNotFound, DataUnavailable] as const

/** The keys of the account, for sessions of the app alone. */
export class AccountKeysGroup extends HttpApiGroup.make("accountKeys")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/account/keys", {
      query: NoQuery,
      success: ManagedKeys,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "The keys of the account"),
    HttpApiEndpoint.post("create", "/api/v1/account/keys", {
      query: NoQuery,
      payload: CreateKeyBody,
      success: NewKey.pipe(HttpApiSchema.status(201)),
      error: [InvalidRequest, OwnerRequired, LimitReached, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Create a key. Its secret is shown once")
      .annotate(OpenApi.Description, `409 when the account has ${MAX_ACTIVE_KEYS} active keys.`),
    HttpApiEndpoint.patch("change", "/api/v1/account/keys/:id", {
      params,
      query: NoQuery,
      payload: ChangeKeyBody,
      success: ManagedKey,
      error: [InvalidRequest, OwnerRequired, LimitReached, ...ofKey]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Change a key")
      .annotate(OpenApi.Description, "409 when a later expiry would make one active key too many."),
    HttpApiEndpoint.delete("revoke", "/api/v1/account/keys/:id", {
      params,
      query: NoQuery,
      success: ManagedKey,
      error: ofKey
    }).annotate(OpenApi.Summary, "Revoke a key for good"),
    HttpApiEndpoint.post("rotate", "/api/v1/account/keys/:id/rotate", {
      params,
      query: NoQuery,
      payload: RotateKeyBody,
      success: NewKey.pipe(HttpApiSchema.status(201)),
      error: [LimitReached, ...ofKey]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Replace a key with a new one that has the same rights")
      .annotate(
        OpenApi.Description,
        "The old key expires after the overlap. Only an active key that has not been replaced can be rotated. During an overlap the " +
          "account may have one more active key. If the old key had an expiry, the new key gets the same lifetime again."
      ),
    HttpApiEndpoint.post("disable", "/api/v1/account/keys/:id/disable", {
      params,
      query: NoQuery,
      success: ManagedKey,
      error: ofKey
    }).annotate(OpenApi.Summary, "Switch a key off"),
    HttpApiEndpoint.post("enable", "/api/v1/account/keys/:id/enable", {
      params,
      query: NoQuery,
      success: ManagedKey,
      error: [LimitReached, ...ofKey]
    }).annotate(OpenApi.Summary, "Switch a disabled key on again"),
    HttpApiEndpoint.get("audit", "/api/v1/account/audit", {
      query: AuditQuery,
      success: KeyAudit,
      error: [InvalidCursor, DataUnavailable]
    }).annotate(OpenApi.Summary, "Changes of the account's keys"),
    HttpApiEndpoint.get("plans", "/api/v1/account/plans", {
      query: NoQuery,
      success: Plans,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "Every plan")
  )
  .annotateEndpoints(Scope, [])
  .annotateEndpoints(SessionOnly, true)
  .middleware(Authorization)
  .annotate(OpenApi.Description, "The keys of the account, for sessions of the app only.") {}
