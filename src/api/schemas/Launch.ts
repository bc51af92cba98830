/** Launch or graduation of a token on a launchpad. */
import type { Address, Mint } from "../../domain/Address.ts"

/** A token was put on a curve, or left it for a pool. */
export interface Launch {
  readonly event: "created" | "migrated"
  readonly mint: Mint
  /** Key of the launchpad. */
  readonly launchpad: string
  /** Key of the platform that launched the token on a program that several share; missing for none that is known. */
  readonly platform?: string | undefined
  /** The mint that the curve is paid in, SOL or another token; missing where the creation does not state it. */
  readonly quoteMint?: Mint | undefined
  /** True when the creator's fee goes to the holders; missing where the creation does not state it. */
  readonly holderRewards?: boolean | undefined
  /** The curve of a created token, the pool of a migrated one; null when the instruction does not say. */
  readonly pool: Address | null
  /** The wallet that the launchpad names as creator; missing where none is named, as in a migration. */
  readonly creator?: Address | undefined
}
