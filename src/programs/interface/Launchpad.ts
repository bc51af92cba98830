import type { Address } from "../../domain/Address.ts"
import type { Launch } from "../../api/schemas/Launch.ts"

/** An event of an Anchor program. */
export interface AnchorEvent {
  readonly tag: bigint
  /** The event without its tag. */
  readonly body: Uint8Array
}

/** A launch as its program states it, with the config of its curve where the program has configs. */
export type StatedLaunch = Launch & { readonly config?: Address }

/** A program that launches tokens on bonding curves. All members are pure. */
export interface Launchpad {
  /** The launchpad's name in filters. */
  readonly launchpad: string
  /** Venue label of the launchpad's curves. */
  readonly dex: string
  readonly programId: Address
  /** Reads the launch or migration in an event of the program; null for other events. */
  readonly event: (event: AnchorEvent) => StatedLaunch | null
  /**
   * Reads the launch or migration in an instruction; null for other instructions. Only needed for facts that no event
   * states.
   */
  readonly instruction?: (data: Uint8Array, accounts: ReadonlyArray<Address>) => StatedLaunch | null
}
