import { Clock, Config, Context, Duration, Effect, Layer, Result } from "effect"
import { rangeSetting } from "../domain/countSetting.ts"
import { Address, type Mint, USDC } from "../domain/Address.ts"
import {
  type QuoteRefusal,
  type QuoteRequest,
  type SpotQuote,
  StateCold,
  TooManyColdMints
} from "../api/schemas/Quote.ts"
import { ChainFeed } from "../chain/ChainFeed.ts"
import { staleAfter } from "../chain/accounts/chainSettings.ts"
import { SOL_FEE_BPS } from "./directRoute.ts"
import { ExecutedQuotes, type Found, type Improve } from "./ExecutedQuotes.ts"
import { nativeFinder, type RouteFinder, routerFinder } from "./findRoute.ts"
import { staleness } from "./pools/freshness.ts"
import { PoolBook } from "./pools/PoolBook.ts"
import type { Loading } from "./pools/poolDiscovery.ts"
import { servedBook } from "./servedBook.ts"
import { spotQuote } from "./spotQuote.ts"
import { VenueProofs } from "./VenueProofs.ts"

/** A priced trade, or the reason why it has no price. */
export type Priced = Result.Result<SpotQuote, QuoteRefusal>

/**
 * Prices a trade against the pools in memory. Never waits for the chain. Waits for executed programs only where such a
 * venue trades the pair, for a tenth of a second, or a second when nothing else does.
 */
export class QuoteEngine extends Context.Service<
  QuoteEngine,
  {
    quote(request: QuoteRequest): Effect.Effect<SpotQuote, QuoteRefusal>
    /**
     * Prices several trades in order at one moment, then the trades that `next` names after it saw the answers. Nothing
     * changes in memory in between, unless programs are executed for one of them.
     */
    quoteAll(
      requests: ReadonlyArray<QuoteRequest>,
      next?: (answers: ReadonlyArray<Priced>) => ReadonlyArray<QuoteRequest>
    ): Effect.Effect<ReadonlyArray<Priced>>
    /** The only mint that exits can be measured in; null when any mint will do. */
    readonly exitMint: Mint | null
  }
>()("fathom/quotes/QuoteEngine") {
  /**
   * Direct pools with a SOL leg, from this process's memory. Refuses every quote once the chain has been silent for
   * `STALE_AFTER`. `PLATFORM_FEE_BPS` (100) is the fee on the SOL leg. At 0 the trader receives everything that the
   * pool pays.
   */
  static readonly layerNative: Layer.Layer<QuoteEngine, Config.ConfigError, ChainFeed | PoolBook> = Layer.effect(
    QuoteEngine,
    Effect.suspend(() => Effect.flatMap(platformFee, (feeBps) => makeEngine(nativeFinder(feeBps))))
  )

  /**
   * Any mint to any mint over the pools in memory, up to four hops, split over parallel pools where that pays more.
   * Always keeps the pools of `ROUTER_HUBS` (USDC) loaded, because most routes pass through them.
   */
  static readonly layerRouter: Layer.Layer<QuoteEngine, Config.ConfigError, ChainFeed | PoolBook> = Layer.effect(
    QuoteEngine,
    Effect.gen(function* () {
      const book = yield* PoolBook
      const kept = new Set(yield* hubs)
      yield* Effect.forEach(kept, book.warm, { discard: true })
      return yield* makeEngine(routerFinder(kept))
    })
  )
}

/** The refusal for a cold mint, with how far its loading is. */
const coldRefusal = (answer: Priced, loadings: ReadonlyMap<Mint, Loading>): Priced => {
  const mint = Result.isFailure(answer) && answer.failure._tag === "StateCold" ? answer.failure.mint : undefined
  const loading = mint === undefined ? undefined : loadings.get(mint)
  if (mint === undefined || loading === undefined || loading._tag === "Loaded") {
    return answer
  }
  return Result.fail(
    loading._tag === "Queued"
      ? new StateCold({ mint, readyInMs: loading.readyInMs })
      : new TooManyColdMints({ mint, fitsInMs: loading.fitsInMs })
  )
}

/** `PLATFORM_FEE_BPS` (100): the fee of native quotes in basis points of the SOL side. */
export const platformFee = rangeSetting("PLATFORM_FEE_BPS", Number(SOL_FEE_BPS), { minimum: 0, maximum: 1000 }).pipe(
  Config.map(BigInt)
)

/** `ROUTER_HUBS` (USDC): mints whose pools the router keeps loaded. */
export const hubs = Config.Array(Address, "ROUTER_HUBS").pipe(Config.withDefault([USDC]))

