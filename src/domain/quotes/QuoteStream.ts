import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic, Decimals, SlippageBps } from "../Amount.ts"
import { SpotQuote } from "./Quote.ts"

const base = {
  streamId: Schema.String,
  seq: Schema.Int.annotate({ description: "0 for `open`, one more with every frame." }),
  atMs: Schema.Int
}

const tick = Schema.Int.annotate({ description: "Number of the grid point: `open` plus this many intervals." })

/** Milliseconds from tick to tick. */
export const INTERVAL = { minimum: 250, maximum: 60_000 } as const

/** Slippage and interval of ticks unless given. */
export const tickDefaults = { slippageBps: 50, intervalMs: 2000 } as const

/** Request of a quote stream. Times are in the unit of their name. */
export class StreamTerms extends Schema.Opaque<StreamTerms>()(
  Schema.Struct({
    inputMint: Address,
    outputMint: Address,
    amount: Atomic,
    outputDecimals: Schema.NullOr(Decimals),
    slippageBps: SlippageBps,
    intervalMs: Schema.Int,
    durationSeconds: Schema.Int,
    changesOnly: Schema.Boolean
  })
) {}

/** The first frame: the configuration, and the budget as it stood before the first tick. */
export class OpenFrame extends Schema.Opaque<OpenFrame>()(
  Schema.Struct({
    ...base,
    ...StreamTerms.fields,
    endsAtMs: Schema.Int,
    costPerTick: Schema.Literal(1),
    budget: Schema.Struct({ limit: Schema.Int, remaining: Schema.Int, resetAtMs: Schema.Int })
  }).annotate({ identifier: "OpenFrame", description: "The configuration of the stream." })
) {}

/** Differences to the quote before. `first` stands alone. */
export const Change = Schema.Literals(["outAmount", "route", "clamped", "first"])
export type Change = typeof Change.Type

/** Fields of a tick that was priced, without its place in a stream. */
export const quoteTick = {
  tick,
  changed: Schema.Array(Change),
  budgetRemaining: Schema.Int,
  quote: SpotQuote
} as const

/** Fields of a tick that was not. */
export const failedTick = {
  tick,
  error: Schema.Struct({ code: Schema.String, message: Schema.String }),
  requestId: Schema.String,
  retryable: Schema.Boolean
} as const

/** Fields of a tick that did not fit into the budget. */
export const throttledTick = {
  tick,
  limit: Schema.Int,
  remaining: Schema.Int,
  resetAtMs: Schema.Int.annotate({ description: "When a unit is free again." }),
  retryAfterMs: Schema.Int,
  nextTickAtMs: Schema.Int.annotate({ description: "The first grid point from then on." })
} as const

/** A tick that was priced. */
export class QuoteFrame extends Schema.Opaque<QuoteFrame>()(
  Schema.Struct({ ...base, ...quoteTick }).annotate({
    identifier: "QuoteFrame",
    description: "A tick that was priced."
  })
) {}

/** A tick that was not; the stream goes on. */
export class ErrorFrame extends Schema.Opaque<ErrorFrame>()(
  Schema.Struct({ ...base, ...failedTick }).annotate({
    identifier: "ErrorFrame",
    description: "A tick that could not be priced; the stream goes on."
  })
) {}

/** The budget is spent. Sent once until a tick is admitted again. */
export class ThrottledFrame extends Schema.Opaque<ThrottledFrame>()(
  Schema.Struct({ ...base, ...throttledTick }).annotate({
    identifier: "ThrottledFrame",
    description: "The budget is spent; ticks resume when it is not."
  })
) {}

/** Why a stream ended. */
export const CloseReason = Schema.Literals(["completed", "server_shutdown", "key_revoked", "failed", "slow_consumer"])
export type CloseReason = typeof CloseReason.Type

/** The last frame, and what the stream came to. */
export class CloseFrame extends Schema.Opaque<CloseFrame>()(
  Schema.Struct({
    ...base,
    reason: CloseReason,
    ticks: Schema.Int.annotate({ description: "Ticks that were started." }),
    emitted: Schema.Int,
    suppressed: Schema.Int.annotate({ description: "Priced, but not sent because nothing had changed." }),
    errors: Schema.Int,
    throttledTicks: Schema.Int,
    skippedTicks: Schema.Int.annotate({
      description: "Grid points that passed while the tick before was still running; never charged."
    }),
    unitsCharged: Schema.Int.annotate({ description: "Net of what was refunded." }),
    lastQuoteAtMs: Schema.NullOr(Schema.Int)
  }).annotate({ identifier: "CloseFrame", description: "The end of the stream and what it came to." })
) {}

/** A frame by the name of its event. */
export type Frame =
  | { readonly event: "open"; readonly data: OpenFrame }
  | { readonly event: "quote"; readonly data: QuoteFrame }
  | { readonly event: "error"; readonly data: ErrorFrame }
  | { readonly event: "throttled"; readonly data: ThrottledFrame }
  | { readonly event: "close"; readonly data: CloseFrame }
