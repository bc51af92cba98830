import { Schema } from "effect"
import { Plan } from "./Plan.ts"
import { field } from "../../domain/field.ts"

/** Permission of a key. New keys hold `md.read`; every other scope is granted explicitly. */
export const ApiScope = Schema.Literals([
  "md.read",
  "tracker.read",
  "copy.read",
  "alerts.read",
  "alerts.write",
  "account.read",
  "perps.read"
]).annotate({ identifier: "ApiScope", description: "One permission of a key." })
export type ApiScope = typeof ApiScope.Type

/** Most active keys of one account: not disabled, revoked or expired. The overlap of a rotation allows one more. */
export const MAX_ACTIVE_KEYS = 10

/** Longest and default overlap of a rotation, in seconds: 7 days and 1 day. */
export const overlap = { longest: 604_800, byDefault: 86_400 } as const

/** Display name of a key: 1 to 64 characters without control characters. */
export const KeyName = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}]{1,64}$/u, { expected: "1 to 64 printable characters" })
).annotate({
  identifier: "KeyName",
  description: "What the owner calls a key: 1 to 64 printable characters."
})

/** An issued key as the service knows it, without its secret. Times are milliseconds since the Unix epoch. */
export class ApiKey extends Schema.Opaque<ApiKey>()(
  Schema.Struct({
    id: field(Schema.String, "Unique, stable id."),
    accountId: Schema.String,
    name: field(Schema.String, "Display name."),
    /** `svc_live_`, or `svc_test_` for a key of a sandbox. */
    prefix: field(Schema.String, "First characters of the secret: `svc_live_`, or `svc_test_` in a sandbox."),
    /** Last characters of the secret, by which owners recognise a key. */
    lastFour: field(Schema.String, "Last four characters of the secret."),
    scopes: field(Schema.Array(ApiScope), "Permissions of the key."),
    /** CIDR blocks the key may be used from; null allows any address. */
    ipPolicy: field(
      Schema.NullOr(Schema.Array(Schema.String)),
      "Addresses or CIDR blocks that the key may be used from; null for any."
    ),
    /** The key's limits, as its plan has them now. */
    plan: Plan,
    createdAtMs: field(Schema.Int, "Time of creation, in milliseconds since the Unix epoch."),
    /** To the second; null while the key has never been used. */
    lastUsedAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time of the last use, to the second, in milliseconds since the Unix epoch; null when never used."
    ),
    /** The key is unknown from this time on; null for never. */
    expiresAtMs: Schema.NullOr(Schema.Int),
    /** Id of the key that a rotation made to replace this one. */
    replacedBy: Schema.NullOr(Schema.String),
    disabledAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time at which the key was disabled, in milliseconds since the Unix epoch; null while it is enabled."
    ),
    revokedAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time at which the key was revoked, in milliseconds since the Unix epoch; null while it is not revoked."
    )
  })
) {}

/** True when the key counts against its account's limit and admits requests. */
export const isActive = (key: ApiKey, nowMs: number): boolean =>
  key.disabledAtMs === null && key.revokedAtMs === null && !isExpired(key, nowMs)

/** True from the time of expiry on. */
export const isExpired = ({ expiresAtMs }: Pick<ApiKey, "expiresAtMs">, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs

/** The secret is malformed, was never issued, or its key is revoked or expired. The answer does not say which. */
export class UnknownKey extends Schema.TaggedError<UnknownKey>()("UnknownKey", {}) {}

/** The key exists and its owner has switched it off. */
export class DisabledKey extends Schema.TaggedError<DisabledKey>()("DisabledKey", { id: Schema.String }) {}

/** The account already holds as many active keys as it may. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", { limit: Schema.Int }) {}

/** The actor may not change a key with this id, or the key is revoked and can no longer change. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { id: Schema.String }) {}

/** The store did not answer in time, or failed. */
export class KeyStoreUnavailable extends Schema.TaggedError<KeyStoreUnavailable>()("KeyStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the key store does not answer"
  }
}
