import { Config, Context, type Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"

/** Pools of a mint by the index. */
export interface IndexedPools {
  /** Programs whose every pool is in the index, and of which no search is needed. */
  readonly whole: ReadonlySet<Address>
  /** Pools of those programs; some may have ceased to exist. */
  readonly pools: ReadonlyArray<{ readonly programId: Address; readonly address: Address }>
}

/** No program is whole. */
export const NOT_INDEXED: IndexedPools = { whole: new Set(), pools: [] }

/** Pools of a mint that are read one by one; those of a mint with more are searched, which takes fewer calls. */
export const MOST_INDEXED = 2000

/** The index of the pools of whole programs; null where there is none. */
export const PoolIndex = Context.Reference<{
  /**
   * Pools of a mint, as of a slot at most a minute before `slot`. A program that is not indexed up to there is left out, as every
   * one is for a mint with more than 2,000 pools and while the store does not answer.
   */
  readonly poolsOf: (mint: Mint, slot: number) => Effect.Effect<IndexedPools>
} | null>("fathom/pools/poolIndex/PoolIndex", { defaultValue: () => null })

/** `POOL_INDEX` (on): indexes the pools of whole programs where the market has a Geyser. */
export const isIndexing: Config.Config<boolean> = Config.Literals(["on", "off"], "POOL_INDEX").pipe(
  Config.withDefault("on" as const),
  Config.map((setting) => setting === "on")
)
