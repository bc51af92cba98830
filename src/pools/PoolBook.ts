import { type Config, Context, Effect, Latch, Layer } from "effect"
import type { Pool, Program, Unpriceable } from "../programs/Program.ts"
import { programs } from "../programs/registry.ts"
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import { type ChainEvent, ChainFeed } from "../solana/accounts/ChainFeed.ts"
import { ChainHub } from "../solana/accounts/ChainHub.ts"
import { makeDeriveAddress } from "../solana/programAddress.ts"
import type { PoolGraph } from "../quotes/bestPath.ts"
import { makeDiscovery } from "./poolDiscovery.ts"
import { PoolCache } from "./PoolCache.ts"
import { refreshPools } from "./refreshPools.ts"

/** What the book knows of one mint's pools. */
export interface MintPools {
  /** Pools that trade the mint and can be priced, in the order they were discovered. */
  readonly pools: ReadonlyArray<Pool>
  /** Pools that trade the mint and cannot be priced, and why. */
  readonly refused: ReadonlyArray<{ readonly address: Address; readonly dex: string } & Unpriceable>
}

/** Every pool in memory, decoded. One fiber writes, everyone reads synchronously. */
export class PoolBook extends Context.Service<
  PoolBook,
  {
    /** Pools that trade both mints; null while the pair is cold (not loaded yet). */
    readonly between: (a: Mint, b: Mint) => MintPools | null
    /** Every priced pool that trades the mint. */
    readonly poolsOf: (mint: Mint) => ReadonlyArray<Pool>
    /** Whether the mint's pools have been looked for and read. SOL is: its pools are those of the other side. */
    readonly isLoaded: (mint: Mint) => boolean
    /** Every priced pool as a graph, whoever asked for it. */
    readonly graph: PoolGraph
    /** Asks that the mint's pools be loaded and followed. Queues and returns; asking again is free. */
    warm(mint: Mint): Effect.Effect<void>
  }
>()("fathom/pools/PoolBook") {
  /**
   * Pools of the given programs. Settings: `POOLS_PER_MINT` (512) bounds what one mint can make us follow, `WARM_MINTS`
   * (2000) how many are kept at a time, the longest unused going first, and `POOL_REFRESH` (60 s) is how often
   * the pools of a kept mint are looked for again.
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
        const shelf = new PoolCache(derive)
        const changed = yield* Latch.make()

        const take = (event: ChainEvent) =>
          Effect.sync(() => shelf.apply(event)).pipe(
            Effect.catchDefect((defect) => {
              // What cannot be applied leaves pools that nobody knows the state of. Asking loads them again.
              shelf.wanted().forEach((mint) => shelf.forget(mint))
              return Effect.logError("Every pool was dropped: an event could not be applied", defect)
            }),
            Effect.andThen(Effect.sync(() => changed.openUnsafe()))
          )
        const tending = yield* refreshPools(shelf, yield* hub.join(take), changed)
        const discovery = yield* makeDiscovery(shelf, feed, served, derive, tending)

        return PoolBook.of({
          between: (a, b) => shelf.between(a, b),
          poolsOf: (mint) => shelf.poolsOf(mint).pools,
          isLoaded: (mint) => mint === SOL || shelf.isReady(mint),
          graph: { partnersOf: (mint) => shelf.partnersOf(mint), poolsBetween: (a, b) => shelf.pairOf(a, b).pools },
          // Half the chain trades SOL: its pools are those of the other side.
          warm: (mint) => (mint === SOL ? Effect.void : discovery.warm(mint))
        })
      })
    ).pipe(Layer.provide(ChainHub.layer))

  /** Pools of every program there is a file for. */
  static readonly layer: Layer.Layer<PoolBook, Config.ConfigError, ChainFeed> = Layer.suspend(() =>
    PoolBook.layerPrograms(programs)
  )
}
