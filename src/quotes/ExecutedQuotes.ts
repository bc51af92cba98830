/** What quotes need from execution: a route over venues whose program is executed, where it pays more. */
import { Context, Effect, Layer } from "effect"
import type { QuoteRefusal, QuoteRequest, SpotQuote } from "../api/schemas/Quote.ts"
import type { RouteSimulation } from "../api/schemas/RouteSimulation.ts"
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

/** Runs the route of a quote with its programs, as one transaction. Never fails. */
export type Simulate = (quote: SpotQuote) => Effect.Effect<RouteSimulation>

/** What a process does that executes programs. */
export interface Executions {
  readonly improve: Improve
  readonly simulate: Simulate
}

/** The executions of this process. */
export interface ExecutedQuotes extends Executions {
  /** Replaces the executions; null removes them. */
  readonly install: (executions: Executions | null) => void
}

const none: Executions = {
  improve: () => null,
  simulate: () =>
    Effect.succeed({
      state: "not_executed",
      atSlot: null,
      hops: [],
      outAmount: null,
      computeUnits: null,
      differsAt: null,
      detail: "This process executes no programs (EXECUTE_BUDGET)."
    })
}

/** Without a layer, nothing is executed. */
export const ExecutedQuotes = Context.Reference<ExecutedQuotes>("fathom/quotes/ExecutedQuotes", {
  defaultValue: () => ({ ...none, install: () => undefined })
})

/** Starts without executions. `install` adds them. */
export const layer: Layer.Layer<never> = Layer.sync(ExecutedQuotes, () => {
  let installed = none
  return {
    improve: (...given) => installed.improve(...given),
    simulate: (quote) => installed.simulate(quote),
    install: (executions) => {
      installed = executions ?? none
    }
  }
})
