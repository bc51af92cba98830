import type { Address } from "../domain/Address.ts"
import type { Launch } from "../domain/market/Launch.ts"
import type { AnchorEvent } from "./anchorEvents.ts"

/** A program that puts new tokens on bonding curves. All members are pure. */
export interface Launchpad {
  /** Key of the launchpad in filters. */
  readonly launchpad: string
  /** Venue label of its curves. */
  readonly dex: string
  readonly programId: Address
  /** The launch or migration that an event of the program states; null for other events. */
  readonly event: (event: AnchorEvent) => Launch | null
  /** The launch or migration that an instruction carries out; null for others. Only for what no event states. */
  readonly instruction?: (data: Uint8Array, accounts: ReadonlyArray<Address>) => Launch | null
}
