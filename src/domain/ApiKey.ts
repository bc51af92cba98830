import { Schema } from "effect"

/** What a key may do. New keys hold `md.read`; every other scope is granted explicitly. */
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

/** An issued key as the service knows it: everything but the secret. Times are milliseconds since the Unix epoch. */
export class ApiKey extends Schema.Opaque<ApiKey>()(
  Schema.Struct({
    id: Schema.String,
    accountId: Schema.String,
    name: Schema.String,
    prefix: Schema.String,
    lastFour: Schema.String,
    scopes: Schema.Array(ApiScope),
    ipPolicy: Schema.NullOr(Schema.Array(Schema.String)),
    createdAtMs: Schema.Int,
    lastUsedAtMs: Schema.NullOr(Schema.Int),
    disabledAtMs: Schema.NullOr(Schema.Int),
    revokedAtMs: Schema.NullOr(Schema.Int)
  })
) {}

/** The secret is malformed, was never issued, or its key is revoked. The caller is not told which. */
export class UnknownKey extends Schema.TaggedError<UnknownKey>()("UnknownKey", {}) {}

/** The key exists and its owner has switched it off. */
export class DisabledKey extends Schema.TaggedError<DisabledKey>()("DisabledKey", { id: Schema.String }) {}

/** The account already holds as many active keys as it may. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", { limit: Schema.Int }) {}

/** No key of this id belongs to the account. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { id: Schema.String }) {}

/** The store did not answer in time, or failed. */
export class KeyStoreUnavailable extends Schema.TaggedError<KeyStoreUnavailable>()("KeyStoreUnavailable", {
  cause: Schema.Defect()
}) {}
