import type { OnChainAccount } from "../domain/OnChainAccount.ts"

/** The state of an account at the end of a slot. A null account is known not to exist. */
export interface AccountState {
  readonly slot: number
  readonly account: OnChainAccount | null
  /**
   * Order of this write among the writes of its slot, as the streaming node numbers it. Absent for a state that was
   * read, which is the state at the end of the slot.
   */
  readonly writeVersion?: number | undefined
  /**
   * Number of the stream that gave the write version. Versions of two nodes, or of one node before and after a restart,
   * cannot be compared.
   */
  readonly stream?: number | undefined
}
