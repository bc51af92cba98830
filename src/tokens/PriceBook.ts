import { type Config, Context, Duration, Effect, Layer } from "effect"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import { type Mint, SOL, USDC } from "../domain/Address.ts"
import type { Lifetime } from "../domain/Scalar.ts"
import { silence, staleness } from "../quotes/pools/freshness.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import { ChainFeed, type Freshness } from "../chain/ChainFeed.ts"
import { staleAfter } from "../chain/accounts/chainSettings.ts"
import { makeHubLoading } from "./hubLoading.ts"
import { makePoolEdges } from "./poolEdges.ts"
import { settings } from "./priceSettings.ts"
import { rememberMoney, type UnitPrice, unitPrices } from "./unitPrices.ts"

export type { PriceEvidence, UnitPrice } from "./unitPrices.ts"

/** A consistent set of prices: pool state does not change between two reads. */
export interface Prices {
  /** Null when the pools of the mint are not loaded. */
  readonly of: (mint: Mint) => UnitPrice | null
  /** When the feed was last heard, and when the prices expire; null before the first update. */
  readonly lifetime: Lifetime | null
  /** True if the prices are too old to publish. */
  readonly isStale: boolean
  /** Milliseconds since the last update of the feed. */
  readonly silentMs: number
  readonly clock: ChainClock
}

/**
 * Prices from the pools in memory. The price of a mint is the weighted median of the mid rates of its pools. The weight
 * of a pool is its depth within 2 % of its price. A pool against SOL or a stable coin gives a price directly. A pool
 * against another mint gives a price through at most two more pools, with the smallest depth on the way as its weight.
 * So every price is the exact product of the mid rates on one path. A stable coin counts as a dollar unless its pools
 * deviate by more than `STABLE_TOLERANCE_BPS`.
 */
export class PriceBook extends Context.Service<
  PriceBook,
  {
    /** Prices as of `nowMs`, read synchronously. */
    readonly at: (nowMs: number) => Prices
    /** Queues the pools that price the mint for loading, and returns. */
    warm(mint: Mint): Effect.Effect<void>
  }
>()("fathom/tokens/PriceBook") {
  /**
   * Prices are stale once the feed has been silent for `STALE_AFTER`. The pools of USDC are always loaded. The pools of
   * other stable coins (`STABLE_MINTS`) and hubs (`PRICE_HUBS`) are loaded with the first price that passes through
   * them, and stay loaded.
   */
  static readonly layer: Layer.Layer<PriceBook, Config.ConfigError, ChainFeed | PoolBook> = Layer.effect(
    PriceBook,
    Effect.gen(function* () {
      const { hubs, ...pegs } = yield* settings
      const feed = yield* ChainFeed
      const book = yield* PoolBook
      const staleAfterMs = Duration.toMillis(yield* staleAfter)
      const edgesAt = makePoolEdges(book.graph)
      const moneyAt = rememberMoney(book.graph, edgesAt, pegs)
      const loading = yield* makeHubLoading(book, new Set([...pegs.stables, ...hubs]))

      // SOL has no price until the pools of the reference are loaded: the first pool to arrive must not set it alone.
      const [reference = USDC] = pegs.stables
      const moneyOf = (clock: ChainClock) =>
        book.isLoaded(reference) ? moneyAt(clock) : { ...moneyAt(clock), sol: null }

      const warm = (mint: Mint) => Effect.asVoid(Effect.andThen(book.warm(USDC), book.warm(mint)))
      yield* book.warm(USDC)

      const priceOf = (mint: Mint, priced: (mint: Mint) => UnitPrice, nowMs: number): UnitPrice | null => {
        const isMoney = mint === SOL || pegs.stables.includes(mint)
        if (!isMoney && !book.isLoaded(mint)) {
          return null
        }
        const price = priced(mint)
        if (!isMoney) {
          // Marks the mint as used, so that it stays in memory.
          book.between(mint, SOL)
          loading.want(mint, price.usd !== null || price.sol !== null, nowMs)
        }
        return price
      }

      const at = (nowMs: number): Prices => {
        const freshness = feed.freshness()
        const clock = feed.clock()
        const known = new Map<Mint, UnitPrice | null>()
        let priced: ((mint: Mint) => UnitPrice) | undefined
        const of = (mint: Mint): UnitPrice | null => {
          const before = known.get(mint)
          if (before !== undefined) {
            return before
          }
          priced ??= unitPrices(edgesAt(clock), hubs, moneyOf(clock))
          const price = priceOf(mint, priced, nowMs)
          known.set(mint, price)
          return price
        }
        return {
          of,
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
