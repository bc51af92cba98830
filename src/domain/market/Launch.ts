/** Launch or graduation of a token on a launchpad. */
import type { Address, Mint } from "../Address.ts"

/** A token was put on a curve, or left it for a pool. */
export interface Launch {
  readonly event: "created" | "migrated"
  readonly mint: Mint
  /** Key of the launchpad. */
  readonly launchpad: string
  /** The curve when it was created, the pool when it migrated; null when the instruction does not say. */
  readonly pool: Address | null
  /** The wallet that the launchpad names as creator; left out where it is not stated, as of a migration. */
  readonly creator?: Address | undefined
}
