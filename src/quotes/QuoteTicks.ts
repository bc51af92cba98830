/** Prices of the ticks of quote streams and of quotes on the market socket. */
import { Context, Effect, Layer } from "effect"
import type { QuoteRequest } from "../domain/quotes/Quote.ts"
import type { StreamTerms } from "../domain/quotes/QuoteStream.ts"
import { QuoteEngine } from "./QuoteEngine.ts"
import { sharedQuotes } from "./sharedQuotes.ts"
import { makeTimerWheel, type TimerWheel } from "./timerWheel.ts"

type Quote = QuoteEngine["Service"]["quote"]

/** The quote request of every tick of a stream. */
export const tickRequest = ({
  amount,
  inputMint,
  outputDecimals,
  outputMint,
  slippageBps
}: Pick<StreamTerms, "amount" | "inputMint" | "outputDecimals" | "outputMint" | "slippageBps">): QuoteRequest => ({
  inputMint,
  outputMint,
  amount,
  slippageBps,
  outputDecimals: outputDecimals ?? undefined
})

/** One pricing of ticks for all transports: equal ticks of a moment are priced once, and timers are shared. */
export class QuoteTicks extends Context.Service<
  QuoteTicks,
  {
    /** Prices a first tick, which decides about the request. */
    readonly quote: Quote
    /** Prices later ticks; equal ones within 5 ms get the same quote. */
    readonly tickQuote: Quote
    readonly wheel: TimerWheel
  }
>()("fathom/quotes/QuoteTicks") {
  static readonly layer: Layer.Layer<QuoteTicks, never, QuoteEngine> = Layer.effect(
    QuoteTicks,
    Effect.gen(function* () {
      const { quote } = yield* QuoteEngine
      return QuoteTicks.of({ quote, tickQuote: sharedQuotes(quote), wheel: yield* makeTimerWheel })
    })
  )
}
