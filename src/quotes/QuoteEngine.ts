import { Clock, Config, Context, Duration, Effect, Layer, Random, Result } from "effect"
import { NoRoute, type QuoteRefusal, type QuoteRequest, type SpotQuote, StateCold } from "../domain/Quote.ts"
import { uuidV4 } from "../domain/uuid.ts"
import { ChainFeed } from "../solana/ChainFeed.ts"
import { bestDirect } from "./bestDirect.ts"
import { candidates, tokenOf, unsupportedShape } from "./directRoute.ts"
import { staleness } from "./freshness.ts"
import { PoolBook } from "./PoolBook.ts"
import { proceeds, spotQuote } from "./spotQuote.ts"

/** A priced trade, or why there is none. */
export type Priced = Result.Result<SpotQuote, QuoteRefusal>

/** Prices a trade against the pools in memory. Never waits for the chain. */
export class QuoteEngine extends Context.Service<
  QuoteEngine,
  {
    quote(request: QuoteRequest): Effect.Effect<SpotQuote, QuoteRefusal>
    /** Prices several trades at one moment, in order. Nothing is written in between. */
    quoteAll(requests: ReadonlyArray<QuoteRequest>): Effect.Effect<ReadonlyArray<Priced>>
  }
>()("fathom/quotes/QuoteEngine") {
  /** Direct pools with a SOL leg, from this process's memory. Quotes nothing once the chain has been silent for `STALE_AFTER`. */
  static readonly layerNative: Layer.Layer<QuoteEngine, Config.ConfigError, ChainFeed | PoolBook> = Layer.effect(
    QuoteEngine,
    Effect.gen(function* () {
      const feed = yield* ChainFeed
      const book = yield* PoolBook
      const staleAfter = yield* Config.Duration("STALE_AFTER").pipe(Config.withDefault(Duration.seconds(10)))
      const price = nativePricer(feed, book, Duration.toMillis(staleAfter))

      const priced = (requests: ReadonlyArray<QuoteRequest>) =>
        Effect.withFiber((fiber) => {
          const clock = fiber.getRef(Clock.Clock)
          const random = fiber.getRef(Random.Random)
          const answers = requests.map((request) => price(request, clock, random))
          const cold = answers.flatMap((answer) =>
            Result.isFailure(answer) && answer.failure._tag === "StateCold" ? [answer.failure.mint] : []
          )
          return cold.length === 0
            ? Effect.succeed(answers)
            : Effect.as(Effect.forEach(new Set(cold), book.warm, { discard: true }), answers)
        })

      const quote = (request: QuoteRequest) =>
        Effect.flatMap(priced([request]), ([answer]) =>
          answer === undefined ? Effect.die("one request has one answer") : Effect.fromResult(answer)
        )

      return QuoteEngine.of({ quote, quoteAll: priced })
    })
  )
}

const refuse = Result.fail<QuoteRefusal>

/** Judges one request in the order that callers can rely on: shape, age, coldness, route. */
const nativePricer =
  (feed: ChainFeed["Service"], book: PoolBook["Service"], staleAfterMs: number) =>
  (request: QuoteRequest, time: Clock.Clock, random: Random.Random): Priced => {
    const startedAt = time.monotonicTimeNanosUnsafe()
    const { inputMint, outputMint } = request
    const nowMs = time.currentTimeMillisUnsafe()
    const freshness = feed.freshness()
    const unfit = unsupportedShape(request) ?? staleness(freshness, nowMs, staleAfterMs)
    if (unfit !== null) {
      return refuse(unfit)
    }
    const known = book.between(inputMint, outputMint)
    const pools = known === null ? new StateCold({ mint: tokenOf(request) }) : candidates(known, request)
    if ("_tag" in pools) {
      return refuse(pools)
    }
    const clock = feed.clock()
    const best = bestDirect(pools, request, clock)
    if (best === null || proceeds(request, best) === 0n) {
      return refuse(new NoRoute({ inputMint, outputMint }))
    }
    const quote = spotQuote(request, best, { nowMs, freshness, clock })
    const requestId = uuidV4(random)
    const engineTimeMs = Math.round(Number(time.monotonicTimeNanosUnsafe() - startedAt) / 1000) / 1000
    return Result.succeed({ ...quote, requestId, engineTimeMs })
  }
