/** Mints and token accounts of the two SPL token programs: their bytes and how tokens move between them. */
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
import { pack } from "../../programs/layout/pack.ts"
import { extensionData, type Naming } from "./metadata.ts"

/** Lamports that make an account rent exempt: 6,960 for each byte, plus 128 bytes of bookkeeping. */
export const rentExempt = (size: number): bigint => BigInt(size + 128) * 6960n

/** A Token-2022 transfer fee. It is the same in every epoch. */
export interface TransferFee {
  readonly bps: number
  readonly maximum: bigint
}

/** What a new mint looks like. */
export interface MintSpec {
  readonly address: Mint
  readonly decimals: number
  readonly authority: Address | null
  readonly freezeAuthority: Address | null
  readonly transferFee: TransferFee | null
  /** May move everybody's tokens. */
  readonly permanentDelegate?: Address | undefined
  /** The program that the token program calls at each transfer. */
  readonly transferHook?: Address | undefined
  /** The mint's name; absent when it has no metadata. */
  readonly naming?: Naming | undefined
}

/** An account before the bank sets the slot of the write. */
export type NewAccount = Omit<OnChainAccount, "slot">

// Token-2022 pads a mint to the size of a token account. The next byte tells the two apart.
const EXTENSIONS_AT = 166
const ACCOUNT_TYPE_AT = 165
const TOKEN_ACCOUNT_SIZE = 165
const TYPE_ACCOUNT = 2
/** Offset of a token account's state: 1 is initialized, 2 frozen. */
const STATE_AT = 108
const TRANSFER_FEE_CONFIG = { type: 1, size: 108 }
const TRANSFER_FEE_AMOUNT = { type: 2, size: 8 }
const IMMUTABLE_OWNER = { type: 7, size: 0 }
const PERMANENT_DELEGATE = { type: 12, size: 32 }
const TRANSFER_HOOK = { type: 14, size: 64 }
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

const extensionOf = (extension: { type: number; size: number }, write: (data: Uint8Array, at: number) => void) => {
  const data = new Uint8Array(4 + extension.size)
  write(data, writeExtension(data, 0, extension))
  return data
}

const feeExtension = ({ authority }: MintSpec, fee: TransferFee): Uint8Array =>
  extensionOf(TRANSFER_FEE_CONFIG, (data, at) => {
    if (authority !== null) {
      writeAddress(data, at, authority)
      writeAddress(data, at + 32, authority)
    }
    for (const schedule of [at + 72, at + 90]) {
      writeU64(data, schedule + 8, fee.maximum)
      writeU16(data, schedule + 16, fee.bps)
    }
  })

/** The extensions that affect transfers. The transfer fee comes first, where `transferFeeOf` reads it. */
const transferExtensions = (spec: MintSpec): ReadonlyArray<Uint8Array> => {
  const { permanentDelegate, transferFee, transferHook } = spec
  return [
    ...(transferFee === null ? [] : [feeExtension(spec, transferFee)]),
    ...(permanentDelegate === undefined
      ? []
      : [extensionOf(PERMANENT_DELEGATE, (data, at) => writeAddress(data, at, permanentDelegate))]),
    ...(transferHook === undefined
      ? []
      : [extensionOf(TRANSFER_HOOK, (data, at) => writeAddress(data, at + 32, transferHook))])
  ]
}

/** The extensions for a mint's name: a pointer to the mint itself, and the metadata. */
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

/** A new mint without supply. With an extension it is a Token-2022 mint, which holds its own name. */
export const newMint = (spec: MintSpec): NewAccount => {
  const moving = transferExtensions(spec)
  const extensions = moving.length === 0 ? new Uint8Array(0) : pack(...moving, namingExtensions(spec))
  const data = new Uint8Array(extensions.length === 0 ? 82 : EXTENSIONS_AT + extensions.length)
  writeOptional(data, 0, spec.authority)
  data[44] = spec.decimals
  data[45] = 1
  writeOptional(data, 46, spec.freezeAuthority)
  if (extensions.length > 0) {
    data[ACCOUNT_TYPE_AT] = 1
    data.set(extensions, EXTENSIONS_AT)
  }
  const owner = extensions.length === 0 ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
  return { address: spec.address, owner, lamports: rentExempt(data.length), data }
}

