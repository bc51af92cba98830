import { type Config, Context, Effect, Latch, Layer } from "effect"
import type { Pool, Program, Rate } from "../../programs/interface/Program.ts"
import { executedPrograms, followedPrograms } from "../../programs/registry.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { CoverageReason } from "../../domain/Scalar.ts"
import { Readings } from "../../operations/Readings.ts"
import { type ChainEvent, ChainFeed } from "../../chain/ChainFeed.ts"
import { Learned } from "./LearnedPools.ts"
import { ChainHub } from "../../chain/accounts/ChainHub.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import { type Loading, makePoolDiscovery } from "./poolDiscovery.ts"
import type { MintPools } from "./MintPools.ts"
import { type HeldPool, PoolCache } from "./PoolCache.ts"
import type { PoolGraph } from "./PoolGraph.ts"
import { refreshPools } from "./refreshPools.ts"

const NO_POOLS: MintPools = { pools: [], refused: [] }

const lackingIn = (cache: PoolCache, mint: Mint): CoverageReason | null => {
  if (cache.isPartial(mint)) {
    return "not_captured"
  }
  const { pools, refused } = cache.poolsOf(mint)
  if (refused.some(({ reason }) => reason === "incomplete")) {
    return "backfill_running"
  }
  // Such a pool holds something that nobody here can value.
  if (pools.length === 0 && refused.some(({ reason }) => reason === "unsupported")) {
    return "not_captured"
  }
  return cache.leftOut(mint) > 0 ? "limit_clipped" : null
}

/** Every pool in memory, decoded. One fiber writes; reads are synchronous. */
export class PoolBook extends Context.Service<
  PoolBook,
  {
    /** Pools that trade both mints; null while the pair is cold (not loaded yet). */
    readonly between: (a: Mint, b: Mint) => MintPools | null
    /** Every pool that trades the mint and can be priced. */
    readonly poolsOf: (mint: Mint) => ReadonlyArray<Pool>
    /**
     * True once the mint's pools have been discovered and read, or when none were found within the last 60 s. Always
     * true for SOL: its pools belong to the other mint.
     */
    readonly isLoaded: (mint: Mint) => boolean
    /** How many known pools of the mint are left out because it has more than `POOLS_PER_MINT`. */
    readonly leftOut: (mint: Mint) => number
    /**
     * Why the pools of a loaded mint are incomplete; null when they are complete. `not_captured`: the node refused to
     * search a program. SOL always has this reason, because it only has the pools of other mints in memory.
     * The same reason holds for a mint whose only pools are not supported.
     * `backfill_running`: some accounts of a pool have not been read. `limit_clipped`: pools were left out.
     */
    readonly lacking: (mint: Mint) => CoverageReason | null
    /**
     * How far the mint's bonding curve has come, whether or not the curve can be priced. Null when no such curve
     * is in memory or it does not say.
     */
    readonly graduationOf: (mint: Mint) => Rate | null
    /**
     * The pool at an address, if it can be priced. Null while it is not in memory, for example before its mint was
     * requested.
     */
    readonly poolAt: (address: Address) => Pool | null
    /**
     * A pool with the accounts that are held for it, whether or not it can be priced. Null while it is not in memory.
     * The same object until one of its accounts changes.
     */
    readonly held: (address: Address) => HeldPool | null
    /** Pools in memory that trade the mint and are priced by executing their program. */
    readonly executedOf: (mint: Mint) => ReadonlyArray<HeldPool>
    /** Every pool that can be priced as a graph, whichever mint it was loaded for. */
    readonly graph: PoolGraph
    /**
     * Queues the mint's pools to be loaded and watched, and returns at once how far that is. Repeated calls are free.
     * A key (the `Requester`) may have 32 mints pending. Requested mints are loaded before any mint is searched
     * again, and keys take turns.
     */
    warm(mint: Mint): Effect.Effect<Loading>
    /**
     * Reports a pool that a trade of a mint names. If the mint is loaded and lacks the pool, the pool is added soon,
     * without a search.
     */
    learn(mint: Mint, pool: Address): void
  }
>()("fathom/quotes/pools/PoolBook") {
  /**
   * Pools of the given programs. Settings: `POOLS_PER_MINT` (512) is how many pools of one mint are watched; those
   * with the largest reserves are kept. `WARM_MINTS` (2000) is how many mints stay in memory; mints that were never
   * used after loading leave first, then the least recently used. `POOL_REFRESH` (60 s) is the shortest time between
   * two searches for a warm mint. `DISCOVERY_RATE` (5 beside a node) is the number of searches a second; a mint needs
   * one search for each filter of a program that is not whole in the `PoolIndex`.
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
              // An event that was applied only in part leaves every pool in an unknown state. Requests load the pools
              // again.
              cache.wanted().forEach((mint) => cache.forget(mint))
              return Effect.logError("Every pool was dropped: an event could not be applied", defect)
            }),
            Effect.andThen(Effect.sync(() => changed.openUnsafe()))
          )
        const refresh = yield* refreshPools(cache, yield* hub.join(take), changed)
        const discovery = yield* makePoolDiscovery(cache, feed, served, derive, refresh)
        yield* (yield* Readings).report(
          { name: "fathom_pools", help: "Mints and pools in memory for quotes.", kind: "gauge" },
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
          held: (address) => cache.held(address),
          executedOf: (mint) => cache.executedOf(mint),
          graph: { partnersOf: (mint) => cache.partnersOf(mint), poolsBetween: (a, b) => cache.pairOf(a, b).pools },
          learn: discovery.learn,
          // SOL has no search of its own: its pools are loaded with the other mint.
          warm: (mint) => (mint === SOL ? Effect.succeed({ _tag: "Loaded" }) : discovery.warm(mint))
        })
      })
    ).pipe(Layer.provide(ChainHub.layer))

  /** Pools of every followed program, and of programs that are priced by executing them. */
  static readonly layerExecuted: Layer.Layer<PoolBook, Config.ConfigError, ChainFeed> = Layer.unwrap(
    Effect.map(Learned, ({ program }) => PoolBook.layerPrograms([...followedPrograms, ...executedPrograms, program]))
  )

  /** Pools of every followed program. */
  static readonly layer: Layer.Layer<PoolBook, Config.ConfigError, ChainFeed> = Layer.suspend(() =>
    PoolBook.layerPrograms(followedPrograms)
  )
}
