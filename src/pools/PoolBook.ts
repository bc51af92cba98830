import { type Config, Context, Effect, Latch, Layer } from "effect"
import type { Pool, Program, Rate } from "../programs/Program.ts"
import { followedPrograms } from "../programs/registry.ts"
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import type { CoverageReason } from "../domain/Scalar.ts"
import { Readings } from "../health/Readings.ts"
import { type ChainEvent, ChainFeed } from "../solana/accounts/ChainFeed.ts"
import { ChainHub } from "../solana/accounts/ChainHub.ts"
import { makeDeriveAddress } from "../solana/programAddress.ts"
import { type Loading, makePoolDiscovery } from "./poolDiscovery.ts"
import type { MintPools } from "./MintPools.ts"
import { PoolCache } from "./PoolCache.ts"
import type { PoolGraph } from "./PoolGraph.ts"
import { refreshPools } from "./refreshPools.ts"

const NO_POOLS: MintPools = { pools: [], refused: [] }

const lackingIn = (cache: PoolCache, mint: Mint): CoverageReason | null => {
  if (cache.isPartial(mint)) {
    return "not_captured"
  }
  if (cache.poolsOf(mint).refused.some(({ reason }) => reason === "incomplete")) {
    return "backfill_running"
  }
  return cache.leftOut(mint) > 0 ? "limit_clipped" : null
}

/** Every pool in memory, decoded. One fiber writes; reads are synchronous. */
export class PoolBook extends Context.Service<
  PoolBook,
  {
    /** Pools that trade both mints; null while the pair is cold (not loaded yet). */
    readonly between: (a: Mint, b: Mint) => MintPools | null
    /** Every priced pool that trades the mint. */
    readonly poolsOf: (mint: Mint) => ReadonlyArray<Pool>
    /**
     * True once the mint's pools have been discovered and read, or were found not to exist within the last 60 s. Always true
     * for SOL: its pools belong to the other mint.
     */
    readonly isLoaded: (mint: Mint) => boolean
    /** Pools of the mint that are known and left out, because it has more than `POOLS_PER_MINT`. */
    readonly leftOut: (mint: Mint) => number
    /**
     * Reason why the pools of a loaded mint are not all that it has: `not_captured` where the node refused to search a program,
     * and always for SOL, whose pools are those of the mints in memory; `backfill_running` while accounts of a pool are not read;
     * `limit_clipped` where pools were left out. Null where they are all.
     */
    readonly lacking: (mint: Mint) => CoverageReason | null
    /** Share of the way to the end of the curve that sells the mint, priced or not; null where none is in memory or states it. */
    readonly graduationOf: (mint: Mint) => Rate | null
    /** The priced pool of an address; null while it is not in memory, as before its mint was asked for. */
    readonly poolAt: (address: Address) => Pool | null
    /** Every priced pool as a graph, independent of the mint it was loaded for. */
    readonly graph: PoolGraph
    /**
     * Queues the mint's pools to be loaded and watched, and returns their state at once; repeated calls are free. A key (the
     * `Requester`) may have 32 mints pending; asked mints are loaded before any is searched again, and keys take turns.
     */
    warm(mint: Mint): Effect.Effect<Loading>
    /** Notes a pool that a trade of a mint names. A loaded mint that lacks it gets it soon, without a search. */
    learn(mint: Mint, pool: Address): void
  }
>()("fathom/pools/PoolBook") {
  /**
   * Pools of the given programs. Settings: `POOLS_PER_MINT` (512) bounds the watched pools of one mint (those with the largest reserves are kept), `WARM_MINTS` (2000)
   * the mints in memory (first out those not used since they were loaded, then the least recently used), `POOL_REFRESH` (60 s) is the least interval between two discoveries of
   * the pools of a warm mint, `DISCOVERY_RATE` (5 beside a node) the searches a second, of which a mint needs one for each filter of a program that the `PoolIndex` does not have as a whole.
   */
  static readonly layerPrograms = (
    served: ReadonlyArray<Program>
  ): Layer.Layer<PoolBook, Config.ConfigError, ChainFeed> =>
    Layer.effect(
      PoolBook,
      Effect.gen(function* () {
        const feed = yield* ChainFeed
        const hub = yield* ChainHub
        const derive = makeDeriveAddress()
        const cache = new PoolCache(derive)
        const changed = yield* Latch.make()

        const take = (event: ChainEvent) =>
          Effect.sync(() => cache.apply(event)).pipe(
            Effect.catchDefect((defect) => {
              // The state of every pool is unknown after a partly applied event; requests load them again.
              cache.wanted().forEach((mint) => cache.forget(mint))
              return Effect.logError("Every pool was dropped: an event could not be applied", defect)
            }),
            Effect.andThen(Effect.sync(() => changed.openUnsafe()))
          )
        const refresh = yield* refreshPools(cache, yield* hub.join(take), changed)
        const discovery = yield* makePoolDiscovery(cache, feed, served, derive, refresh)
        yield* (yield* Readings).report(
          { name: "fathom_pools", help: "Mints and pools that are kept for quotes.", kind: "gauge" },
          () => Object.entries(cache.size).map(([kept, value]) => ({ value, labels: { kept } }))
        )

        return PoolBook.of({
          between: (a, b) => cache.between(a, b) ?? (discovery.isAbsent(a) || discovery.isAbsent(b) ? NO_POOLS : null),
          poolsOf: (mint) => cache.poolsOf(mint).pools,
          isLoaded: (mint) => mint === SOL || cache.isReady(mint) || discovery.isAbsent(mint),
          leftOut: (mint) => cache.leftOut(mint),
          lacking: (mint) => (mint === SOL ? "not_captured" : lackingIn(cache, mint)),
          graduationOf: (mint) => {
            const { pools, refused } = cache.poolsOf(mint)
            const priced = pools.find(({ graduation, mintA }) => graduation !== undefined && mintA === mint)
            const stated = refused.find(({ graduation, mints }) => graduation !== undefined && mints?.[0] === mint)
            return priced?.graduation ?? stated?.graduation ?? null
          },
          poolAt: (address) => cache.poolAt(address),
          graph: { partnersOf: (mint) => cache.partnersOf(mint), poolsBetween: (a, b) => cache.pairOf(a, b).pools },
          learn: discovery.learn,
          // Most pools trade SOL: they are loaded with the other mint.
          warm: (mint) => (mint === SOL ? Effect.succeed({ _tag: "Loaded" }) : discovery.warm(mint))
        })
      })
    ).pipe(Layer.provide(ChainHub.layer))

  /** Pools of every program that is followed. */
  static readonly layer: Layer.Layer<PoolBook, Config.ConfigError, ChainFeed> = Layer.suspend(() =>
    PoolBook.layerPrograms(followedPrograms)
  )
}
