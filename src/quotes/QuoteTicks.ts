/** Prices the ticks of quote streams and the quotes on the market socket. */
import { Context, Effect, Layer } from "effect"
import type { QuoteRequest } from "../api/schemas/Quote.ts"
import type { StreamTerms } from "../api/schemas/QuoteStream.ts"
import { QuoteEngine } from "./QuoteEngine.ts"
import { sharedQuotes, type TickQuote } from "./sharedQuotes.ts"
import { makeTimerWheel, type TimerWheel } from "./timerWheel.ts"

type Quote = QuoteEngine["Service"]["quote"]

/** The quote request that a stream repeats at every tick. */
export const tickRequest = ({
  amount,
  inputMint,
  outputDecimals,
  outputMint,
  slippageBps,
  swapMode
}: Pick<
  StreamTerms,
  "amount" | "inputMint" | "outputDecimals" | "outputMint" | "slippageBps" | "swapMode"
>): QuoteRequest => ({
  inputMint,
  outputMint,
  amount,
  swapMode,
  slippageBps,
  outputDecimals: outputDecimals ?? undefined
})

/** Prices ticks for all transports. Equal ticks at the same moment are priced once, and timers are shared. */
export class QuoteTicks extends Context.Service<
  QuoteTicks,
  {
    /** Prices the first tick. Its result decides whether the stream opens. */
    readonly quote: Quote
    /** Prices later ticks. Equal ticks within 5 ms get the same quote. */
    readonly tickQuote: TickQuote
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
