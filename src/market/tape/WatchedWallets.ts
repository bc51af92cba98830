import { Context } from "effect"
import type { Address } from "../../domain/Address.ts"

/** Wallets whose transfers are all stored, even of mints that they have never traded. */
export interface WatchedSet {
  readonly has: (wallet: Address) => boolean
}

export const WatchedWallets = Context.Reference<WatchedSet>("fathom/market/tape/WatchedWallets", {
  defaultValue: () => ({ has: () => false })
})