/** The transfer fee of a mint account; null when it has none. */
export const transferFeeOf = (mint: OnChainAccount): TransferFee | null => {
  if (mint.data.length < EXTENSIONS_AT || readU16(mint.data, EXTENSIONS_AT) !== TRANSFER_FEE_CONFIG.type) {
    return null
  }
  const newer = EXTENSIONS_AT + 4 + 90
  return { maximum: readU64(mint.data, newer + 8), bps: readU16(mint.data, newer + 16) }
}

/** How much the token program withholds of a transfer: rounded up and capped. */
export const withheldOf = (fee: TransferFee | null, amount: bigint): bigint =>
  fee === null ? 0n : minBigInt(fee.maximum, ceilDiv(amount * BigInt(fee.bps), 10_000n))

/** Supply of a mint account, in atomic units. */
export const supplyOf = (mint: OnChainAccount): bigint => readU64(mint.data, 36)

/** An empty token account. A wrapped SOL account records its rent separately from its balance. */
export const newTokenAccount = (address: Address, mint: OnChainAccount, owner: Address): NewAccount => {
  const withFee = transferFeeOf(mint) !== null
  const isExtended = mint.owner === TOKEN_2022_PROGRAM
  const data = new Uint8Array(
    isExtended ? EXTENSIONS_AT + 4 + (withFee ? 4 + TRANSFER_FEE_AMOUNT.size : 0) : TOKEN_ACCOUNT_SIZE
  )
  writeAddress(data, 0, mint.address)
  writeAddress(data, 32, owner)
  data[STATE_AT] = 1
  const rent = rentExempt(data.length)
  if (mint.address === SOL) {
    writeU32(data, 109, 1)
    writeU64(data, 113, rent)
  }
  if (isExtended) {
    data[ACCOUNT_TYPE_AT] = TYPE_ACCOUNT
    const next = writeExtension(data, EXTENSIONS_AT, IMMUTABLE_OWNER)
    if (withFee) {
      writeExtension(data, next, TRANSFER_FEE_AMOUNT)
    }
  }
  return { address, owner: mint.owner, lamports: rent, data }
}

/** Balance of a token account, in atomic units. */
export const balanceOf = (account: OnChainAccount): bigint => readU64(account.data, 64)

export const mintOf = (account: OnChainAccount): Mint => readAddress(account.data, 0)

export const ownerOf = (account: OnChainAccount): Address => readAddress(account.data, 32)

/**
 * True for token accounts. Their size tells them from mints. With extensions it does not, and Token-2022 marks the
 * type.
 */
export const holdsTokens = ({ data, owner }: OnChainAccount): boolean =>
  (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM) &&
  (data.length === TOKEN_ACCOUNT_SIZE || data[ACCOUNT_TYPE_AT] === TYPE_ACCOUNT)

/** Fees withheld in a token account. They are part of the supply but of no balance. */
export const heldBackIn = (account: OnChainAccount): bigint =>
  account.data.length > EXTENSIONS_AT + 8 ? readU64(account.data, EXTENSIONS_AT + 8) : 0n

/** Adds `delta` tokens and `withheld` fees to a token account. The lamports of wrapped SOL follow the balance. */
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

/** The account, frozen or thawed. */
export const withFrozen = (account: OnChainAccount, isFrozen: boolean): NewAccount => {
  const data = account.data.slice()
  data[STATE_AT] = isFrozen ? 2 : 1
  return { ...account, data }
}

/** Adds `amount` to the mint's supply. */
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
