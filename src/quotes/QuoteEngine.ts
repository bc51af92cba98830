import { Context, type Effect } from "effect"
import type { QuoteRefusal, QuoteRequest, SpotQuote } from "../domain/Quote.ts"

/** Prices a trade against the pools in memory. Never waits for the chain. */
export class QuoteEngine extends Context.Service<
  QuoteEngine,
  {
    quote(request: QuoteRequest): Effect.Effect<SpotQuote, QuoteRefusal>
  }
>()("fathom/quotes/QuoteEngine") {}
