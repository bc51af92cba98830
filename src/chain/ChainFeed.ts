import { Context, type Effect, type Stream } from "effect"
import type { OnChainAccount, ChainClock } from "../domain/OnChainAccount.ts"
import type { Address } from "../domain/Address.ts"
import type { ChainUnavailable } from "./ChainUnavailable.ts"
import type { Commitment } from "./Commitment.ts"

/** A `getProgramAccounts` query: accounts of a program that match every condition. */
export interface ProgramQuery {
  readonly programId: Address
  readonly dataSize?: number | undefined
  readonly matches: ReadonlyArray<{ readonly offset: number; readonly bytes: Uint8Array }>
}

/** A part of an account's data, in bytes. */
export interface DataSlice {
  readonly offset: number
  readonly length: number
}

/** Accounts at one slot. `null` is an account that does not exist on the chain. */
export interface Snapshot {
  readonly slot: number
  readonly accounts: ReadonlyMap<Address, OnChainAccount | null>
}

/**
 * An event of the chain. All writes of one slot arrive together, so that a reader never sees half of a swap.
 *
 * With several connections to one node this holds where the node sends writes of the clock sysvar, because the clock
 * shows which slot each connection has reached. The slowest connection then holds up the others until it is dropped.
 * Without the clock, a slot ends for all connections with the first write of the next slot.
 */
export type ChainEvent =
  /** The state of watched accounts at one slot, after `watch` and after every gap. Older writes are already dropped. */
  | {
      readonly _tag: "Snapshot"
      readonly snapshot: Snapshot
      /** True for the first event after a gap. The states between the event before it and this one are missing. */
      readonly isAfterGap?: true
    }
  /**
   * All accounts that were written in `slot`; `null` for an account that ceased to exist. Slots arrive in order. A
   * write that comes too late for its slot is sent on its own, unless a newer write of that account is already known.
   */
  | { readonly _tag: "Writes"; readonly slot: number; readonly accounts: ReadonlyMap<Address, OnChainAccount | null> }

/** The state of the connection to the chain. */
export interface Freshness {
  /**
   * The newest slot received; 0 before the first. With several connections to one node, the newest slot that every
   * connection has reached.
   */
  readonly slot: number
  /**
   * When that slot was first received by the local clock, in milliseconds since the Unix epoch; null before. Until a slot
   * arrives it is the chain's own time of the first read.
   */
  readonly heardAtMs: number | null
  /**
   * `live`: following. `polling`: not followed, but all accounts are read at this slot. `reloading`: reading again what a gap
   * missed; readers keep the state of this slot until all of it is read. `loading`: readers have no whole state, connected
   * or not. `down`: not connected, or without a new slot for too long, whether or not a node answers.
   * `recorded`: a fixed dump, which is never stale.
   */
  readonly state: "live" | "polling" | "reloading" | "loading" | "down" | "recorded"
  /** Host of the node in use; absent without one. */
  readonly node?: string | undefined
  /** Host of the node that accounts are read from and searched at; absent while it is not known. */
  readonly readNode?: string | undefined
}

/** The chain as a source of account state. Knows nothing of programs. */
export class ChainFeed extends Context.Service<
  ChainFeed,
  {
    /** Every matching account of a program, with the slot of the read. */
    accountsOf(query: ProgramQuery): Effect.Effect<Snapshot, ChainUnavailable>
    /**
     * Reads accounts as they are now, without following them. An account that does not exist is null; malformed
     * accounts are left out. With a slice, `data` holds only that part.
     */
    read(addresses: ReadonlyArray<Address>, slice?: DataSlice): Effect.Effect<Snapshot, ChainUnavailable>
    /**
     * Follows these accounts from now on. Their state arrives as a `Snapshot` event. Adding an address twice changes
     * nothing. Waits only until the request is queued.
     */
    watch(addresses: Iterable<Address>): Effect.Effect<void>
    /** Stops following these accounts. */
    unwatch(addresses: Iterable<Address>): Effect.Effect<void>
    /** Every event since the subscription, in order, for one consumer: `ChainHub`. */
    readonly events: Stream.Stream<ChainEvent>
    /** The state of the connection. Quotes read it synchronously. */
    readonly freshness: () => Freshness
    /** The chain's own time, from the clock sysvar. Quotes read it synchronously. */
    readonly clock: () => ChainClock
    /** The commitment of all events. */
    readonly commitment: Commitment
  }
>()("fathom/chain/ChainFeed") {}
