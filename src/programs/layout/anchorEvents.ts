/**
 * Events of Anchor programs: a tag of eight bytes and a Borsh struct. They are in a log line, or in a call of the
 * program to itself, which starts with another tag. Each event has one list of fields, used for reading and writing.
 */
import type { Address } from "../../domain/Address.ts"
import { ANCHOR_SELF_CALL, tagAt, tagOf } from "./anchor.ts"
import { readU64 } from "./bytes.ts"
import { key, pack, u128, u64, utf8 } from "./pack.ts"
import type { DeriveAddress } from "../interface/Program.ts"
import type { AnchorEvent } from "../interface/Launchpad.ts"
import type { SwapDecoder, SwapReport } from "../interface/SwapDecoder.ts"

const SELF_CALL = tagOf(ANCHOR_SELF_CALL)

/** The event in a program's call to itself; null for any other instruction. */
export const eventInCall = (data: Uint8Array): AnchorEvent | null =>
  tagAt(data, 0) === SELF_CALL ? { tag: tagAt(data, 8), body: data.subarray(16) } : null

/** The data of a program's call to itself, for this event. */
export const encodeEventCall = (event: Uint8Array): Uint8Array => pack(u64(SELF_CALL), event)

/** The address that signs a program's calls to itself. */
export const eventAuthority = (derive: DeriveAddress, program: Address): Address =>
  derive(program, [utf8("__event_authority")])

const sizes = { bool: 1, u8: 1, i32: 4, u64: 8, i64: 8, u128: 16, address: 32 } as const

const packField = (value: Address | bigint | boolean | number, size: number): Uint8Array =>
  typeof value === "string" ? key(value) : u128(BigInt(value)).subarray(0, size)

/** The fixed-size fields at the start of an event. Offsets count from the end of the tag. */
export interface EventLayout<Name extends string> {
  readonly tag: bigint
  readonly offsetOf: (name: Name) => number
  /** Offset of a field's end: the length of the shortest body that contains the field. */
  readonly endOf: (name: Name) => number
  /** Encodes the event with its tag. Integers of up to 32 bits, and seconds, may be numbers. */
  readonly encode: (values: Readonly<Record<Name, Address | bigint | boolean | number>>) => Uint8Array
}

/** Lays out an event with this discriminator (16 hex digits) and these fields in order. */
export const eventLayout = <const Name extends string>(
  discriminator: string,
  fields: ReadonlyArray<readonly [name: Name, type: keyof typeof sizes]>
): EventLayout<Name> => {
  const places = new Map<Name, { readonly at: number; readonly end: number }>()
  let end = 0
  for (const [name, type] of fields) {
    places.set(name, { at: end, end: end + sizes[type] })
    end += sizes[type]
  }
  const tag = tagOf(discriminator)
  return {
    tag,
    offsetOf: (name) => places.get(name)?.at ?? -1,
    endOf: (name) => places.get(name)?.end ?? -1,
    encode: (values) => pack(u64(tag), ...fields.map(([name, type]) => packField(values[name], sizes[type])))
  }
}

/**
 * Reads a swap's two amounts from events with this layout. Null for other events, and for bodies that end before the
 * amounts.
 */
export const swapAmounts = <Name extends string>(
  layout: EventLayout<Name>,
  amountIn: NoInfer<Name>,
  amountOut: NoInfer<Name>,
  tag = layout.tag
) => {
  const length = Math.max(layout.endOf(amountIn), layout.endOf(amountOut))
  const [inAt, outAt] = [layout.offsetOf(amountIn), layout.offsetOf(amountOut)]
  return (event: bigint, body: Uint8Array): SwapReport | null =>
    event === tag && body.length >= length
      ? { amountIn: readU64(body, inAt), amountOut: readU64(body, outAt), traderLamports: null }
      : null
}

/** Reads a swap from a log line's payload, which begins with the event's tag. */
export const inLog =
  (read: NonNullable<SwapDecoder["selfCall"]>): NonNullable<SwapDecoder["logged"]> =>
  (payload) =>
    read(tagAt(payload, 0), payload.subarray(8))
