/** Change of the supply of a mint in one block. */
import type { Mint } from "../../domain/Address.ts"

/** Units that a block minted, minus the units that it burned. */
export interface SupplyChange {
  readonly mint: Mint
  /** Atomic units; negative when more was burned; never zero. */
  readonly change: bigint
}
