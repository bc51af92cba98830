import { Schema } from "effect"

/** The node did not answer, or its answer was not in the form of the protocol. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  reason: Schema.Literals(["timeout", "unreachable", "rate_limited", "invalid"]),
  detail: Schema.String,
  /** The code of a JSON-RPC error. */
  rpcCode: Schema.optionalKey(Schema.Finite),
  /** True when the provider does not offer such calls. Repeating the call does not help. */
  isRefused: Schema.optionalKey(Schema.Boolean),
  /** True for a call whose answer is too large for the node or for its reader. A call for fewer accounts may be answered. */
  isTooLarge: Schema.optionalKey(Schema.Boolean),
  /** Host of the node that refused. */
  node: Schema.optionalKey(Schema.String),
  /** `Retry-After` of the node, in ms. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}
