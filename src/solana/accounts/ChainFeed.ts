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

/** Accounts as they stood at one slot. `null` means that the chain says there is no such account. */
export interface Snapshot {
  readonly slot: number
  readonly accounts: ReadonlyMap<Address, OnChainAccount | null>
}

/** One thing the chain told us. Writes of one slot arrive together, so that a reader never sees half a swap. */
export type ChainEvent =
  /** State of watched accounts at one slot: after `watch`, and after every gap. Older writes are already dropped. */
  | { readonly _tag: "Snapshot"; readonly snapshot: Snapshot }
  /**
   * Accounts written in `slot`, whole; `null` for those that ceased to exist. In order of slot, and for one account
   * always: a write that the node told too late for its slot follows by itself, unless a newer one is already known.
   */
  | { readonly _tag: "Writes"; readonly slot: number; readonly accounts: ReadonlyMap<Address, OnChainAccount | null> }

/** How well the chain is known right now. */
export interface Freshness {
  /** Newest slot heard of; 0 before the first. */
  readonly slot: number
  /** When it was heard, by our clock in milliseconds since the Unix epoch; null before the first. */
  readonly heardAtMs: number | null
  /** `live`: following. `loading`: connected, reloading what a gap missed. `down`: not connected. `recorded`: a fixed dump, never stale. */
  readonly state: "live" | "loading" | "down" | "recorded"
}

/** The upstream did not answer, or not with what the protocol says. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  reason: Schema.Literals(["timeout", "unreachable", "rate_limited", "invalid"]),
  detail: Schema.String,
  /** The code of a JSON-RPC error. */
  rpcCode: Schema.optionalKey(Schema.Finite),
  /** How long the upstream wants to be left alone. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The chain as a source of account state. Generic: it knows nothing of pools. */
export class ChainFeed extends Context.Service<
  ChainFeed,
  {
    /** Accounts of a program that match, with the slot they were read at. */
    accountsOf(query: ProgramQuery): Effect.Effect<Snapshot, ChainUnavailable>
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
    /** How sure the chain is of everything told here. */
    readonly commitment: Commitment
  }
>()("fathom/solana/accounts/ChainFeed") {}
