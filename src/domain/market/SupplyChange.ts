/** Change of the supply of a mint in one block. */
import type { Mint } from "../Address.ts"

/** Units of a mint that a block minted, less those that it burned. */
export interface SupplyChange {
  readonly mint: Mint
  /** In the smallest units; negative where more was burned; never zero. */
  readonly change: bigint
}
