import { Config, Context, type Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"

/** The pools of a mint in the index. */
export interface IndexedPools {
  /** Programs that are indexed completely and need no search. */
  readonly whole: ReadonlySet<Address>
  /** Pools of those programs. Some may no longer exist. */
  readonly pools: ReadonlyArray<{ readonly programId: Address; readonly address: Address }>
}

/** Nothing is indexed. */
export const NOT_INDEXED: IndexedPools = { whole: new Set(), pools: [] }

/**
 * Up to this many pools from the index are read one by one. A mint with more pools is searched instead, which takes
 * fewer calls.
 */
export const MOST_INDEXED = 2000

/** Looks pools up in the index of whole programs; null where there is no index. */
export const PoolIndex = Context.Reference<{
  /**
   * Pools of a mint, as of a slot at most a minute before `slot`. Programs that are not indexed that far are left
   * out. Every program is left out for a mint with more than 2,000 pools, and while the store does not answer.
   */
  readonly poolsOf: (mint: Mint, slot: number) => Effect.Effect<IndexedPools>
} | null>("fathom/quotes/pools/PoolIndex", { defaultValue: () => null })

/** `POOL_INDEX` (on): keeps an index of all pools of the programs, if the market has a Geyser. */
export const isIndexing: Config.Config<boolean> = Config.Literals(["on", "off"], "POOL_INDEX").pipe(
  Config.withDefault("on" as const),
  Config.map((setting) => setting === "on")
)
