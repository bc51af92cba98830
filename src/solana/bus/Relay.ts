import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "../accounts/accountJson.ts"

/** Passes the writes that a feed receives on to other processes, and has it follow their accounts too. */
export interface Relay {
  /** True for an account of another process. */
  readonly follows: (address: Address) => boolean
  /** All accounts of other processes. */
  readonly followed: () => Iterable<Address>
  /** Takes a listener that runs whenever these accounts change. */
  readonly onChange: (listener: () => void) => void
  /** A new connection: writes before it may be missing. */
  readonly connect: () => void
  readonly disconnect: () => void
  /** The accounts are followed as far as the source follows them. `slot`: see `end`. */
  readonly hasFollowed: (isFollowed: (address: Address) => boolean, slot: number) => void
  /** These accounts are not followed any more, or a write of theirs is missing. */
  readonly lose: (addresses: ReadonlyArray<Address>) => void
  /** Takes a write; false when no other process follows the account. */
  readonly take: (address: Address, state: AccountState) => boolean
  /** Writes that wait for their slot to end. */
  readonly waiting: number
  /** Every slot up to and including `ended` has ended. `slot` is the newest one whose writes have all arrived then. */
  readonly end: (ended: number, slot: number) => void
}
