/** Checks a node's JSON without a schema: a block is megabytes, and decoding it with a schema takes too long. */
import type { Address } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"

const DIGITS = /^\d{1,20}$/u
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/u

/** An object whose members are not known yet. */
export type Fields = Readonly<Record<string, unknown>>

/** True for an object with members, not an array. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

/** True for a non-negative integer that a double holds exactly. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const hasLengthOfAddress = (value: unknown): value is string =>
  typeof value === "string" && value.length >= 32 && value.length <= 44

/** True for text of base58 letters that is as long as an address. Trusts the node that it is 32 bytes. */
export const isAddressText = (value: unknown): value is Address => hasLengthOfAddress(value) && BASE58.test(value)

/** True for text of base58 letters that is as long as a signature. Trusts the node that it is 64 bytes. */
export const isSignatureText = (value: unknown): value is Signature =>
  typeof value === "string" && value.length >= 64 && value.length <= 88 && BASE58.test(value)

/** True for text as long as an address. Enough for account keys: a transaction repeats them hundreds of times. */
export const looksLikeAddress = (value: unknown): value is Address => hasLengthOfAddress(value)

/** True when every item is as long as an address. */
export const isAddresses = (value: unknown): value is ReadonlyArray<Address> =>
  Array.isArray(value) && value.every(hasLengthOfAddress)

/** The amount in decimal digits; null for anything else. */
export const amountFromDigits = (value: unknown): bigint | null =>
  typeof value === "string" && DIGITS.test(value) ? BigInt(value) : null

/** Lamports as a JSON number, or as the digits kept of a number too large for a double; null for anything else. */
export const lamportsFrom = (value: unknown): bigint | null =>
  isCount(value) ? BigInt(value) : amountFromDigits(value)
