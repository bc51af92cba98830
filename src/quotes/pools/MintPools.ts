import type { Address } from "../../domain/Address.ts"
import type { Pool, Unpriceable } from "../../programs/interface/Program.ts"

/** The pools in memory that trade a mint or a pair. */
export interface MintPools {
  /** Pools that can be priced, in the order of their discovery. */
  readonly pools: ReadonlyArray<Pool>
  /** Pools that cannot be priced, with the reason. */
  readonly refused: ReadonlyArray<{ readonly address: Address; readonly dex: string } & Unpriceable>
}
