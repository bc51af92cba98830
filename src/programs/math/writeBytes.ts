/** Fixed-offset little-endian writes of account data. */
import { type Address, addressToBytes } from "../../domain/Address.ts"

/** The newest view: an account is mostly accessed many times in a row. */
let newest: { readonly data: Uint8Array; readonly view: DataView } = {
  data: new Uint8Array(0),
  view: new DataView(new ArrayBuffer(0))
}

const view = (data: Uint8Array): DataView => {
  if (newest.data !== data) {
    newest = { data, view: new DataView(data.buffer, data.byteOffset, data.byteLength) }
  }
  return newest.view
}

export const writeU16 = (data: Uint8Array, offset: number, value: number): void =>
  view(data).setUint16(offset, value, true)

export const writeI32 = (data: Uint8Array, offset: number, value: number): void =>
  view(data).setInt32(offset, value, true)

export const writeU32 = (data: Uint8Array, offset: number, value: number): void =>
  view(data).setUint32(offset, value, true)

export const writeU64 = (data: Uint8Array, offset: number, value: bigint): void =>
  view(data).setBigUint64(offset, value, true)

export const writeI64 = (data: Uint8Array, offset: number, value: bigint): void =>
  view(data).setBigInt64(offset, value, true)

export const writeU128 = (data: Uint8Array, offset: number, value: bigint): void => {
  writeU64(data, offset, BigInt.asUintN(64, value))
  writeU64(data, offset + 8, value >> 64n)
}

export const writeI128 = (data: Uint8Array, offset: number, value: bigint): void =>
  writeU128(data, offset, BigInt.asUintN(128, value))

export const writeAddress = (data: Uint8Array, offset: number, value: Address): void =>
  data.set(addressToBytes(value), offset)

/** Zeroed account data that begins with an 8-byte Anchor discriminator, given as 16 hex digits. */
export const newAccountData = (size: number, discriminator: string): Uint8Array => {
  const data = new Uint8Array(size)
  data.set(Buffer.from(discriminator, "hex"))
  return data
}
