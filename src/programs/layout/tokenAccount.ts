/** Token accounts and mints of the Token program and of Token-2022, with the extensions that affect prices. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { readAddress, readU16, readU64, writeU64 } from "./bytes.ts"
import type { Accounts, DeriveAddress, Unpriceable } from "../interface/Program.ts"
import { accountAt, closed, isFailure, malformed, unsupported } from "./unpriceable.ts"

/** The classic Token program. Its mints have no extensions. */
export const TOKEN_PROGRAM = Address.make("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")

export const TOKEN_2022_PROGRAM = Address.make("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")

/** Derives the default token account of an owner and a mint. */
export const ASSOCIATED_TOKEN_PROGRAM = Address.make("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")

/** The associated token account: the default account where an owner holds a mint. */
export const associatedAddress = (derive: DeriveAddress, owner: Address, mint: Mint, tokenProgram: Address): Address =>
  derive(ASSOCIATED_TOKEN_PROGRAM, [owner, tokenProgram, mint].map(addressToBytes))

export interface Vault {
  readonly amount: bigint
  readonly slot: number
}

/** One fee setting of a mint. */
export interface TransferFee {
  /** The first epoch in which it may apply. */
  readonly epoch: bigint
  /** The most that one transfer can cost, in units of the mint. */
  readonly maximum: bigint
  readonly bps: bigint
}

/** A mint's fee settings: `newer` applies from its epoch on, `older` before it. */
export interface TransferFees {
  readonly older: TransferFee
  readonly newer: TransferFee
}

/** The fields of a mint that swaps depend on. */
export interface TokenMint {
  readonly supply: bigint
  readonly decimals: number
  readonly transferFees: TransferFees | null
  readonly slot: number
}

const ACCOUNT_LENGTH = 165
const MINT_LENGTH = 82
// A mint's extensions begin at the same offset as a token account's, after a byte that tells the two apart.
const EXTENSIONS_AT = ACCOUNT_LENGTH + 1
const FROZEN = 2
const mintAt = { supply: 36, decimals: 44, isInitialized: 45 }

const ofTokenProgram = ({ owner }: OnChainAccount): boolean => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM

/** Reads a vault's balance. A vault with another mint is malformed; a frozen vault is closed. */
export const readVault = (accounts: Accounts, address: Address, mint: Mint): Vault | Unpriceable => {
  const account = accountAt(accounts, address, "vault")
  if (isFailure(account)) {
    return account
  }
  const { data, slot } = account
  if (!ofTokenProgram(account) || data.length < ACCOUNT_LENGTH) {
    return malformed(`vault ${address} is not a token account`)
  }
  if (readAddress(data, 0) !== mint) {
    return malformed(`vault ${address} does not hold ${mint}`)
  }
  return data[108] === FROZEN ? closed(`vault ${address} is frozen`) : { amount: readU64(data, 64), slot }
}

/**
 * A vault in a pool account: the offset of its address, and the offsets of fees in it that do not belong to the pool.
 */
export interface VaultAt {
  readonly mint: Mint
  readonly vault: number
  readonly owed: ReadonlyArray<number>
}

/** The vault's balance less what the pool owes from it, at least zero. Null while the vault cannot be read. */
const reserveAt = (accounts: Accounts, data: Uint8Array, { mint, owed, vault }: VaultAt): bigint | null => {
  const read = readVault(accounts, readAddress(data, vault), mint)
  if (isFailure(read)) {
    return null
  }
  const reserve = owed.reduce((left, offset) => left - readU64(data, offset), read.amount)
  return reserve > 0n ? reserve : 0n
}

/**
 * The reserves of a pool account, as a field to spread into a pool. Returns no field while a vault cannot be read.
 */
export const reservesAt = (
  accounts: Accounts,
  data: Uint8Array,
  a: VaultAt,
  b: VaultAt
): { readonly reserves?: readonly [bigint, bigint] } => {
  const [inA, inB] = [reserveAt(accounts, data, a), reserveAt(accounts, data, b)]
  return inA === null || inB === null ? {} : { reserves: [inA, inB] }
}

