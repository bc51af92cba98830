import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "../AccountState.ts"

/** What became of a write: `kept`, or dropped because it is `repeated`, `older` or of an `unknown` account. */
export type WriteOutcome = "kept" | "repeated" | "older" | "unknown"

/** True when both are the same account, or both do not exist. */
export const sameAccount = (a: OnChainAccount | null, b: OnChainAccount | null): boolean =>
  a === null || b === null
    ? a === b
    : a.lamports === b.lamports && a.owner === b.owner && Buffer.compare(a.data, b.data) === 0

/**
 * True when `next` may be newer than `known`, given that both are of one slot. A state without a write version is the
 * state at the end of the slot. Versions of two streams cannot be compared.
 */
export const mayPrecede = (known: AccountState, next: AccountState): boolean =>
  next.writeVersion === undefined ||
  (known.writeVersion !== undefined && (known.stream !== next.stream || next.writeVersion > known.writeVersion))

const NOTHING: ReadonlyArray<never> = []

/** Writes of slots that have not ended. Keeps the newest write of each account and slot. */
export class OpenWrites {
  readonly #slots = new Map<number, Map<Address, AccountState>>()
  #size = 0
  /** The oldest slot with writes; Infinity without one. */
  #oldest = Infinity

  /** How many writes wait, over all slots. */
  get size(): number {
    return this.#size
  }

  add(address: Address, state: AccountState): Exclude<WriteOutcome, "unknown"> {
    const writes = this.#slots.get(state.slot) ?? new Map<Address, AccountState>()
    const open = writes.get(address)
    if (open !== undefined && !mayPrecede(open, state)) {
      return sameAccount(open.account, state.account) ? "repeated" : "older"
    }
    this.#slots.set(state.slot, writes)
    this.#oldest = Math.min(this.#oldest, state.slot)
    this.#size += open === undefined ? 1 : 0
    writes.set(address, state)
    return "kept"
  }

  /** Removes and returns the writes of every slot up to and including this one, in order of slot. */
  take(slot: number): ReadonlyArray<readonly [slot: number, writes: ReadonlyMap<Address, AccountState>]> {
    if (slot < this.#oldest) {
      return NOTHING
    }
    const ended = Array.from(this.#slots)
      .filter(([open]) => open <= slot)
      .toSorted(([a], [b]) => a - b)
    for (const [open, writes] of ended) {
      this.#slots.delete(open)
      this.#size -= writes.size
    }
    this.#oldest = Math.min(...this.#slots.keys())
    return ended
  }

  /** Drops the writes of the slots between these two, and returns their accounts. */
  dropBetween(after: number, before: number): ReadonlyArray<Address> {
    const dropped = Array.from(this.#slots).filter(([open]) => open > after && open < before)
    for (const [open, writes] of dropped) {
      this.#slots.delete(open)
      this.#size -= writes.size
    }
    this.#oldest = Math.min(...this.#slots.keys())
    return dropped.flatMap(([, writes]) => Array.from(writes.keys()))
  }

  clear(): void {
    this.#slots.clear()
    this.#size = 0
    this.#oldest = Infinity
  }
}
