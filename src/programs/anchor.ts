/**
 * Conventions of Anchor programs. An instruction, an event and an account begin with eight bytes of a hash of their name, so
 * that programs share the bytes of common names. A program sends an event to itself: the tag of the call, the event's own, its fields.
 */
import type { Address } from "../domain/Address.ts"
import { pack, u64, utf8 } from "./math/pack.ts"
import type { DeriveAddress } from "./Program.ts"
import { type HopLayout, tagAt, tagOf } from "./SwapDecoder.ts"

/** `global:swap` and `global:swap2`. */
export const SWAP = tagOf("f8c69e91e17587c8")
export const SWAP_2 = tagOf("414b3f4ceb5b5b88")

/** `account:Pool`, in hex: PumpSwap and Meteora DAMM v2 are told apart by the owner. */
export const POOL_ACCOUNT = "f19a6d0411b16dbc"

const EVENT_CALL = tagOf("e445a52e51cb9a1d")

/** An event of an Anchor program. */
export interface AnchorEvent {
  readonly tag: bigint
  readonly body: Uint8Array
}

/** The event that a program's call to itself carries; null for any other instruction. */
export const eventInCall = (data: Uint8Array): AnchorEvent | null =>
  tagAt(data, 0) === EVENT_CALL ? { tag: tagAt(data, 8), body: data.subarray(16) } : null

/** The data of a program's call to itself that carries this event. */
export const encodeEventCall = (event: Uint8Array): Uint8Array => pack(u64(EVENT_CALL), event)

/** The address with which a program signs the calls that carry its events. */
export const eventAuthority = (derive: DeriveAddress, program: Address): Address =>
  derive(program, [utf8("__event_authority")])

/** The data of a swap of an exact input: tag, amount, least output, and what further fields follow. */
export const encodeExactIn = (
  tag: bigint,
  amountIn: bigint,
  minimum: bigint,
  ...further: ReadonlyArray<Uint8Array>
): Uint8Array => pack(u64(tag), u64(amountIn), u64(minimum), ...further)

/** The values of named accounts in the order in which an instruction lists them. */
export const accountsInOrder = <Name extends string, A>(
  order: ReadonlyArray<Name>,
  accounts: Readonly<Record<Name, A>>
): ReadonlyArray<A> => order.map((name) => accounts[name])

/** The places of a pool and its two vaults in an instruction's account order. */
export const hopIn = <Name extends string>(
  order: ReadonlyArray<Name>,
  names: { readonly pool: Name; readonly vaultA: Name; readonly vaultB: Name }
): HopLayout => ({
  pool: order.indexOf(names.pool),
  vaultA: order.indexOf(names.vaultA),
  vaultB: order.indexOf(names.vaultB)
})
