/** The token accounts of a transaction, as they were before and after it. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { Instruction } from "./instructions.ts"
import { amountFromDigits, type Fields, isCount, isFields, looksLikeAddress } from "./jsonFields.ts"

/** A token account that the transaction names or opens. */
export interface TokenAccount {
  readonly address: Address
  readonly mint: Mint
  /** Owner; null when the node does not name it, as before 2021. */
  readonly owner: Address | null
  /** The owner after the transaction, when it is a different one. */
  readonly ownerAfter?: Address
  /** Null when neither the balances nor the mint itself determine them. */
  readonly decimals: number | null
  /** Its token program; null when the node does not name it. */
  readonly program: Address | null
  /** Zero when the account did not exist, or was not a token account. */
  readonly before: bigint
  readonly after: bigint
}

interface Balance {
  readonly address: Address
  readonly mint: Mint
  readonly owner: Address | null
  readonly program: Address | null
  readonly decimals: number
  readonly amount: bigint
}

const readBalance = (entry: unknown, keys: ReadonlyArray<Address>): Balance | null => {
  if (!isFields(entry) || !isCount(entry["accountIndex"]) || !isFields(entry["uiTokenAmount"])) {
    return null
  }
  const { mint, owner, programId, uiTokenAmount } = entry
  const address = keys[entry["accountIndex"]]
  const amount = amountFromDigits(uiTokenAmount["amount"])
  const { decimals } = uiTokenAmount
  if (address === undefined || amount === null || !isCount(decimals) || !looksLikeAddress(mint)) {
    return null
  }
  return {
    address,
    mint,
    owner: looksLikeAddress(owner) ? owner : null,
    program: looksLikeAddress(programId) ? programId : null,
    decimals,
    amount
  }
}

const isAnother = (before: Address | null | undefined, after: Address | null): after is Address =>
  (before ?? null) !== null && after !== null && before !== after

/** Adds one list of balances. False when it is malformed. */
const addBalances = (
  accounts: Map<Address, TokenAccount>,
  list: unknown,
  keys: ReadonlyArray<Address>,
  when: "before" | "after"
): boolean => {
  if (!Array.isArray(list)) {
    return false
  }
  for (const entry of list) {
    const balance = readBalance(entry, keys)
    if (balance === null) {
      return false
    }
    const { amount, ...account } = balance
    const known = accounts.get(account.address)
    accounts.set(
      account.address,
      when === "before"
        ? { ...account, before: amount, after: 0n }
        : {
            ...account,
            owner: known?.owner ?? account.owner,
            before: known?.before ?? 0n,
            after: amount,
            ...(isAnother(known?.owner, account.owner) && { ownerAfter: account.owner })
          }
    )
  }
  return true
}

/** Adds accounts that only live inside the transaction, which no balance lists: their opening names the owner. */
const addOpened = (accounts: Map<Address, TokenAccount>, instructions: ReadonlyArray<Instruction>): void => {
  for (const { transfers, program } of instructions) {
    for (const transfer of transfers) {
      if (transfer.kind === "open" && !accounts.has(transfer.account)) {
        const { account: address, mint, owner } = transfer
        const decimals = mint === SOL ? 9 : null
        accounts.set(address, { address, mint, owner, decimals, program, before: 0n, after: 0n })
      }
    }
  }
}

/** The token accounts by address; null when malformed. Null balances, as some nodes send, are an empty list. */
export const readTokenAccounts = (
  meta: Fields,
  keys: ReadonlyArray<Address>,
  instructions: ReadonlyArray<Instruction>
): ReadonlyMap<Address, TokenAccount> | null => {
  const accounts = new Map<Address, TokenAccount>()
  if (
    !addBalances(accounts, meta["preTokenBalances"] ?? [], keys, "before") ||
    !addBalances(accounts, meta["postTokenBalances"] ?? [], keys, "after")
  ) {
    return null
  }
  addOpened(accounts, instructions)
  return accounts
}
