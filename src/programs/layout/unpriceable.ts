/** The four reasons why a pool cannot be priced, and reads that may end in one of them. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { Accounts, Unpriceable } from "../interface/Program.ts"

/** The pool uses something that this engine does not implement. `detail` names it. */
export const unsupported = (detail: string): Unpriceable => ({ reason: "unsupported", detail })

/** The program would refuse every swap of this pool. */
export const closed = (detail: string): Unpriceable => ({ reason: "closed", detail })

/** An account has not been read yet. */
export const incomplete = (detail: string): Unpriceable => ({ reason: "incomplete", detail })

/** The bytes are not what the program writes. */
export const malformed = (detail: string): Unpriceable => ({ reason: "malformed", detail })

/** True when a read gave a reason instead of a value. */
export const isFailure = <A extends object>(read: A | Unpriceable): read is Unpriceable => "reason" in read

/** Returns the account, or why it cannot be used: not read yet, or not there. */
export const accountAt = (accounts: Accounts, address: Address, what: string): OnChainAccount | Unpriceable => {
  const account = accounts(address)
  if (account === undefined) {
    return incomplete(`${what} ${address} has not been read`)
  }
  return account ?? malformed(`${what} ${address} does not exist`)
}
