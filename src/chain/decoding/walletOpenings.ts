/** Finds the transfers that open the accounts of wallets. */
import type { WalletOpening } from "../../api/schemas/WalletOpening.ts"
import type { Address } from "../../domain/Address.ts"
import type { Transaction } from "./transaction.ts"

/** The most openings of one transaction. */
export const MOST_OPENINGS = 64

const NONE: ReadonlyArray<WalletOpening> = []

/**
 * The first transfer of SOL to each account that had none before the transaction and has some afterwards. Rent of new accounts
 * and token accounts are left out. `index` is the position of the transaction in its block.
 */
export const walletOpeningsOf = (transaction: Transaction, index: number): ReadonlyArray<WalletOpening> => {
  const { instructions, keys, lamportsAfter, lamportsBefore, signature, tokenAccounts } = transaction
  // Few transactions open an account, so the balances are looked at first.
  if (
    transaction.error !== null ||
    !lamportsBefore.some((before, at) => before === 0n && (lamportsAfter[at] ?? 0n) > 0n)
  ) {
    return NONE
  }
  const opened = new Set<Address>()
  for (const [at, key] of keys.entries()) {
    if (lamportsBefore[at] === 0n && (lamportsAfter[at] ?? 0n) > 0n && !tokenAccounts.has(key)) {
      opened.add(key)
    }
  }
  const openings: Array<WalletOpening> = []
  for (const moved of instructions.flatMap(({ transfers }) => transfers)) {
    if (moved.kind !== "lamports" || !opened.has(moved.destination) || moved.amount === 0n) {
      continue
    }
    opened.delete(moved.destination)
    if (!moved.created && openings.length < MOST_OPENINGS && moved.source !== moved.destination) {
      openings.push({
        signature,
        index: index * MOST_OPENINGS + openings.length,
        wallet: moved.destination,
        funder: moved.source,
        lamports: moved.amount
      })
    }
  }
  return openings
}
