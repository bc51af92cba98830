import { Context, type Effect, Schema, type Stream } from "effect"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { Commitment } from "../Commitment.ts"

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
 * An event of the chain. Writes of one slot arrive together, so that a reader sees no half of a swap. Of several connections to a
 * node that holds where it notifies of the clock sysvar, by which each of them shows the slot it has come to: the slowest one holds
 * up the others, until it is dropped. Without the clock, a slot ends for all of them with the first write of the next one.
 */
export type ChainEvent =
  /** State of watched accounts at one slot: after `watch`, and after every gap. Older writes are already dropped. */
  | { readonly _tag: "Snapshot"; readonly snapshot: Snapshot }
  /**
   * Accounts written in `slot`, whole; `null` for those that ceased to exist. In order of slot, and for one account
   * always: a write that arrives too late for its slot follows on its own, unless a newer one is already known.
   */
  | { readonly _tag: "Writes"; readonly slot: number; readonly accounts: ReadonlyMap<Address, OnChainAccount | null> }

/** The state of the connection to the chain. */
export interface Freshness {
  /** The newest slot received, of several connections to a node the newest that each of them has come to; 0 before the first. */
  readonly slot: number
  /** The time of its first receipt by the local clock, in milliseconds since the Unix epoch; null before the first. */
  readonly heardAtMs: number | null
  /**
   * `live`: following. `polling`: not followed, but read as a whole at the slot. `loading`: connected, reloading what a gap
   * missed. `down`: not connected, or without a new slot for too long, whether a node answers or not. `recorded`: a fixed dump, never stale.
   */
  readonly state: "live" | "polling" | "loading" | "down" | "recorded"
  /** Host of the node in use; absent without one. */
  readonly node?: string | undefined
  /** Host of the node that accounts are read from and searched at, where it is known. */
  readonly readNode?: string | undefined
}

/** The node gave no answer, or none in the form of the protocol. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  reason: Schema.Literals(["timeout", "unreachable", "rate_limited", "invalid"]),
  detail: Schema.String,
  /** The code of a JSON-RPC error. */
  rpcCode: Schema.optionalKey(Schema.Finite),
  /** True where the provider does not offer such calls, so that repeating one is of no use. */
  isRefused: Schema.optionalKey(Schema.Boolean),
  /** True for a refused call whose answer would be too large: one for fewer accounts may be answered. */
  isTooLarge: Schema.optionalKey(Schema.Boolean),
  /** Host of the node that refused. */
  node: Schema.optionalKey(Schema.String),
  /** `Retry-After` of the node, in ms. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The chain as a source of account state. Generic: independent of programs. */
export class ChainFeed extends Context.Service<
  ChainFeed,
  {
    /** Accounts of a program that match, with the slot they were read at. */
    accountsOf(query: ProgramQuery): Effect.Effect<Snapshot, ChainUnavailable>
    /**
     * Accounts as they are now, without following them; null for those that do not exist. Malformed ones are left out. With
     * a slice, the data of each is that part of it.
     */
    read(addresses: ReadonlyArray<Address>, slice?: DataSlice): Effect.Effect<Snapshot, ChainUnavailable>
    /**
     * Follow these accounts from now on. Their state arrives as a `Snapshot` event. Adding an address twice changes
     * nothing. Waits only for the request to be queued.
     */
    watch(addresses: Iterable<Address>): Effect.Effect<void>
    /** Stop following these accounts. */
    unwatch(addresses: Iterable<Address>): Effect.Effect<void>
    /** Every event from the moment of subscription, in order, for one consumer: the hub of the books. */
    readonly events: Stream.Stream<ChainEvent>
    /** Read synchronously on every quote. */
    readonly freshness: () => Freshness
    /** The chain's own clock, from the clock sysvar. Read synchronously on every quote. */
    readonly clock: () => ChainClock
    /** The commitment of all events. */
    readonly commitment: Commitment
  }
>()("fathom/solana/accounts/ChainFeed") {}
