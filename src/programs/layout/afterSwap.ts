/** The accounts of a pool after a swap. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { Accounts, Unpriceable } from "../interface/Program.ts"
import { readU64, writeU64 } from "./bytes.ts"
import { accountAt, isFailure } from "./unpriceable.ts"

/** Where a token account keeps its balance. */
const AMOUNT_AT = 64

/** Adds to a counter of eight bytes. */
export const addU64 = (data: Uint8Array, offset: number, amount: bigint): void =>
  writeU64(data, offset, readU64(data, offset) + amount)

/** The pool account with new data, and its vaults with what came into them; negative for what left. */
export const poolAfter = (
  pool: OnChainAccount,
  data: Uint8Array,
  accounts: Accounts,
  vaults: ReadonlyArray<readonly [address: Address, change: bigint]>
): ReadonlyArray<OnChainAccount> | Unpriceable => {
  const after: Array<OnChainAccount> = [{ ...pool, data }]
  for (const [address, change] of vaults) {
    const vault = accountAt(accounts, address, "vault")
    if (isFailure(vault)) {
      return vault
    }
    const moved = vault.data.slice()
    addU64(moved, AMOUNT_AT, change)
    after.push({ ...vault, data: moved })
  }
  return after
}
