/** Reads of any number of accounts that all belong to one slot. */
import { Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "./accountJson.ts"
import { ChainUnavailable } from "./ChainFeed.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"

/** Accounts as they were at the end of one slot. */
export interface SlotRead {
  readonly slot: number
  readonly states: ReadonlyMap<Address, AccountState>
  /** Accounts that the node returned in no valid form. */
  readonly malformed: ReadonlySet<Address>
}

/** Repetitions for accounts whose responses were of an older slot than others. */
const MOST_READS = 8

/**
 * The accounts at one slot, not lower than `minContextSlot`. A response holds a hundred accounts of one slot; responses of older
 * slots than the newest are requested again until all are of the same. Fails when the chain is faster than that.
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
