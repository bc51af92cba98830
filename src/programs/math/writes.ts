/** Fixed-offset little-endian writes of account data, for those who move accounts as the programs do. */

const view = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength)

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
