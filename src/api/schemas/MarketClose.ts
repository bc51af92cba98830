/** The end of an event stream of the market. */
import { Schema } from "effect"
import { EndCode } from "./MarketFrame.ts"
import { field } from "../../domain/field.ts"
import { sentAtMs } from "./fields.ts"

/** Why an event stream of the market ended. */
export const StreamEnd = Schema.Literals([
  ...EndCode.literals.filter((code) => code !== "unsubscribed"),
  "completed",
  "server_shutdown",
  "key_revoked",
  "slow_consumer",
  "resumed_elsewhere",
  "failed"
])
export type StreamEnd = typeof StreamEnd.Type

/** The last frame of an event stream of the market. It has no sequence number. */
export class MarketClose extends Schema.Opaque<MarketClose>()(
  Schema.Struct({
    type: field(Schema.Literal("close"), "Kind of the frame."),
    reason: field(StreamEnd, "Why the stream ended."),
    message: field(Schema.String, "The reason in words."),
    retryAfterMs: field(
      Schema.NullOr(Schema.Int),
      "Milliseconds until another attempt may succeed; null when unknown."
    ),
    sentAtMs
  }).annotate({ identifier: "MarketClose", description: "The end of the stream, and why." })
) {}
