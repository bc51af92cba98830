import { Schema } from "effect"

/**
 * An upstream gave no usable reply. `timeout`: none before the deadline. `unreachable`: no connection, a broken one,
 * HTTP 408 or 5xx. `rate_limited`: HTTP 429. `malformed`: another status, or a body that is too long or not UTF-8. The
 * detail holds nothing from the request or the body.
 */
export class UpstreamFailure extends Schema.TaggedError<UpstreamFailure>()("UpstreamFailure", {
  reason: Schema.Literals(["timeout", "unreachable", "rate_limited", "malformed"]),
  detail: Schema.String,
  /** `Retry-After` of the reply, bounded. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}
