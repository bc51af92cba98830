import type { Address } from "../../domain/Address.ts"
import type { SimPool } from "./SimPool.ts"

/** A bonding curve, and what is needed to graduate it. */
export interface LaunchCurve extends SimPool {
  /** True once everything for sale is sold. */
  readonly complete: () => boolean
  /** What the curve leaves for the coin's first pool: tokens and lamports, and the accounts that hold them. */
  readonly remains: () => {
    readonly tokens: { readonly from: Address; readonly amount: bigint }
    readonly lamports: { readonly from: Address; readonly amount: bigint }
  }
  /** Writes what the program writes after the remains have left the curve. */
  readonly close: () => void
}
