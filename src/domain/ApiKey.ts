import { Schema } from "effect"
import { Plan } from "./Plan.ts"

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

/** Most active keys of one account: neither disabled, revoked nor expired. One more while a rotation's overlap lasts. */
export const MAX_ACTIVE_KEYS = 10

/** Longest overlap of a rotation, and the one without a choice, in seconds: 7 days, 1 day. */
export const overlap = { longest: 604_800, byDefault: 86_400 } as const

/** Display name of a key: 1 to 64 characters without control characters. */
export const KeyName = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}]{1,64}$/u, { expected: "1 to 64 printable characters" })
).annotate({
  identifier: "KeyName",
  description: "What the owner calls a key: 1 to 64 printable characters."
})

/** An issued key as the service knows it: everything but the secret. Times are milliseconds since the Unix epoch. */
export class ApiKey extends Schema.Opaque<ApiKey>()(
  Schema.Struct({
    id: Schema.String,
    accountId: Schema.String,
    name: Schema.String,
    /** `svc_live_`, or `svc_test_` for a key of a sandbox. */
    prefix: Schema.String,
    /** Last characters of the secret, for owners to recognise a key. */
    lastFour: Schema.String,
    scopes: Schema.Array(ApiScope),
    /** CIDR blocks the key may be used from; null allows any address. */
    ipPolicy: Schema.NullOr(Schema.Array(Schema.String)),
    /** Its limits, as the plan of that name has them now. */
    plan: Plan,
    createdAtMs: Schema.Int,
    /** To the second; null while the key has never been used. */
    lastUsedAtMs: Schema.NullOr(Schema.Int),
    /** The key is unknown from this time on; null for never. */
    expiresAtMs: Schema.NullOr(Schema.Int),
    /** Id of the key that a rotation made in place of this one. */
    replacedBy: Schema.NullOr(Schema.String),
    disabledAtMs: Schema.NullOr(Schema.Int),
    revokedAtMs: Schema.NullOr(Schema.Int)
  })
) {}

/** True when the key counts against its account's limit and admits requests. */
export const isActive = (key: ApiKey, nowMs: number): boolean =>
  key.disabledAtMs === null && key.revokedAtMs === null && !isExpired(key, nowMs)

/** True from the time of expiry on. */
export const isExpired = ({ expiresAtMs }: Pick<ApiKey, "expiresAtMs">, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs

/** The secret is malformed, was never issued, or its key is revoked or expired. The four are not distinguished. */
export class UnknownKey extends Schema.TaggedError<UnknownKey>()("UnknownKey", {}) {}

/** The key exists and its owner has switched it off. */
export class DisabledKey extends Schema.TaggedError<DisabledKey>()("DisabledKey", { id: Schema.String }) {}

/** The account already holds as many active keys as it may. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", { limit: Schema.Int }) {}

/** No key that the actor may change has this id, or it is revoked and cannot change any more. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { id: Schema.String }) {}

/** The store did not answer in time, or failed. */
export class KeyStoreUnavailable extends Schema.TaggedError<KeyStoreUnavailable>()("KeyStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the key store does not answer"
  }
}
