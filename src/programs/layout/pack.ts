/** Encodes the fields of instructions and events in little-endian order. */
import { type Address, addressToBytes } from "../../domain/Address.ts"
import { writeU128 } from "./bytes.ts"

const little = (value: bigint, size: number): Uint8Array => {
  const bytes = new Uint8Array(16)
  writeU128(bytes, 0, value)
  return bytes.subarray(0, size)
}

export const hex = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits, "hex"))
export const u8 = (value: number): Uint8Array => Uint8Array.of(value)
export const bool = (value: boolean): Uint8Array => Uint8Array.of(value ? 1 : 0)
export const u16 = (value: number): Uint8Array => little(BigInt(value), 2)
export const u32 = (value: number): Uint8Array => little(BigInt(value), 4)
export const u64 = (value: bigint): Uint8Array => little(value, 8)
export const i64 = (value: number): Uint8Array => little(BigInt(value), 8)
export const u128 = (value: bigint): Uint8Array => little(value, 16)
export const key = (address: Address): Uint8Array => addressToBytes(address)
export const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value)

/** A text preceded by its length, as in Borsh. */
export const text = (value: string): Uint8Array => {
  const bytes = utf8(value)
  return pack(u32(bytes.length), bytes)
}

export const pack = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const data = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    data.set(part, at)
    at += part.length
  }
  return data
}
