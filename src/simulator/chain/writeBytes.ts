/** What making accounts takes besides the writes that swaps need. */
import { writeU128 } from "../../programs/math/writes.ts"
import { type Address, addressToBytes } from "../../domain/Address.ts"

const view = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength)

export const writeU16 = (data: Uint8Array, offset: number, value: number): void =>
  view(data).setUint16(offset, value, true)

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
