import { Context } from "effect"
import type { Address } from "../../domain/Address.ts"

/** Wallets of which every transfer is stored, of mints that they have not traded too. */
export interface WatchedSet {
  readonly has: (wallet: Address) => boolean
}

/** The watched wallets; none unless provided. */
export const WatchedWallets = Context.Reference<WatchedSet>("fathom/market/tape/WatchedWallets", {
  defaultValue: () => ({ has: () => false })
})
