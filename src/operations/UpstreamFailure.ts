import { Schema } from "effect"

/**
 * An upstream gave no usable reply. `timeout`: no reply before the deadline. `unreachable`: no connection, a broken
 * connection, HTTP 408 or 5xx. `rate_limited`: HTTP 429. `malformed`: any other status, or a body that is too long or
 * not UTF-8. The detail contains nothing from the request or the body.
 */
export class UpstreamFailure extends Schema.TaggedError<UpstreamFailure>()("UpstreamFailure", {
  reason: Schema.Literals(["timeout", "unreachable", "rate_limited", "malformed"]),
  detail: Schema.String,
  /** True for a body that is longer than its reader allows. */
  isTooLarge: Schema.optionalKey(Schema.Boolean),
  /** The reply's `Retry-After` in milliseconds, capped. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}
