import { Effect, Schedule, Schema } from "effect"
import { type QuoteRequest, SpotQuote } from "../../api/schemas/Quote.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { standaloneQuotes } from "../App.ts"

const SLIPPAGE_BPS = 50

const asJson = Schema.encodeEffect(Schema.fromJsonString(SpotQuote))

/** One quote as JSON. Waits up to 20 seconds for the pools to be read. */
export const quoteOnce = (trade: Pick<QuoteRequest, "inputMint" | "outputMint" | "amount">) =>
  QuoteEngine.use((engine) => engine.quote({ ...trade, slippageBps: SLIPPAGE_BPS })).pipe(
    Effect.retry({
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 400 })),
      while: ({ _tag }) => _tag === "StateCold" || _tag === "StateStale"
    }),
    Effect.flatMap(asJson),
    Effect.provide(standaloneQuotes)
  )
