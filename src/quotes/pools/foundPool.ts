/** Pools that discovery found, and how they are decoded. Never throws: malformed bytes give a refusal. */
import type { Accounts, DeriveAddress, Pool, Program, Unpriceable } from "../../programs/interface/Program.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { readAddress } from "../../programs/layout/bytes.ts"
import { mintOffsets } from "../../programs/layout/poolFields.ts"
import type { Indexed } from "./PairIndex.ts"

/** A pool as discovery found it. */
export interface FoundPool {
  readonly program: Program
  readonly address: Address
  /** The account as the search returned it; null when only the address is known. */
  readonly account: OnChainAccount | null
  /** The mint that the address was derived from; undefined when the pool was found in another way. */
  readonly foundBy: Mint | undefined
}

export const NOT_READ: Unpriceable = { reason: "incomplete", detail: "the pool account has not been read yet" }
const GONE: Unpriceable = { reason: "closed", detail: "there is no pool account" }
const NOT_A_POOL: Unpriceable = { reason: "malformed", detail: "the account is not a pool of its program" }

const startsWith = (data: Uint8Array, offset: number, bytes: Uint8Array): boolean =>
  data.length >= offset + bytes.length && bytes.every((byte, i) => data[offset + i] === byte)

/** True when a search for the mint would find this pool. */
export const wouldFind = ({ program, account }: FoundPool, mint: Mint): boolean =>
  // While only its address is known, a pool may trade any mint.
  account === null ||
  program
    .poolsOf(mint)
    .some(({ matches }) => matches.every(({ offset, bytes }) => startsWith(account.data, offset, bytes)))

/**
 * What a pool may trade before it is decoded. A pool found at a derived address trades that mint against any other. While
 * only its address is known, a pool may trade any mint.
 */
export const tradesOf = (found: FoundPool): Pick<Indexed, "candidates" | "mayTrade"> => {
  const { account, foundBy, program } = found
  if (foundBy !== undefined) {
    return { candidates: [foundBy], mayTrade: (a, b) => a === foundBy || b === foundBy }
  }
  if (account === null) {
    return { candidates: null, mayTrade: () => true }
  }
  const mints = mintOffsets(program)
    .filter((offset) => offset + 32 <= account.data.length)
    .map((offset) => readAddress(account.data, offset))
    .filter((mint) => wouldFind(found, mint))
  return { candidates: mints, mayTrade: (a, b) => mints.includes(a) && (b === null || mints.includes(b)) }
}

/**
 * Accounts that the price depends on besides the pool. `read` is the watched pool account; `undefined` before it is
 * read.
 */
export const needsOf = (
  { account: found, foundBy, program }: FoundPool,
  read: OnChainAccount | null | undefined,
  accounts: Accounts,
  derive: DeriveAddress
): ReadonlyArray<Address> => {
  const account = read === undefined ? found : read
  try {
    return account === null ? [] : program.needs(account, accounts, derive, foundBy)
  } catch {
    // Decoding will fail on the same bytes and report why.
    return []
  }
}

/** Decodes the pool from what has been read, or says why it cannot be priced. */
export const decodePool = (
  { foundBy, program }: FoundPool,
  read: OnChainAccount | null | undefined,
  accounts: Accounts,
  derive: DeriveAddress
): Pool | Unpriceable => {
  if (read === undefined || read === null) {
    return read === null ? GONE : NOT_READ
  }
  try {
    return program.isPool(read) ? program.decode(read, accounts, derive, foundBy) : NOT_A_POOL
  } catch (error) {
    return { reason: "malformed", detail: error instanceof Error ? error.message : "the program's decoder failed" }
  }
}
