import { type Config, Context, Duration, Effect, Layer } from "effect"
import type { Pool } from "../programs/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import { type Mint, SOL, USDC } from "../domain/Address.ts"
import { divide, multiply, type Rational, reduce, whole } from "../domain/rational.ts"
import type { Lifetime } from "../domain/Scalar.ts"
import { silence, staleness } from "../pools/freshness.ts"
import type { MintPools } from "../pools/MintPools.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import { ChainFeed, type Freshness } from "../solana/accounts/ChainFeed.ts"
import { staleAfter } from "../solana/accounts/chainSettings.ts"
import { depthOf, medianPrice, midRate, weightOf } from "./poolPrice.ts"

/** The exact price of one smallest unit of a mint. Null without a pool. */
export interface UnitPrice {
  /** Lamports. */
  readonly sol: Rational | null
  /** Millionths of a USDC, which counts as a dollar. */
  readonly usd: Rational | null
}

/** A consistent set of prices: pool state does not change between two reads. */
export interface Prices {
  /** Null when the pools of the mint are not loaded. */
  readonly of: (mint: Mint) => UnitPrice | null
  /** Observation and expiry of the prices by the feed; null before the first update. */
  readonly lifetime: Lifetime | null
  /** True if the prices are too old to publish. */
  readonly isStale: boolean
  /** Milliseconds since the last update of the feed. */
  readonly silentMs: number
  readonly clock: ChainClock
}

/**
 * Prices from the pools in memory that trade a mint against SOL or USDC: the weighted median of their mid rates, each
 * pool weighted by what it can pay out on its SOL or USDC side. So a price is the exact mid rate of one pool. SOL is
 * priced in USDC in the same way. A mint that trades against neither has no price.
 */
export class PriceBook extends Context.Service<
  PriceBook,
  {
    /** Read synchronously. */
    readonly at: (nowMs: number) => Prices
    /** Queues the pools that price the mint for loading, and returns. */
    warm(mint: Mint): Effect.Effect<void>
  }
>()("fathom/tokens/PriceBook") {
  /** Prices are stale once the feed is silent for `STALE_AFTER`. Keeps the pools of USDC loaded. */
  static readonly layer: Layer.Layer<PriceBook, Config.ConfigError, ChainFeed | PoolBook> = Layer.effect(
    PriceBook,
    Effect.gen(function* () {
      const feed = yield* ChainFeed
      const book = yield* PoolBook
      const staleAfterMs = Duration.toMillis(yield* staleAfter)
      const solPrice = rememberSolPrice()

      const warm = (mint: Mint) => Effect.asVoid(Effect.andThen(book.warm(USDC), book.warm(mint)))
      yield* book.warm(USDC)

      const at = (nowMs: number): Prices => {
        const freshness = feed.freshness()
        const clock = feed.clock()
        const solUsd = solPrice(book.between(SOL, USDC), clock)
        const known = new Map<Mint, UnitPrice | null>()
        const priceOf = (mint: Mint): UnitPrice | null => {
          const price = known.get(mint) ?? priceIn(book, mint, solUsd, clock)
          known.set(mint, price)
          return price
        }
        return {
          of: priceOf,
          lifetime: lifetimeOf(freshness, staleAfterMs),
          isStale: staleness(freshness, nowMs, staleAfterMs) !== null,
          silentMs: silence(freshness, nowMs),
          clock
        }
      }
      return PriceBook.of({ at, warm })
    })
  )
}

const lifetimeOf = ({ heardAtMs, state }: Freshness, staleAfterMs: number): Lifetime | null =>
  heardAtMs === null
    ? null
    : { observedAtMs: heardAtMs, expiresAtMs: state === "recorded" ? null : heardAtMs + staleAfterMs }

/** The mid rate of a pool in units of the quote, weighted by its quote side; empty without a rate. */
const rateIn = (pool: Pool, mint: Mint, quote: Mint, clock: ChainClock) => {
  const price = midRate(pool, mint, clock)
  const money = weightOf(depthOf(pool, mint, clock))
  // Plus one, because a bonding curve without purchases has a price but no quote reserve.
  return price === null ? [] : [{ price, weight: money + 1n, quote }]
}

const ratesOf = (book: PoolBook["Service"], mint: Mint, quote: Mint, clock: ChainClock) =>
  (book.between(mint, quote)?.pools ?? []).flatMap((pool) => rateIn(pool, mint, quote, clock))

/** Micro-USDC per lamport. The last result is kept, because it is read with every price and changes once per slot. */
const rememberSolPrice = () => {
  let last:
    | { readonly pools: MintPools | null; readonly clock: ChainClock; readonly price: Rational | null }
    | undefined
  return (pools: MintPools | null, clock: ChainClock): Rational | null => {
    if (last === undefined || last.pools !== pools || last.clock !== clock) {
      const rates = (pools?.pools ?? []).flatMap((pool) => rateIn(pool, SOL, USDC, clock))
      const chosen = medianPrice(rates)
      last = { pools, clock, price: chosen === null ? null : reduce(chosen.price) }
    }
    return last.price
  }
}

const priceIn = (
  book: PoolBook["Service"],
  mint: Mint,
  solUsd: Rational | null,
  clock: ChainClock
): UnitPrice | null => {
  if (mint === SOL) {
    return { sol: whole(1n), usd: solUsd }
  }
  if (mint === USDC) {
    return { sol: solUsd === null ? null : divide(whole(1n), solUsd), usd: whole(1n) }
  }
  if (!book.isLoaded(mint)) {
    return null
  }
  const inSol = ratesOf(book, mint, SOL, clock)
  const inUsdc = ratesOf(book, mint, USDC, clock)
  if (solUsd === null) {
    // Without a SOL price, weights in SOL and in USDC cannot be compared.
    return { sol: medianPrice(inSol)?.price ?? null, usd: medianPrice(inUsdc)?.price ?? null }
  }
  const inUsd = inSol.map(({ price, weight, quote }) => ({
    price: multiply(price, solUsd),
    weight: (weight * solUsd.numerator) / solUsd.denominator + 1n,
    quote,
    sol: price
  }))
  const chosen = medianPrice([...inUsd, ...inUsdc.map((rate) => ({ ...rate, sol: divide(rate.price, solUsd) }))])
  return chosen === null ? { sol: null, usd: null } : { sol: chosen.sol, usd: chosen.price }
}
