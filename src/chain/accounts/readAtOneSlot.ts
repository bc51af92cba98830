/** Reads any number of accounts so that all belong to one slot. */
import { Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "../AccountState.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"

/** Accounts as they were at the end of one slot. */
export interface SlotRead {
  readonly slot: number
  readonly states: ReadonlyMap<Address, AccountState>
  /** Accounts that the node returned in an invalid form. */
  readonly malformed: ReadonlySet<Address>
}

/** How often to read again accounts whose response was of an older slot. */
const MOST_READS = 8

/**
 * Reads accounts at one slot, not lower than `minContextSlot`. A response holds a hundred accounts of one slot.
 * Responses of an older slot than the newest are requested again until all belong to the same slot. Fails when the
 * chain moves on faster than that.
 */
export const readAtOneSlot = Effect.fnUntraced(function* (
  rpc: Pick<SolanaRpc["Service"], "getMultipleAccounts">,
  addresses: ReadonlyArray<Address>,
  minContextSlot: number
): Effect.fn.Return<SlotRead, ChainUnavailable> {
  const states = new Map<Address, AccountState>()
  const malformed = new Set<Address>()
  let pending = addresses
  let slot = minContextSlot
  for (let reads = 0; reads < MOST_READS; reads++) {
    const read = yield* rpc.getMultipleAccounts(pending, { minContextSlot: slot === 0 ? undefined : slot })
    for (const [address, state] of read.states) {
      states.set(address, state)
      slot = Math.max(slot, state.slot)
    }
    read.malformed.forEach((address) => malformed.add(address))
    pending = addresses.filter((address) => !malformed.has(address) && states.get(address)?.slot !== slot)
    if (pending.length === 0) {
      return { slot, states, malformed }
    }
  }
  return yield* new ChainUnavailable({ reason: "timeout", detail: "the accounts could not be read at one slot" })
})
