// With Effect: the same client as a service, and the engine without HTTP. `node effects.ts BASE_URL KEY INPUT_MINT OUTPUT_MINT`
import { Effect, Layer, Schedule } from "effect"
import { FetchHttpClient } from "effect/http"
import { Address, PoolBook, QuoteEngine, type QuoteRefusal, SOL, type SpotQuote } from "fathom"
import { FathomClient } from "fathom/client"
import * as SimulatedMarket from "fathom/testing"

const [baseUrl = "", key = "", inputMint = "", outputMint = ""] = process.argv.slice(2)

const asked = Effect.gen(function* () {
  const client = yield* FathomClient
  const query = { inputMint: Address.make(inputMint), outputMint: Address.make(outputMint), amount: 1_000_000_000n }
  const { outAmount } = yield* client.spot.quote({ query })
  const refused = yield* client.spot
    .quote({ query: { ...query, pools: [query.outputMint] } })
    .pipe(Effect.catchTag("RouteNotFound", ({ error }) => Effect.succeed(error.code)))
  return { outAmount: `${outAmount}`, refused }
}).pipe(Effect.provide(FathomClient.layer({ baseUrl, key }).pipe(Layer.provide(FetchHttpClient.layer))))

type Market = QuoteEngine | PoolBook | SimulatedMarket.Simulator

const embedded: Effect.Effect<SpotQuote, QuoteRefusal, Market> = Effect.gen(function* () {
  const engine = yield* QuoteEngine
  const book = yield* PoolBook
  const { mints } = yield* SimulatedMarket.Simulator
  const mint = mints().find(({ address }) => address !== SOL)?.address ?? SOL
  yield* book.warm(mint)
  return yield* engine
    .quote({ inputMint: mint, outputMint: SOL, amount: 1_000_000n, slippageBps: 50 })
    .pipe(Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 }))
})

const program = Effect.gen(function* () {
  const answers = yield* asked
  const quote = yield* Effect.provide(embedded, SimulatedMarket.layer({ seed: "foreign" }))
  process.stdout.write(`${JSON.stringify({ ...answers, embedded: `${quote.outAmount}` })}\n`)
})

await Effect.runPromise(program)
