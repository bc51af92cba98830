/** Events of Anchor programs. A program sends an event to itself: the tag of the call, the event's own tag, its fields. */
import type { Address } from "../domain/Address.ts"
import { ANCHOR_SELF_CALL } from "./anchor.ts"
import { pack, u64, utf8 } from "./math/pack.ts"
import type { DeriveAddress } from "./Program.ts"
import { tagAt, tagOf } from "./SwapDecoder.ts"

const SELF_CALL = tagOf(ANCHOR_SELF_CALL)

/** An event of an Anchor program. */
export interface AnchorEvent {
  readonly tag: bigint
  readonly body: Uint8Array
}

/** The event that a program's call to itself carries; null for any other instruction. */
export const eventInCall = (data: Uint8Array): AnchorEvent | null =>
  tagAt(data, 0) === SELF_CALL ? { tag: tagAt(data, 8), body: data.subarray(16) } : null

/** The data of a program's call to itself that carries this event. */
export const encodeEventCall = (event: Uint8Array): Uint8Array => pack(u64(SELF_CALL), event)

/** The address with which a program signs the calls that carry its events. */
export const eventAuthority = (derive: DeriveAddress, program: Address): Address =>
  derive(program, [utf8("__event_authority")])
