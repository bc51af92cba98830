/** Mints and token accounts of the two SPL token programs: their bytes, and transfers between them. */
import {
  readAddress,
  readU16,
  readU64,
  writeAddress,
  writeU16,
  writeU32,
  writeU64
} from "../../programs/layout/bytes.ts"
import { ceilDiv, minBigInt } from "../../programs/math/integers.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { extensionData, type Naming } from "./metadata.ts"

/** Lamports of rent exemption: 6,960 for each byte and for 128 bytes of bookkeeping. */
export const rentExempt = (size: number): bigint => BigInt(size + 128) * 6960n

/** A Token-2022 transfer fee, the same in every epoch. */
export interface TransferFee {
  readonly bps: number
  readonly maximum: bigint
}

/** The first state of a mint. */
export interface MintSpec {
  readonly address: Mint
  readonly decimals: number
  readonly authority: Address | null
  readonly freezeAuthority: Address | null
  readonly transferFee: TransferFee | null
  /** Its name; absent for mints without metadata. */
  readonly naming?: Naming | undefined
}

/** An account before the bank adds the slot of the write. */
export type NewAccount = Omit<OnChainAccount, "slot">

// Token-2022 pads a mint to the size of a token account; the next byte distinguishes the two.
const EXTENSIONS_AT = 166
const ACCOUNT_TYPE_AT = 165
const TRANSFER_FEE_CONFIG = { type: 1, size: 108 }
const TRANSFER_FEE_AMOUNT = { type: 2, size: 8 }
const IMMUTABLE_OWNER = { type: 7, size: 0 }
const METADATA_POINTER = { type: 18, size: 64 }
const TOKEN_METADATA = 19

const writeExtension = (data: Uint8Array, offset: number, extension: { type: number; size: number }): number => {
  writeU16(data, offset, extension.type)
  writeU16(data, offset + 2, extension.size)
  return offset + 4
}

const writeOptional = (data: Uint8Array, offset: number, address: Address | null): void => {
  if (address !== null) {
    writeU32(data, offset, 1)
    writeAddress(data, offset + 4, address)
  }
}

const writeFeeConfig = (data: Uint8Array, spec: MintSpec, fee: TransferFee): void => {
  const at = writeExtension(data, EXTENSIONS_AT, TRANSFER_FEE_CONFIG)
  if (spec.authority !== null) {
    writeAddress(data, at, spec.authority)
    writeAddress(data, at + 32, spec.authority)
  }
  for (const schedule of [at + 72, at + 90]) {
    writeU64(data, schedule + 8, fee.maximum)
    writeU16(data, schedule + 16, fee.bps)
  }
}

/** The extensions of a mint's name: the pointer, which is the mint itself, and the metadata. */
const namingExtensions = ({ address, authority, naming }: MintSpec): Uint8Array => {
  if (naming === undefined) {
    return new Uint8Array(0)
  }
  const value = extensionData(address, naming, authority)
  const data = new Uint8Array(4 + METADATA_POINTER.size + 4 + value.length)
  const at = writeExtension(data, 0, METADATA_POINTER)
  if (authority !== null) {
    writeAddress(data, at, authority)
  }
  writeAddress(data, at + 32, address)
  data.set(value, writeExtension(data, at + METADATA_POINTER.size, { type: TOKEN_METADATA, size: value.length }))
  return data
}

/** A new mint with no supply. A transfer fee makes it a Token-2022 mint, which holds its name itself. */
export const newMint = (spec: MintSpec): NewAccount => {
  const fee = spec.transferFee
  const named = fee === null ? new Uint8Array(0) : namingExtensions(spec)
  const namedAt = EXTENSIONS_AT + 4 + TRANSFER_FEE_CONFIG.size
  const data = new Uint8Array(fee === null ? 82 : namedAt + named.length)
  writeOptional(data, 0, spec.authority)
  data[44] = spec.decimals
  data[45] = 1
  writeOptional(data, 46, spec.freezeAuthority)
  if (fee !== null) {
    data[ACCOUNT_TYPE_AT] = 1
    writeFeeConfig(data, spec, fee)
    data.set(named, namedAt)
  }
  const owner = fee === null ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
  return { address: spec.address, owner, lamports: rentExempt(data.length), data }
}