const transferFeeAt = (data: Uint8Array, offset: number): TransferFee => ({
  epoch: readU64(data, offset),
  maximum: readU64(data, offset + 8),
  bps: BigInt(readU16(data, offset + 16))
})

/** Extensions that decide whether a transfer arrives, or how much of it. Other extensions do not change amounts. */
const extension = { transferFeeConfig: 1, nonTransferable: 9, transferHook: 14, pausable: 26 }
const HOOK_PROGRAM_AT = 32

const readTransferFees = ({ address, data }: OnChainAccount): { readonly fees: TransferFees | null } | Unpriceable => {
  let fees: TransferFees | null = null
  for (let at = EXTENSIONS_AT; at + 4 <= data.length;) {
    const type = readU16(data, at)
    const value = at + 4
    const next = value + readU16(data, at + 2)
    if (type === 0) {
      break
    }
    if (next > data.length || (type === extension.transferFeeConfig && next - value < 108)) {
      return malformed(`mint ${address} has a broken extension of type ${type}`)
    }
    if (type === extension.transferFeeConfig) {
      fees = { older: transferFeeAt(data, value + 72), newer: transferFeeAt(data, value + 90) }
    } else if (type === extension.nonTransferable) {
      return unsupported(`mint ${address} is not transferable`)
    } else if (
      type === extension.transferHook &&
      data.subarray(value + HOOK_PROGRAM_AT, next).some((byte) => byte > 0)
    ) {
      // The program may refuse a transfer for any reason. Without a program nothing is called.
      return unsupported(`mint ${address} has a transfer hook`)
    } else if (type === extension.pausable && data[value + 32] === 1) {
      return closed(`mint ${address} is paused`)
    }
    at = next
  }
  return { fees }
}

/** Reads a mint's supply, decimals and transfer fees. */
export const readMint = (accounts: Accounts, address: Mint): TokenMint | Unpriceable => {
  const account = accountAt(accounts, address, "mint")
  if (isFailure(account)) {
    return account
  }
  const { data, slot } = account
  if (!ofTokenProgram(account) || data.length < MINT_LENGTH || data[mintAt.isInitialized] !== 1) {
    return malformed(`${address} is not a mint`)
  }
  const read = account.owner === TOKEN_2022_PROGRAM ? readTransferFees(account) : { fees: null }
  return isFailure(read)
    ? read
    : { supply: readU64(data, mintAt.supply), decimals: data[mintAt.decimals] ?? 0, transferFees: read.fees, slot }
}

/** Transfer fees of a pool's two mints, and the newest slot they were read at. Null for a mint without fees. */
export interface PairFees {
  readonly a: TransferFees | null
  readonly b: TransferFees | null
  readonly slot: number
}

const WITHOUT_FEES = { transferFees: null, slot: 0 }

/**
 * Reads the transfer fees of two mints.
 *
 * @param isToken2022 false for a mint of the classic Token program, which has no fees and need not have been read
 */
export const readPairFees = (
  accounts: Accounts,
  [mintA, mintB]: readonly [Mint, Mint],
  [isA2022, isB2022]: readonly [boolean, boolean] = [true, true]
): PairFees | Unpriceable => {
  const a = isA2022 ? readMint(accounts, mintA) : WITHOUT_FEES
  if (isFailure(a)) {
    return a
  }
  const b = isB2022 ? readMint(accounts, mintB) : WITHOUT_FEES
  return isFailure(b) ? b : { a: a.transferFees, b: b.transferFees, slot: Math.max(a.slot, b.slot) }
}

/** Makes the account of a classic Token mint. It has no extensions, so no transfer fee. Supply is in atomic units. */
export const plainMint = (address: Mint, supply = 1_000_000_000_000_000n, decimals = 6): OnChainAccount => {
  const data = new Uint8Array(MINT_LENGTH)
  writeU64(data, mintAt.supply, supply)
  data[mintAt.decimals] = decimals
  data[mintAt.isInitialized] = 1
  return { address, owner: TOKEN_PROGRAM, lamports: 1_461_600n, data, slot: 0 }
}
