/** The end of an event stream of the market. */
import { Schema } from "effect"
import { EndCode } from "./MarketFrame.ts"

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

/** The last frame of an event stream of the market; it has no number. */
export class MarketClose extends Schema.Opaque<MarketClose>()(
  Schema.Struct({
    type: Schema.Literal("close").annotate({ description: "Kind of the frame." }),
    reason: StreamEnd.annotate({ description: "Reason, for programs." }),
    message: Schema.String.annotate({ description: "The same in words." }),
    retryAfterMs: Schema.NullOr(Schema.Int).annotate({
      description: "Milliseconds until it may succeed; null when that is not known."
    }),
    sentAtMs: Schema.Int.annotate({
      description: "Time at which the frame was sent, in milliseconds since the Unix epoch."
    })
  }).annotate({ identifier: "MarketClose", description: "The end of the stream, and why." })
) {}
