import { Context, type Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { AppendRefused } from "../../storage/bus/busLog.ts"
import type { AccountState } from "../AccountState.ts"

/** Passes the writes that a feed receives on to other processes, and has the feed follow their accounts. */
export interface Relay {
  /** True for an account that another process follows. */
  readonly follows: (address: Address) => boolean
  /** All accounts that other processes follow. */
  readonly followed: () => Iterable<Address>
  /** Sets the listener that runs whenever these accounts change. */
  readonly onChange: (listener: () => void) => void
  /** Notes a new connection. Writes before it may be missing. */
  readonly connect: () => void
  readonly disconnect: () => void
  /** Notes which accounts the source follows now. `slot` has the same meaning as in `end`. */
  readonly hasFollowed: (isFollowed: (address: Address) => boolean, slot: number) => void
  /** Notes that these accounts are no longer followed, or that one of their writes is missing. */
  readonly lose: (addresses: ReadonlyArray<Address>) => void
  /** Takes a write. False when no other process follows the account. */
  readonly take: (address: Address, state: AccountState) => boolean
  /** How many writes wait for their slot to end. */
  readonly waiting: number
  /** Ends every slot up to and including `ended`. `slot` is the newest slot whose writes have all arrived. */
  readonly end: (ended: number, slot: number) => void
}

/** The relay of this process's feed, which passes writes on while the process reads the chain. Null for none. */
export const AccountRelay = Context.Reference<{
  /** Fills the bus of the chain `genesis` until interrupted. Fails once another process has appended. */
  readonly lead: (genesis: string) => Effect.Effect<never, AppendRefused>
  readonly writes: Relay
} | null>("fathom/chain/accounts/AccountRelay", { defaultValue: () => null })
