import { Context, type Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "../accounts/accountJson.ts"
import type { ChainUnavailable, DataSlice, ProgramQuery, Snapshot } from "../accounts/ChainFeed.ts"

/** Accounts of one or more responses, each with the slot of its response. */
export interface AccountsRead {
  readonly states: ReadonlyMap<Address, AccountState>
  /** Accounts that the node returned in no valid form. */
  readonly malformed: ReadonlyArray<Address>
}

/** A condition on a read. */
export interface ReadOptions {
  /** The least slot of the response; a node that has not reached it counts as unreachable. */
  readonly minContextSlot?: number | undefined
  /** The part of the data of each account that is read; all of it without one. */
  readonly dataSlice?: DataSlice | undefined
}

/** The reads of a Solana node, at one commitment. Each has a deadline and a bounded number of retries. */
export class SolanaRpc extends Context.Service<
  SolanaRpc,
  {
    /** The newest slot at the commitment. */
    getSlot(): Effect.Effect<number, ChainUnavailable>
    /** The first slots from this one on that have a confirmed block, lowest first, at most `limit`. */
    getBlocksWithLimit(from: number, limit: number): Effect.Effect<ReadonlyArray<number>, ChainUnavailable>
    /** The oldest slot whose block the node still has. */
    getFirstAvailableBlock(): Effect.Effect<number, ChainUnavailable>
    /** The hash of the first block of the node's chain. */
    getGenesisHash(): Effect.Effect<string, ChainUnavailable>
    /** Succeeds while the node reports that it keeps up with the cluster. */
    getHealth(): Effect.Effect<void, ChainUnavailable>
    /** One account. Malformed data fails as `invalid`. */
    getAccountInfo(address: Address, options?: ReadOptions): Effect.Effect<AccountState, ChainUnavailable>
    /** Any number of accounts, a hundred a request; fails when one of the requests does. */
    getMultipleAccounts(
      addresses: ReadonlyArray<Address>,
      options?: ReadOptions
    ): Effect.Effect<AccountsRead, ChainUnavailable>
    /** Every account of a program that matches. One malformed account fails the whole as `invalid`. */
    getProgramAccounts(query: ProgramQuery): Effect.Effect<Snapshot, ChainUnavailable>
  }
>()("fathom/solana/rpc/SolanaRpc") {}
