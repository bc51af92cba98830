import type { Address } from "../../domain/Address.ts"
import type { SimPool } from "./SimPool.ts"

/** A bonding curve with what its graduation needs. */
export interface LaunchCurve extends SimPool {
  /** True once everything for sale is sold. */
  readonly complete: () => boolean
  /** Tokens and lamports for the coin's first pool, with the accounts that hold them. */
  readonly remains: () => {
    readonly tokens: { readonly from: Address; readonly amount: bigint }
    readonly lamports: { readonly from: Address; readonly amount: bigint }
  }
  /** Writes what the program writes once the remains have left. */
  readonly close: () => void
}
