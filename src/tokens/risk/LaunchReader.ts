import { Context, Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import { type Coverage, incomplete } from "../../domain/Scalar.ts"

/** The first purchase of a wallet. */
export interface FirstPurchase {
  readonly wallet: Address
  readonly slot: number
  readonly signature: string
  /** Block time of the purchase minus block time of the creation. */
  readonly afterMs: number
}

/** The launch of a token, as far as it was seen. */
export interface TokenLaunch {
  /** Null when unknown. */
  readonly creator: Address | null
  /** The first purchases of the first wallets, in the order of the chain; null when they are not known. */
  readonly buyers: ReadonlyArray<FirstPurchase> | null
  /** True when more wallets bought than are listed. */
  readonly isCut: boolean
  /** Coverage of the purchases. */
  readonly coverage: Coverage
}

/** A token whose launch was not seen. */
export const NO_LAUNCH: TokenLaunch = {
  creator: null,
  buyers: null,
  isCut: false,
  coverage: incomplete("not_captured")
}

/** Launches of tokens; none are known unless provided. */
export const LaunchReader = Context.Reference<{
  /** The launch of a token, from memory and from the store. */
  readonly launchOf: (mint: Mint) => Effect.Effect<TokenLaunch>
}>("fathom/tokens/risk/LaunchReader", { defaultValue: () => ({ launchOf: () => Effect.succeed(NO_LAUNCH) }) })
