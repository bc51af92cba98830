/** Little-endian encoding of the fields of instructions and events. */
import { writeI32, writeI64, writeU128, writeU16, writeU32, writeU64 } from "./writeBytes.ts"
import { type Address, addressToBytes } from "../../domain/Address.ts"

const filled = (size: number, write: (data: Uint8Array) => void): Uint8Array => {
  const data = new Uint8Array(size)
  write(data)
  return data
}

export const hex = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits, "hex"))
export const u8 = (value: number): Uint8Array => Uint8Array.of(value)
export const bool = (value: boolean): Uint8Array => Uint8Array.of(value ? 1 : 0)
export const u16 = (value: number): Uint8Array => filled(2, (data) => writeU16(data, 0, value))
export const u32 = (value: number): Uint8Array => filled(4, (data) => writeU32(data, 0, value))
export const i32 = (value: number): Uint8Array => filled(4, (data) => writeI32(data, 0, value))
export const u64 = (value: bigint): Uint8Array => filled(8, (data) => writeU64(data, 0, value))
export const i64 = (value: number): Uint8Array => filled(8, (data) => writeI64(data, 0, BigInt(value)))
export const u128 = (value: bigint): Uint8Array => filled(16, (data) => writeU128(data, 0, value))
export const key = (address: Address): Uint8Array => addressToBytes(address)

/** A text preceded by its length, as in Borsh. */
export const text = (value: string): Uint8Array => {
  const bytes = new TextEncoder().encode(value)
  return pack(u32(bytes.length), bytes)
}

/** The parts concatenated. */
export const pack = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const data = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    data.set(part, at)
    at += part.length
  }
  return data
}

/** Encoder of records that begin with a discriminator, given as hex digits, and hold these fields in this order. */
export const recordEncoder =
  <V extends object>(discriminator: string, fields: { readonly [K in keyof V]: (value: V[K]) => Uint8Array }) =>
  (values: Readonly<V>): Uint8Array => {
    const parts = [hex(discriminator)]
    for (const name in fields) {
      parts.push(fields[name](values[name]))
    }
    return pack(...parts)
  }