/** The transfer fee of a mint account; null without one. */
export const transferFeeOf = (mint: OnChainAccount): TransferFee | null => {
  if (mint.data.length < EXTENSIONS_AT || readU16(mint.data, EXTENSIONS_AT) !== TRANSFER_FEE_CONFIG.type) {
    return null
  }
  const newer = EXTENSIONS_AT + 4 + 90
  return { maximum: readU64(mint.data, newer + 8), bps: readU16(mint.data, newer + 16) }
}

/** Units that the token program withholds of a transfer: rounded up, capped. */
export const withheldOf = (fee: TransferFee | null, amount: bigint): bigint =>
  fee === null ? 0n : minBigInt(fee.maximum, ceilDiv(amount * BigInt(fee.bps), 10_000n))

/** The supply of a mint account, in atomic units. */
export const supplyOf = (mint: OnChainAccount): bigint => readU64(mint.data, 36)

/** An empty token account. One of wrapped SOL records its rent apart from its balance. */
export const newTokenAccount = (address: Address, mint: OnChainAccount, owner: Address): NewAccount => {
  const withFee = transferFeeOf(mint) !== null
  const data = new Uint8Array(withFee ? EXTENSIONS_AT + 4 + 4 + TRANSFER_FEE_AMOUNT.size : 165)
  writeAddress(data, 0, mint.address)
  writeAddress(data, 32, owner)
  data[108] = 1
  const rent = rentExempt(data.length)
  if (mint.address === SOL) {
    writeU32(data, 109, 1)
    writeU64(data, 113, rent)
  }
  if (withFee) {
    data[ACCOUNT_TYPE_AT] = 2
    writeExtension(data, writeExtension(data, EXTENSIONS_AT, IMMUTABLE_OWNER), TRANSFER_FEE_AMOUNT)
  }
  return { address, owner: mint.owner, lamports: rent, data }
}

/** The balance of a token account, in atomic units. */
export const balanceOf = (account: OnChainAccount): bigint => readU64(account.data, 64)

/** The mint of a token account. */
export const mintOf = (account: OnChainAccount): Mint => readAddress(account.data, 0)

/** The wallet that owns a token account. */
export const ownerOf = (account: OnChainAccount): Address => readAddress(account.data, 32)

const TOKEN_ACCOUNT_SIZE = 165
const TYPE_ACCOUNT = 2

/** True for token accounts. Sizes distinguish one from a mint, except with extensions, where Token-2022 marks the type. */
export const holdsTokens = ({ data, owner }: OnChainAccount): boolean =>
  (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM) &&
  (data.length === TOKEN_ACCOUNT_SIZE || data[ACCOUNT_TYPE_AT] === TYPE_ACCOUNT)

/** Fees withheld in a token account: part of the supply, not of any balance. */
export const heldBackIn = (account: OnChainAccount): bigint =>
  account.data.length > EXTENSIONS_AT + 8 ? readU64(account.data, EXTENSIONS_AT + 8) : 0n

/** The token account with `delta` more tokens and `withheld` more in fees. Lamports of wrapped SOL follow its balance. */
export const withBalance = (account: OnChainAccount, delta: bigint, withheld = 0n): NewAccount => {
  const balance = balanceOf(account) + delta
  if (balance < 0n) {
    throw new RangeError(`token account ${account.address} would fall below zero`)
  }
  const data = account.data.slice()
  writeU64(data, 64, balance)
  if (withheld > 0n) {
    writeU64(data, EXTENSIONS_AT + 8, heldBackIn(account) + withheld)
  }
  const native = data[109] === 1
  return { ...account, data, lamports: native ? account.lamports + delta : account.lamports }
}

/** The mint with `amount` more supply. */
export const withSupply = (mint: OnChainAccount, amount: bigint): NewAccount => {
  const data = mint.data.slice()
  writeU64(data, 36, supplyOf(mint) + amount)
  return { ...mint, data }
}

/** The amount in whole tokens, without trailing zeros. */
export const uiAmountText = (amount: bigint, decimals: number): string => {
  const digits = amount.toString().padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/u, "")
  return fraction === "" ? whole : `${whole}.${fraction}`
}
