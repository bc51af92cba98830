import { Schema } from "effect"

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

/** Most active keys of one account: neither disabled nor revoked. */
export const MAX_ACTIVE_KEYS = 10

/** Display name of a key: 1 to 64 characters without control characters. */
export const KeyName = Schema.String.check(Schema.isPattern(/^[^\p{Cc}]{1,64}$/u)).annotate({
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
    createdAtMs: Schema.Int,
    /** To the second; null while the key has never been used. */
    lastUsedAtMs: Schema.NullOr(Schema.Int),
    disabledAtMs: Schema.NullOr(Schema.Int),
    revokedAtMs: Schema.NullOr(Schema.Int)
  })
) {}

/** True when the key counts against its account's limit and admits requests. */
export const isActive = (key: ApiKey): boolean => key.disabledAtMs === null && key.revokedAtMs === null

/** The secret is malformed, was never issued, or its key is revoked. The three are not distinguished for the caller. */
export class UnknownKey extends Schema.TaggedError<UnknownKey>()("UnknownKey", {}) {}

/** The key exists and its owner has switched it off. */
export class DisabledKey extends Schema.TaggedError<DisabledKey>()("DisabledKey", { id: Schema.String }) {}

/** The account already holds as many active keys as it may. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", { limit: Schema.Int }) {}

/** No key has this id, or it is revoked and asked to come back. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { id: Schema.String }) {}

/** The store did not answer in time, or failed. */
export class KeyStoreUnavailable extends Schema.TaggedError<KeyStoreUnavailable>()("KeyStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the key store does not answer"
  }
}
