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

/** A balance before or after the transaction, with its account. */
export interface Balance {
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

const isAnother = (before: Address | null, after: Address | null): after is Address =>
  before !== null && after !== null && before !== after

/** The account of a balance after the transaction, which `known` had before it. */
const accountAfter = (
  { address, amount, decimals, mint, owner, program }: Balance,
  known: TokenAccount | undefined
): TokenAccount => {
  const before = known?.before ?? 0n
  const ownerBefore = known?.owner ?? null
  const account = { address, mint, owner: ownerBefore ?? owner, decimals, program, before, after: amount }
  return isAnother(ownerBefore, owner) ? { ...account, ownerAfter: owner } : account
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

/** The token accounts by address, from the balances before and after the transaction and from its instructions. */
export const tokenAccountsOf = (
  before: ReadonlyArray<Balance>,
  after: ReadonlyArray<Balance>,
  instructions: ReadonlyArray<Instruction>
): ReadonlyMap<Address, TokenAccount> => {
  const accounts = new Map<Address, TokenAccount>()
  for (const { address, amount, decimals, mint, owner, program } of before) {
    accounts.set(address, { address, mint, owner, decimals, program, before: amount, after: 0n })
  }
  for (const balance of after) {
    accounts.set(balance.address, accountAfter(balance, accounts.get(balance.address)))
  }
  addOpened(accounts, instructions)
  return accounts
}

/** The balances of a list; null when it is malformed. Null, as some nodes send, is an empty list. */
const readBalances = (list: unknown, keys: ReadonlyArray<Address>): ReadonlyArray<Balance> | null => {
  const listed = list ?? []
  if (!Array.isArray(listed)) {
    return null
  }
  const balances: Array<Balance> = []
  for (const entry of listed) {
    const balance = readBalance(entry, keys)
    if (balance === null) {
      return null
    }
    balances.push(balance)
  }
  return balances
}

/** The token accounts by address; null when the balances are malformed. */
export const readTokenAccounts = (
  meta: Fields,
  keys: ReadonlyArray<Address>,
  instructions: ReadonlyArray<Instruction>
): ReadonlyMap<Address, TokenAccount> | null => {
  const before = readBalances(meta["preTokenBalances"], keys)
  const after = readBalances(meta["postTokenBalances"], keys)
  return before === null || after === null ? null : tokenAccountsOf(before, after, instructions)
}
