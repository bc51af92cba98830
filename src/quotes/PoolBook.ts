import { Context, type Effect } from "effect"
import type { Pool, Unpriceable } from "../amm/Program.ts"
import type { Address, Mint } from "../domain/Address.ts"

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
    /** Asks that the mint's pools be loaded and followed. Queues and returns; asking again is free. */
    warm(mint: Mint): Effect.Effect<void>
  }
>()("fathom/quotes/PoolBook") {}
