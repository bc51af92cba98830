/** Reads accounts from the JSON of nodes and dumps. Anything else is null or a failure, never a guess. */
import { Result, Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import type { AccountState } from "../AccountState.ts"

/** A slot number. */
export const Slot = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Lamports as a JSON number, or as digits where `parseJson` kept a number that is too large for a double. */
export const Lamports = Schema.Union([Slot, Schema.String.check(Schema.isPattern(/^\d{1,20}$/u))])

const LARGE_LAMPORTS = /"lamports":\s?\d{16}/u

/** Parses JSON and keeps lamports beyond 2^53 as digits; undefined when the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    const exact = LARGE_LAMPORTS.test(text) ? text.replaceAll(/"lamports":\s?(\d{16,})/gu, '"lamports":"$1"') : text
    return JSON.parse(exact)
  } catch {
    return undefined
  }
}

/** The decoded bytes, in memory of their own; null when the text is not base64 throughout. */
export const bytesFromBase64 = (text: string): Uint8Array | null => {
  const bytes = Buffer.from(text, "base64")
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  // The decoder skips invalid characters, so only the length reveals them.
  return text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding ? new Uint8Array(bytes) : null
}

const AccountJson = Schema.Struct({
  owner: Address,
  lamports: Lamports,
  data: Schema.Tuple([Schema.String, Schema.Literal("base64")]),
  space: Schema.optionalKey(Schema.Int)
})
const decodeAccount = Schema.decodeUnknownResult(AccountJson)

/** True when the bytes are complete: `space` bytes, or at most `most` bytes when a slice was asked for. */
const isWhole = (bytes: Uint8Array, space: number | undefined, most: number | undefined): boolean =>
  most === undefined ? space === undefined || space === bytes.length : bytes.length <= most

/**
 * Reads an account from a node's base64 JSON. Null, or an account without lamports, does not exist; malformed data
 * fails. `most` is the length of the slice when only a part of the data was asked for.
 */
export const accountFromJson = (
  address: Address,
  slot: number,
  value: unknown,
  most?: number
): Result.Result<AccountState, string> => {
  if (value === null) {
    return Result.succeed({ slot, account: null })
  }
  const decoded = decodeAccount(value)
  if (Result.isFailure(decoded)) {
    return Result.fail("not an account")
  }
  const { owner, data, space } = decoded.success
  const lamports = BigInt(decoded.success.lamports)
  const bytes = bytesFromBase64(data[0])
  if (bytes === null || !isWhole(bytes, space, most)) {
    return Result.fail("account data in another encoding or of another size than stated")
  }
  return Result.succeed({ slot, account: lamports === 0n ? null : { address, owner, lamports, data: bytes, slot } })
}
