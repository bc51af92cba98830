/** Little-endian bytes of instructions, events and accounts, field by field. */
import { type Address, addressToBytes } from "../../domain/Address.ts"
import { writeU128 } from "./writeBytes.ts"

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
export const i32 = (value: number): Uint8Array => little(BigInt(value), 4)
export const u64 = (value: bigint): Uint8Array => little(value, 8)
export const i64 = (value: number): Uint8Array => little(BigInt(value), 8)
export const u128 = (value: bigint): Uint8Array => little(value, 16)
export const key = (address: Address): Uint8Array => addressToBytes(address)
export const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value)

/** A text with its length before it, as Borsh has it. */
export const text = (value: string): Uint8Array => {
  const bytes = utf8(value)
  return pack(u32(bytes.length), bytes)
}

/** The parts, one after the other. */
export const pack = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const data = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    data.set(part, at)
    at += part.length
  }
  return data
}

const sizes = { bool: 1, u8: 1, i32: 4, u32: 4, i64: 8, u64: 8, u128: 16, address: 32 } as const

/** A value of a struct's field. Integers of up to 32 bits and seconds may be numbers. */
type FieldValue = Address | bigint | boolean | number

const packField = (value: FieldValue, size: number): Uint8Array =>
  typeof value === "string" ? key(value) : little(BigInt(value), size)

/** A struct of fixed-size fields: one list of fields for writing and for reading. */
export interface Struct<Name extends string> {
  /** Offset of a field from the beginning of the struct. */
  readonly offsetOf: (name: Name) => number
  /** Offset behind a field: the length of the shortest struct that contains it. */
  readonly endOf: (name: Name) => number
  readonly encode: (values: Readonly<Record<Name, FieldValue>>) => Uint8Array
}

/** The struct of these fields in this order. An offset of an unknown field is -1. */
export const structOf = <const Name extends string>(
  fields: ReadonlyArray<readonly [name: Name, type: keyof typeof sizes]>
): Struct<Name> => {
  const ends = new Map<Name, { readonly at: number; readonly end: number }>()
  let end = 0
  for (const [name, type] of fields) {
    ends.set(name, { at: end, end: end + sizes[type] })
    end += sizes[type]
  }
  return {
    offsetOf: (name) => ends.get(name)?.at ?? -1,
    endOf: (name) => ends.get(name)?.end ?? -1,
    encode: (values) => pack(...fields.map(([name, type]) => packField(values[name], sizes[type])))
  }
}
