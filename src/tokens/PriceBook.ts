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
import { medianPrice, midRate, payable } from "./poolPrice.ts"

/** What one smallest unit of a mint is worth, exactly. Null where no pool says. */
export interface UnitPrice {
  /** Lamports. */
  readonly sol: Rational | null
  /** Millionths of a USDC, which counts as a dollar. */
  readonly usd: Rational | null
}

/** Prices of one moment: nothing is written between two of them. */
export interface Prices {
  /** Null when the pools of the mint are not loaded. */
  readonly of: (mint: Mint) => UnitPrice | null
  /** How long the prices hold, going by the feed; null before the chain was heard. */
  readonly lifetime: Lifetime | null
  /** Whether they are too old to be told. */
  readonly isStale: boolean
  /** Milliseconds since the chain was last heard. */
  readonly silentMs: number
  readonly clock: ChainClock
}

/**
 * Prices from the pools in memory that trade a mint against SOL or USDC. Of the mid rates of all of them the median
 * counts, each pool weighted with what it could pay out on its SOL or USDC side: an exact price that one pool really has.
 * SOL itself is priced in USDC in the same way. A mint that trades against neither has no price.
 */
export class PriceBook extends Context.Service<
  PriceBook,
  {
    /** Read synchronously. */
    readonly at: (nowMs: number) => Prices
    /** Asks that what the mint is priced from be loaded. Queues and returns. */
    warm(mint: Mint): Effect.Effect<void>
  }
>()("fathom/tokens/PriceBook") {
  /** Prices are stale once the chain has been silent for `STALE_AFTER`. Keeps the pools of USDC loaded. */
  static readonly layer: Layer.Layer<PriceBook, Config.ConfigError, ChainFeed | PoolBook> = Layer.effect(
    PriceBook,
    Effect.gen(function* () {
      const feed = yield* ChainFeed
      const book = yield* PoolBook
      const staleAfterMs = Duration.toMillis(yield* staleAfter)
      const solPrice = rememberSolPrice()

      const warm = (mint: Mint) => Effect.andThen(book.warm(USDC), book.warm(mint))
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

/** A pool's say: its mid rate in units of the quote, weighted with the money behind it in the same units. */
const sayOf = (pool: Pool, mint: Mint, quote: Mint, clock: ChainClock) => {
  const price = midRate(pool, mint, clock)
  const money = payable(pool, quote, clock)
  // Plus one, because a curve that nobody has bought from has a price before it has money.
  return price === null || money === null ? [] : [{ price, weight: money + 1n, quote }]
}

const saysOf = (book: PoolBook["Service"], mint: Mint, quote: Mint, clock: ChainClock) =>
  (book.between(mint, quote)?.pools ?? []).flatMap((pool) => sayOf(pool, mint, quote, clock))

/** Micro-USDC for a lamport. Asked for with every price and the same for a whole slot, so the last answer is kept. */
const rememberSolPrice = () => {
  let last:
    | { readonly pools: MintPools | null; readonly clock: ChainClock; readonly price: Rational | null }
    | undefined
  return (pools: MintPools | null, clock: ChainClock): Rational | null => {
    if (last === undefined || last.pools !== pools || last.clock !== clock) {
      const says = (pools?.pools ?? []).flatMap((pool) => sayOf(pool, SOL, USDC, clock))
      const chosen = medianPrice(says)
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
  const inSol = saysOf(book, mint, SOL, clock)
  const inUsdc = saysOf(book, mint, USDC, clock)
  if (solUsd === null) {
    // Without a rate between the two, pools against SOL and pools against USDC cannot be weighed against each other.
    return { sol: medianPrice(inSol)?.price ?? null, usd: medianPrice(inUsdc)?.price ?? null }
  }
  const inUsd = inSol.map(({ price, weight, quote }) => ({
    price: multiply(price, solUsd),
    weight: (weight * solUsd.numerator) / solUsd.denominator + 1n,
    quote,
    sol: price
  }))
  const chosen = medianPrice([...inUsd, ...inUsdc.map((say) => ({ ...say, sol: divide(say.price, solUsd) }))])
  return chosen === null ? { sol: null, usd: null } : { sol: chosen.sol, usd: chosen.price }
}
