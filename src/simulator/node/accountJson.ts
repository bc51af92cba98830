/** Accounts as JSON text, in a validator's encodings. */
import { toBase58 } from "../../domain/base58.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { UPGRADEABLE_LOADER } from "../chain/addresses.ts"
import type { RpcFailure } from "./jsonRpc.ts"

/** How account data is encoded. `binary`, the protocol's default, is base58 as a bare string. */
export type Encoding = "binary" | "base58" | "base64"

/** Which bytes of the data to return. */
export interface DataSlice {
  readonly offset: number
  readonly length: number
}

const BASE58_LIMIT = 128

/** The error when data is too long for base58. */
export const tooLongForBase58: RpcFailure = {
  code: -32600,
  message: `Encoded binary (base 58) data should be less than ${BASE58_LIMIT} bytes, please use Base64 encoding.`
}

/** True when the encoding can hold the data. */
export const fits = (data: Uint8Array, encoding: Encoding): boolean =>
  encoding === "base64" || data.length <= BASE58_LIMIT

/** Cuts a slice out of the data. It ends where the data ends. */
export const sliceOf = (data: Uint8Array, slice: DataSlice | undefined): Uint8Array =>
  slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length)

const base64 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64")

const dataText = (data: Uint8Array, encoding: Encoding): string => {
  switch (encoding) {
    case "binary":
      return `"${toBase58(data)}"`
    case "base58":
      return `["${toBase58(data)}","base58"]`
    case "base64":
      return `["${base64(data)}","base64"]`
  }
}

/** The account as JSON text, around this text for its data. */
export const accountTextWith = ({ data, lamports, owner }: OnChainAccount, text: string): string =>
  `{"data":${text},"executable":${owner === UPGRADEABLE_LOADER},"lamports":${lamports},"owner":"${owner}",` +
  `"rentEpoch":18446744073709551615,"space":${data.length}}`

// Subscribers of a pool all get the same text, and accounts are never changed in place.
const known = new WeakMap<OnChainAccount, string>()

/** The account as JSON text. The caller has made sure that the encoding can hold the data. */
export const accountText = (account: OnChainAccount, encoding: Encoding, slice?: DataSlice): string => {
  if (encoding !== "base64" || slice !== undefined) {
    return accountTextWith(account, dataText(sliceOf(account.data, slice), encoding))
  }
  const found = known.get(account)
  if (found !== undefined) {
    return found
  }
  const text = accountTextWith(account, dataText(account.data, encoding))
  known.set(account, text)
  return text
}
