import type { Address } from "../../domain/Address.ts"
import type { Pool, Unpriceable } from "../../programs/interface/Program.ts"

/** Pools in memory that trade a mint or a pair. */
export interface MintPools {
  /** Pools that can be priced, in the order they were discovered. */
  readonly pools: ReadonlyArray<Pool>
  /** Pools that cannot be priced, and why. */
  readonly refused: ReadonlyArray<{ readonly address: Address; readonly dex: string } & Unpriceable>
}
