/** Little-endian reads and writes at fixed offsets of account data. */
import { type Address, addressFromBytes, addressToBytes } from "../../domain/Address.ts"

/** The last view. An account is usually accessed many times in a row. */
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

export const readU16 = (data: Uint8Array, offset: number): number => view(data).getUint16(offset, true)
export const readU32 = (data: Uint8Array, offset: number): number => view(data).getUint32(offset, true)
export const readI32 = (data: Uint8Array, offset: number): number => view(data).getInt32(offset, true)
export const readU64 = (data: Uint8Array, offset: number): bigint => view(data).getBigUint64(offset, true)
export const readI64 = (data: Uint8Array, offset: number): bigint => view(data).getBigInt64(offset, true)

export const readU128 = (data: Uint8Array, offset: number): bigint => {
  const bytes = view(data)
  return (bytes.getBigUint64(offset + 8, true) << 64n) | bytes.getBigUint64(offset, true)
}

export const readI128 = (data: Uint8Array, offset: number): bigint => {
  const bytes = view(data)
  return (bytes.getBigInt64(offset + 8, true) << 64n) | bytes.getBigUint64(offset, true)
}

export const readAddress = (data: Uint8Array, offset: number): Address =>
  addressFromBytes(data.subarray(offset, offset + 32))

/** True when the data begins with this Anchor discriminator of 8 bytes, given as 16 hex digits. */
export const hasDiscriminator = (data: Uint8Array, hex: string): boolean => {
  if (data.length < 8) {
    return false
  }
  for (let i = 0; i < 8; i++) {
    if (data[i] !== Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16)) {
      return false
    }
  }
  return true
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

/** Zeroed account data that begins with an Anchor discriminator of 8 bytes, given as 16 hex digits. */
export const newAccountData = (size: number, discriminator: string): Uint8Array => {
  const data = new Uint8Array(size)
  data.set(Buffer.from(discriminator, "hex"))
  return data
}
