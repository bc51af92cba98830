import { Console, Effect, Layer, Schedule, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { Address } from "../../domain/Address.ts"
import { type QuoteRequest, SpotQuote } from "../../domain/quotes/Quote.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { accounts, settings } from "./flags.ts"

// Other commands load no pools and no engine.
const quotes = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("../App.ts")),
    ({ standaloneQuotes }) => standaloneQuotes
  )
)

const SLIPPAGE_BPS = 50

const asJson = Schema.encodeEffect(Schema.fromJsonString(SpotQuote))

/** One quote as JSON. Waits up to 20 seconds for the pools to be read. */
const quoteOnce = (trade: Pick<QuoteRequest, "inputMint" | "outputMint" | "amount">) =>
  QuoteEngine.use((engine) => engine.quote({ ...trade, slippageBps: SLIPPAGE_BPS })).pipe(
    Effect.retry({
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 400 })),
      while: ({ _tag }) => _tag === "StateCold" || _tag === "StateStale"
    }),
    Effect.flatMap(asJson),
    Effect.provide(quotes)
  )

const mint = (name: string) => Argument.String(name).pipe(Argument.withSchema(Address))

/** `quote`: prices one trade, without HTTP or a database. */
export const command = Command.make(
  "quote",
  {
    inputMint: mint("input-mint"),
    outputMint: mint("output-mint"),
    amount: Argument.String("amount").pipe(Argument.withSchema(Schema.BigIntFromString)),
    accounts
  },
  ({ accounts, ...request }) =>
    quoteOnce(request).pipe(
      Effect.flatMap((text) => Console.log(text)),
      Effect.provide(settings({ ACCOUNTS_DIR: accounts }))
    )
).pipe(Command.withDescription("Price one trade from the configured chain and leave"))
