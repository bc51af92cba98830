import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, ApiScope, KeyName, MAX_ACTIVE_KEYS, overlap } from "../../domain/ApiKey.ts"
import { KeyAuditEntry } from "../../domain/keys/KeyAudit.ts"
import { Plan, PlanName } from "../../domain/keys/Plan.ts"
import { Authorization, Scope, SessionOnly } from "../middleware/Authorization.ts"
import { JsonBody } from "../middleware/JsonBody.ts"
import { pageOf, pageParameters, RequestId } from "../pages.ts"
import { NoQuery, UniqueList } from "../parameters.ts"
import {
  DataUnavailable,
  InvalidCursor,
  InvalidRequest,
  KeyNotFound,
  LimitReached,
  OwnerRequired
} from "../problems.ts"

/** Default number of audit entries per page. */
export const defaults = { audit: 50 } as const

/** Most blocks of an IP policy. */
const MAX_BLOCKS = 50

const { accountId: _accountId, plan: _plan, replacedBy: _replacedBy, ...shown } = ApiKey.fields

/** A key as its owner sees it. */
export class ManagedKey extends Schema.Opaque<ManagedKey>()(
  Schema.Struct({
    ...shown,
    plan: Schema.String.annotate({ description: "Name of its plan." }),
    expiresAtMs: Schema.NullOr(Schema.Int).annotate({ description: "The key is refused from then on; null for never." })
  }).annotate({ identifier: "ManagedKey", description: "A key of the account, without its secret." })
) {}

/** A new key and its secret. */
export class NewKey extends Schema.Opaque<NewKey>()(
  Schema.Struct({
    key: ManagedKey,
    secret: Schema.String.annotate({ description: "Shown here only: the service does not keep it." })
  }).annotate({ identifier: "NewKey", description: "A new key and its secret." })
) {}

/** The keys of an account. */
export class ManagedKeys extends Schema.Opaque<ManagedKeys>()(
  Schema.Struct({
    data: Schema.Array(ManagedKey),
    meta: Schema.Struct({
      limit: Schema.Int.annotate({ description: "Active keys that an account may have; one more during a rotation." }),
      requestId: RequestId
    })
  }).annotate({ identifier: "ManagedKeys", description: "Every key of the account, newest first." })
) {}

/** The plans that a key can have. */
export class Plans extends Schema.Opaque<Plans>()(
  Schema.Struct({ data: Schema.Array(Plan), meta: Schema.Struct({ requestId: RequestId }) }).annotate({
    identifier: "Plans",
    description: "Every plan: default, then the others by name."
  })
) {}

/** One page of the audit. */
export class KeyAudit extends Schema.Opaque<KeyAudit>()(
  pageOf(KeyAuditEntry, Schema.Struct({ requestId: RequestId }), {
    identifier: "KeyAudit",
    description:
      "One page of changes of the account's keys, newest first. They are kept for a year unless the deployment sets KEY_AUDIT_KEPT."
  })
) {}

const name = KeyName
const scopes = Schema.Array(ApiScope).annotate({ description: "Permissions; md.read is always one of them." })
const ipPolicy = Schema.NullOr(UniqueList(Schema.String, MAX_BLOCKS, "addresses or CIDR blocks")).annotate({
  description: "Addresses or CIDR blocks that the key may be used from; null for any."
})
const expiresAtMs = Schema.NullOr(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))
).annotate({ description: "A time ahead from which the key is refused; null for never." })
const plan = PlanName.annotate({ description: "A plan other than default is chosen by owners." })

/** Body of a new key. */
export const CreateKeyBody = Schema.Struct({
  name,
  scopes: Schema.optionalKey(scopes),
  ipPolicy: Schema.optionalKey(ipPolicy),
  plan: Schema.optionalKey(plan),
  expiresAtMs: Schema.optionalKey(expiresAtMs)
}).annotate({ identifier: "KeyRequest", description: "A new key." })

/** Body of a change of a key. */
export const ChangeKeyBody = Schema.Struct({
  name: Schema.optionalKey(name),
  scopes: Schema.optionalKey(scopes),
  ipPolicy: Schema.optionalKey(ipPolicy),
  plan: Schema.optionalKey(plan),
  expiresAtMs: Schema.optionalKey(expiresAtMs)
}).annotate({ identifier: "KeyChange", description: "Changes of a key; fields that are left out stay as they are." })

/** Body of a rotation. */
export const RotateKeyBody = Schema.Struct({
  overlapSeconds: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween(
        { minimum: 0, maximum: overlap.longest },
        { expected: `a whole number from 0 to ${overlap.longest}` }
      )
    ).annotate({ description: `Time for which the old key stays valid; ${overlap.byDefault} unless given.` })
  )
}).annotate({ identifier: "KeyRotation", description: "The overlap of a rotation." })

/** Query of the audit. */
export const AuditQuery = Schema.Struct(pageParameters(100, defaults.audit))

const params = { id: Schema.String.annotate({ description: "The id of a key." }) }
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
      .annotate(OpenApi.Summary, "Make a key, whose secret is shown once")
      .annotate(OpenApi.Description, `409 with ${MAX_ACTIVE_KEYS} active keys.`),
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
      .annotate(OpenApi.Summary, "Replace a key by a new one with the same rights")
      .annotate(
        OpenApi.Description,
        "The old key expires after the overlap. Only an active key that has not been replaced is rotated. During overlaps the " +
          "account may have one active key more. Where the old key had an expiry, its lifetime begins anew."
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
  .annotate(OpenApi.Description, "The keys of the account, for sessions of the app alone.") {}
