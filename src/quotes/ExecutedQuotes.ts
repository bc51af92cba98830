/** What quotes need from execution: a route over venues whose program is executed, where it pays more. */
import { Context, type Effect, Layer } from "effect"
import type { QuoteRefusal, QuoteRequest } from "../api/schemas/Quote.ts"
import type { PoolBook } from "./pools/PoolBook.ts"
import type { Moment, PricedRoute } from "./spotQuote.ts"

/** A route or a refusal, as a finder gives it. */
export type Found = PricedRoute | QuoteRefusal

/** How an engine's routes over executed venues look. */
export interface ExecutedTerms {
  /** The service's fee on the SOL leg. */
  readonly feeBps: bigint
  /** True when a route has one swap only. */
  readonly isDirect: boolean
}

/**
 * Looks for more than what was found without execution. Null when no executed venue trades the pair, so that the answer
 * is known at once. The effect never fails, and gives `found` back when nothing pays more in time.
 */
export type Improve = (
  book: PoolBook["Service"],
  request: QuoteRequest,
  found: Found,
  moment: Moment,
  terms: ExecutedTerms
) => Effect.Effect<Found> | null

/** The executions of this process. */
export interface ExecutedQuotes {
  readonly improve: Improve
  readonly install: (improve: Improve) => void
}

const none: Improve = () => null

/** Without a layer, nothing is executed. */
export const ExecutedQuotes = Context.Reference<ExecutedQuotes>("fathom/quotes/ExecutedQuotes", {
  defaultValue: () => ({ improve: none, install: () => undefined })
})

/** Starts without executions. `install` adds them. */
export const layer: Layer.Layer<never> = Layer.sync(ExecutedQuotes, () => {
  let installed = none
  return {
    improve: (...given) => installed(...given),
    install: (improve) => {
      installed = improve
    }
  }
})