/** Builds an engine around a route finder. Settings are read once. */
const makeEngine = Effect.fnUntraced(function* (finder: RouteFinder) {
  const feed = yield* ChainFeed
  const book = yield* PoolBook
  const { improve } = yield* ExecutedQuotes
  const pricing = pricer(finder, feed, book, {
    staleAfterMs: Duration.toMillis(yield* staleAfter),
    proofs: yield* VenueProofs,
    improve
  })

  /** Queues the pools of cold mints and adds the state of the loading to the refusals. */
  const warmed = (answers: ReadonlyArray<Priced>): Effect.Effect<ReadonlyArray<Priced>> => {
    const cold = answers.flatMap((answer) =>
      Result.isFailure(answer) && answer.failure._tag === "StateCold" ? [answer.failure.mint] : []
    )
    return cold.length === 0
      ? Effect.succeed(answers)
      : Effect.map(
          Effect.forEach(new Set(cold), (mint) => Effect.map(book.warm(mint), (loading) => [mint, loading] as const)),
          (loadings) => answers.map((answer) => coldRefusal(answer, new Map(loadings)))
        )
  }

  const quoteAll: QuoteEngine["Service"]["quoteAll"] = (requests, next = () => []) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const priceAll = (all: ReadonlyArray<QuoteRequest>) => inOrder(all.map((request) => pricing(request, clock)))
      return Effect.flatMapEager(priceAll(requests), (answers) =>
        Effect.flatMapEager(priceAll(next(answers)), (more) => warmed([...answers, ...more]))
      )
    })

  const replied = (answer: Priced): Effect.Effect<SpotQuote, QuoteRefusal> =>
    Result.isSuccess(answer)
      ? Effect.succeed(answer.success)
      : Effect.flatMap(warmed([answer]), ([refusal = answer]) => Effect.fromResult(refusal))

  // Returns directly, without another effect, when the answer is known: every quote passes here.
  const quote = (request: QuoteRequest) =>
    Effect.withFiber((fiber): Effect.Effect<SpotQuote, QuoteRefusal> => {
      const answer = pricing(request, fiber.getRef(Clock.Clock))
      return Effect.isEffect(answer) ? Effect.flatMap(answer, replied) : replied(answer)
    })

  return QuoteEngine.of({ quote, quoteAll, exitMint: finder.exitMint })
})

/** An answer that is known at once, or one that programs are executed for. */
type Pricing = Priced | Effect.Effect<Priced>

/** The answers in order. Known at once when no program is executed for any of them. */
const inOrder = (all: ReadonlyArray<Pricing>): Effect.Effect<ReadonlyArray<Priced>> => {
  const known = all.flatMap((one) => (Effect.isEffect(one) ? [] : one))
  return known.length === all.length
    ? Effect.succeed(known)
    : Effect.forEach(all, (one) => (Effect.isEffect(one) ? one : Effect.succeed(one)), { concurrency: "unbounded" })
}

/**
 * Checks one request in order: its shape, the age of the state, then the route over pools that are computed here, then
 * routes over executed venues where there are any.
 */
const pricer = (
  finder: RouteFinder,
  feed: ChainFeed["Service"],
  book: PoolBook["Service"],
  {
    improve,
    proofs,
    staleAfterMs
  }: { readonly improve: Improve; readonly proofs: VenueProofs; readonly staleAfterMs: number }
) => {
  const served = servedBook(book, proofs)
  return (request: QuoteRequest, time: Clock.Clock): Pricing => {
    const startedAt = time.monotonicTimeNanosUnsafe()
    const nowMs = time.currentTimeMillisUnsafe()
    const freshness = feed.freshness()
    const unfit = finder.unsupportedShape(request) ?? staleness(freshness, nowMs, staleAfterMs)
    if (unfit !== null) {
      return Result.fail(unfit)
    }
    const moment = { nowMs, freshness, clock: feed.clock(), proofs }
    const answer = (route: Found): Priced => {
      if ("_tag" in route) {
        return Result.fail(route)
      }
      const quote = spotQuote(request, route, moment)
      const requestId = crypto.randomUUID()
      const engineTimeMs = Math.round(Number(time.monotonicTimeNanosUnsafe() - startedAt) / 1000) / 1000
      return Result.succeed({ ...quote, requestId, engineTimeMs })
    }
    const pools = served()
    const found = finder.find(pools, request, moment)
    const better = improve(pools, request, found, moment, finder.terms)
    return better === null ? answer(found) : Effect.map(better, answer)
  }
}
