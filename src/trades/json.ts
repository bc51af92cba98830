/** What a node's JSON holds, found out without a schema: a block is megabytes, and every microsecond counts. */
import type { Address } from "../domain/Address.ts"
import type { Signature } from "../domain/Signature.ts"

const DIGITS = /^\d{1,20}$/u
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/u

/** An object whose members are not known yet. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether the value is an object with members, not an array. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether the value is a list of text. */
export const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

/** Whether the value is an integer that a double holds exactly, and not negative. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const hasLengthOfAddress = (value: unknown): value is string =>
  typeof value === "string" && value.length >= 32 && value.length <= 44

/** Whether the text could be an address: of base58's letters and of the right length. That it is 32 bytes is the node's word. */
export const isAddressText = (value: unknown): value is Address => hasLengthOfAddress(value) && BASE58.test(value)

/** Whether the text could be a signature: of base58's letters and of the right length. That it is 64 bytes is the node's word. */
export const isSignatureText = (value: unknown): value is Signature =>
  typeof value === "string" && value.length >= 64 && value.length <= 88 && BASE58.test(value)

/** Whether the text is as long as an address: enough for what repeats an account key, and there are hundreds a transaction. */
export const looksLikeAddress = (value: unknown): value is Address => hasLengthOfAddress(value)

/** Whether every item looks like an address. */
export const isAddresses = (value: unknown): value is ReadonlyArray<Address> =>
  Array.isArray(value) && value.every(hasLengthOfAddress)

/** The amount that decimal digits spell; null for anything else. */
export const amountFromDigits = (value: unknown): bigint | null =>
  typeof value === "string" && DIGITS.test(value) ? BigInt(value) : null

/** Lamports as a JSON number, or as the digits that a reader kept because a double would not hold them; null for anything else. */
export const lamportsFrom = (value: unknown): bigint | null =>
  isCount(value) ? BigInt(value) : amountFromDigits(value)
