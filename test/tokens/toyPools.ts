/** A `PoolBook` over a map of pools, for tests of prices. */
import { Effect, Layer } from "effect"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { type Mint, SOL } from "../../src/domain/Address.ts"
import type { MintPools } from "../../src/quotes/pools/MintPools.ts"
import { otherSide } from "../../src/tokens/poolPrice.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"

/** The pools of the book, and the mints queued for loading. Mints that are not loaded have no pools. */
export interface ToyPools {
  pools: ReadonlyArray<Pool>
  loaded: ReadonlySet<Mint>
  readonly warmed: Set<Mint>
  /** Mints that may have further pools, because the node did not allow a search. */
  partial?: ReadonlySet<Mint>
}

const trades = ({ mintA, mintB }: Pool, mint: Mint) => mintA === mint || mintB === mint

/** The book over the pools. It gives the same answer until the pools are replaced. */
export const toyPoolBook = (toy: ToyPools): Layer.Layer<PoolBook> => {
  const known = new Map<string, { readonly of: ReadonlyArray<Pool>; readonly value: MintPools }>()
  const isLoaded = (mint: Mint) => mint === SOL || toy.loaded.has(mint)
  const between = (a: Mint, b: Mint): MintPools | null => {
    if (!toy.loaded.has(a) && !toy.loaded.has(b)) {
      return null
    }
    return pairOf(a, b)
  }
  const poolsBetween = (a: Mint, b: Mint) => pairOf(a, b).pools
  const pairOf = (a: Mint, b: Mint): MintPools => {
    const before = known.get(a + b)
    if (before?.of === toy.pools) {
      return before.value
    }
    const value = { pools: toy.pools.filter((pool) => trades(pool, a) && trades(pool, b)), refused: [] }
    known.set(a + b, { of: toy.pools, value })
    return value
  }
  return Layer.succeed(
    PoolBook,
    PoolBook.of({
      between,
      poolsOf: (mint) => toy.pools.filter((pool) => trades(pool, mint)),
      isLoaded,
      graduationOf: () => null,
      leftOut: () => 0,
      lacking: (mint) => (toy.partial?.has(mint) === true ? "not_captured" : null),
      learn: () => undefined,
      held: () => null,
      executedOf: () => [],
      poolAt: (address) => toy.pools.find((pool) => pool.address === address) ?? null,
      graph: {
        partnersOf: (mint) =>
          new Set(toy.pools.filter((pool) => trades(pool, mint)).map((pool) => otherSide(pool, mint))),
        poolsBetween
      },
      warm: (mint) =>
        Effect.as(
          Effect.sync(() => void toy.warmed.add(mint)),
          { _tag: "Loaded" } as const
        )
    })
  )
}
