/** Token accounts and mints of the Token program and of Token-2022, with the extensions that prices depend on. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, type Mint } from "../../domain/Address.ts"
import { readAddress, readU16, readU64 } from "./bytes.ts"
import { maxBigInt } from "./integers.ts"
import type { Accounts, Unpriceable } from "../Program.ts"
import type { TransferFee, TransferFees } from "./transferFee.ts"
import { accountAt, closed, isFailure, malformed, unsupported } from "./unpriceable.ts"

/** The classic Token program: its mints have no extensions. */
export const TOKEN_PROGRAM = Address.make("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")

/** Token-2022, the Token Extensions program. */
export const TOKEN_2022_PROGRAM = Address.make("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")

/** The balance a pool holds of one mint. */
export interface Vault {
  readonly amount: bigint
  readonly slot: number
}

/** Fields of a mint that swaps depend on. */
export interface TokenMint {
  readonly supply: bigint
  readonly decimals: number
  readonly transferFees: TransferFees | null
  readonly slot: number
}

const ACCOUNT_LENGTH = 165
const MINT_LENGTH = 82
// Extensions of a mint begin where those of a token account do, after one byte that separates the two.
const EXTENSIONS_AT = ACCOUNT_LENGTH + 1
const FROZEN = 2

const ofTokenProgram = ({ owner }: OnChainAccount): boolean => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM

/** The vault's balance; a vault of another mint is malformed, a frozen one is closed. */
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

/** A vault: its address, its mint and the fees in it that are not the pool's. */
export interface OwedVault {
  readonly address: Address
  readonly mint: Mint
  readonly owed: bigint
}

/** Balances of both vaults less what is owed from them, not below zero; undefined while one of them is not readable. */
export const reservesOf = (accounts: Accounts, a: OwedVault, b: OwedVault): readonly [bigint, bigint] | undefined => {
  const [inA, inB] = [readVault(accounts, a.address, a.mint), readVault(accounts, b.address, b.mint)]
  return isFailure(inA) || isFailure(inB)
    ? undefined
    : [maxBigInt(inA.amount - a.owed, 0n), maxBigInt(inB.amount - b.owed, 0n)]
}

const transferFeeAt = (data: Uint8Array, offset: number): TransferFee => ({
  epoch: readU64(data, offset),
  maximum: readU64(data, offset + 8),
  bps: BigInt(readU16(data, offset + 16))
})

/** Extensions that decide whether or how much of a transfer arrives. All others leave amounts alone. */
const extension = { transferFeeConfig: 1, nonTransferable: 9, pausable: 26 }

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
    } else if (type === extension.pausable && data[value + 32] === 1) {
      return closed(`mint ${address} is paused`)
    }
    at = next
  }
  return { fees }
}

/** The mint's supply, decimals and transfer fees. */
export const readMint = (accounts: Accounts, address: Mint): TokenMint | Unpriceable => {
  const account = accountAt(accounts, address, "mint")
  if (isFailure(account)) {
    return account
  }
  const { data, slot } = account
  if (!ofTokenProgram(account) || data.length < MINT_LENGTH || data[45] !== 1) {
    return malformed(`${address} is not a mint`)
  }
  const read = account.owner === TOKEN_2022_PROGRAM ? readTransferFees(account) : { fees: null }
  return isFailure(read) ? read : { supply: readU64(data, 36), decimals: data[44] ?? 0, transferFees: read.fees, slot }
}

/** A mint's transfer fees and the slot they were read at; no fees and slot 0 where the mint cannot have any. */
export interface MintFees {
  readonly fees: TransferFees | null
  readonly slot: number
}

const WITHOUT_FEES: MintFees = { fees: null, slot: 0 }

/** Transfer fees of a mint. A mint of the classic Token program charges none, so it need not have been read. */
export const readMintFees = (accounts: Accounts, mint: Mint, isToken2022 = true): MintFees | Unpriceable => {
  if (!isToken2022) {
    return WITHOUT_FEES
  }
  const read = readMint(accounts, mint)
  return isFailure(read) ? read : { fees: read.transferFees, slot: read.slot }
}
