import { Schema } from "effect"
import { Decimals, SlippageBps } from "../../domain/Amount.ts"
import { SpotQuote } from "./Quote.ts"
import { field } from "../../domain/field.ts"
import { amount, inputMint, outputMint, requestId } from "./fields.ts"

const base = {
  streamId: field(Schema.String, "Id of the stream."),
  seq: field(Schema.Int, "0 for `open`, then one more with every frame."),
  atMs: field(Schema.Int, "Time of the event, in milliseconds since the Unix epoch.")
}

const tick = Schema.Int.annotate({ description: "Number of the grid point: `open` plus this many intervals." })

/** Milliseconds from tick to tick. */
export const INTERVAL = { minimum: 250, maximum: 60_000 } as const

/** Default slippage and interval of ticks. */
export const tickDefaults = { slippageBps: 50, intervalMs: 2000 } as const

/** Terms of a quote stream. The names of times state their unit. */
export class StreamTerms extends Schema.Opaque<StreamTerms>()(
  Schema.Struct({
    inputMint,
    outputMint,
    amount,
    outputDecimals: field(Schema.NullOr(Decimals), "Decimals of outputMint as sent by the caller; null when not sent."),
    swapMode: field(
      Schema.optionalKey(Schema.Literal("exactOut")),
      "`exactOut`: amount is what outputMint has to pay. Absent: amount is what is sold."
    ),
    slippageBps: SlippageBps,
    intervalMs: field(Schema.Int, "Milliseconds between ticks."),
    durationSeconds: field(Schema.Int, "Seconds until the stream closes."),
    changesOnly: field(Schema.Boolean, "True when only changed quotes are sent.")
  })
) {}

/** The first frame: the configuration, and the budget before the first tick. */
export class OpenFrame extends Schema.Opaque<OpenFrame>()(
  Schema.Struct({
    ...base,
    ...StreamTerms.fields,
    endsAtMs: field(Schema.Int, "Time at which the stream closes, in milliseconds since the Unix epoch."),
    costPerTick: field(Schema.Literal(1), "Units of the budget that each tick costs."),
    budget: field(
      Schema.Struct({
        limit: field(Schema.Int, "Most units of the budget in one window."),
        remaining: field(Schema.Int, "Units of the budget that are left; never below 0."),
        resetAtMs: field(
          Schema.Int,
          "Time at which the oldest counted unit leaves the window, in milliseconds since the Unix epoch."
        )
      }),
      "The budget when the stream begins."
    )
  }).annotate({ identifier: "OpenFrame", description: "The configuration of the stream." })
) {}

/** What differs from the previous quote. `first` occurs alone. */
export const Change = Schema.Literals(["outAmount", "inAmount", "route", "clamped", "first"])
export type Change = typeof Change.Type

/** Fields of a priced tick, without its place in a stream. */
export const quoteTick = {
  tick,
  changed: field(Schema.Array(Change), "What changed since the previous quote."),
  budgetRemaining: field(Schema.Int, "Units of the budget that are left."),
  quote: SpotQuote
} as const

/** Fields of a tick that could not be priced. */
export const failedTick = {
  tick,
  error: field(
    Schema.Struct({
      code: field(Schema.String, "Stable code of the error."),
      message: field(Schema.String, "Explanation for people; it may change at any time.")
    }),
    "Why this tick has no quote."
  ),
  requestId,
  retryable: field(Schema.Boolean, "True when the same stream may be opened again.")
} as const

/** Fields of a tick that did not fit into the budget. */
export const throttledTick = {
  tick,
  limit: field(Schema.Int, "Most units of the budget in one window."),
  remaining: field(Schema.Int, "Units of the budget that are left; never below 0."),
  resetAtMs: field(Schema.Int, "When a unit becomes free."),
  retryAfterMs: field(Schema.Int, "Milliseconds until the cost fits again."),
  nextTickAtMs: field(Schema.Int, "The first grid point after that time.")
} as const

export class QuoteFrame extends Schema.Opaque<QuoteFrame>()(
  Schema.Struct({ ...base, ...quoteTick }).annotate({
    identifier: "QuoteFrame",
    description: "A tick that was priced."
  })
) {}

export class ErrorFrame extends Schema.Opaque<ErrorFrame>()(
  Schema.Struct({ ...base, ...failedTick }).annotate({
    identifier: "ErrorFrame",
    description: "A tick that could not be priced; the stream goes on."
  })
) {}

export class ThrottledFrame extends Schema.Opaque<ThrottledFrame>()(
  Schema.Struct({ ...base, ...throttledTick }).annotate({
    identifier: "ThrottledFrame",
    description: "The budget is spent. Ticks resume when it has room."
  })
) {}

/** Why a stream ended. */
export const CloseReason = Schema.Literals(["completed", "server_shutdown", "key_revoked", "failed", "slow_consumer"])
export type CloseReason = typeof CloseReason.Type

export class CloseFrame extends Schema.Opaque<CloseFrame>()(
  Schema.Struct({
    ...base,
    reason: field(CloseReason, "Why the stream ended."),
    ticks: field(Schema.Int, "Ticks that were started."),
    emitted: field(Schema.Int, "Quotes that were sent."),
    suppressed: field(Schema.Int, "Priced quotes that were not sent because nothing had changed."),
    errors: field(Schema.Int, "Number of ticks that could not be priced."),
    throttledTicks: field(Schema.Int, "Ticks that were left out because the budget was spent."),
    skippedTicks: field(
      Schema.Int,
      "Grid points that passed while the previous tick was still running. They are never charged."
    ),
    unitsCharged: field(Schema.Int, "Units charged for the stream, minus refunds."),
    lastQuoteAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time of the last quote, in milliseconds since the Unix epoch; null when none was sent."
    )
  }).annotate({ identifier: "CloseFrame", description: "The end of the stream, with its totals." })
) {}

/** A frame by the name of its event. */
export type Frame =
  | { readonly event: "open"; readonly data: OpenFrame }
  | { readonly event: "quote"; readonly data: QuoteFrame }
  | { readonly event: "error"; readonly data: ErrorFrame }
  | { readonly event: "throttled"; readonly data: ThrottledFrame }
  | { readonly event: "close"; readonly data: CloseFrame }
