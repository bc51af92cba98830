import { Context, type Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "../AccountState.ts"
import type { DataSlice, ProgramQuery, Snapshot } from "../ChainFeed.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"

/** Accounts from one or more responses, each with the slot of its response. */
export interface AccountsRead {
  readonly states: ReadonlyMap<Address, AccountState>
  /** Accounts that the node returned in an invalid form. */
  readonly malformed: ReadonlyArray<Address>
}

export interface ReadOptions {
  /** The lowest slot that the response may have. A node that has not reached it counts as unreachable. */
  readonly minContextSlot?: number | undefined
  /** The part of each account's data to read; all of it when left out. */
  readonly dataSlice?: DataSlice | undefined
}

/** Reads of a Solana node, all at one commitment. Each read has a deadline and a bounded number of retries. */
export class SolanaRpc extends Context.Service<
  SolanaRpc,
  {
    /** The newest slot at the commitment. */
    getSlot(): Effect.Effect<number, ChainUnavailable>
    /** The first slots from this one on that have a confirmed block, lowest first, at most `limit`. */
    getBlocksWithLimit(from: number, limit: number): Effect.Effect<ReadonlyArray<number>, ChainUnavailable>
    /** The hash of the block of a slot. */
    getBlockhash(slot: number): Effect.Effect<string, ChainUnavailable>
    /** The oldest slot whose block the node still has. */
    getFirstAvailableBlock(): Effect.Effect<number, ChainUnavailable>
    /** The hash of the first block of the node's chain. */
    getGenesisHash(): Effect.Effect<string, ChainUnavailable>
    /** Succeeds while the node reports that it keeps up with the cluster. */
    getHealth(): Effect.Effect<void, ChainUnavailable>
    /** One account. Malformed data fails as `invalid`. */
    getAccountInfo(address: Address, options?: ReadOptions): Effect.Effect<AccountState, ChainUnavailable>
    /** Any number of accounts, a hundred a request. Fails when one of the requests fails. */
    getMultipleAccounts(
      addresses: ReadonlyArray<Address>,
      options?: ReadOptions
    ): Effect.Effect<AccountsRead, ChainUnavailable>
    /** Every matching account of a program. One malformed account fails the whole read as `invalid`. */
    getProgramAccounts(query: ProgramQuery): Effect.Effect<Snapshot, ChainUnavailable>
  }
>()("fathom/chain/rpc/SolanaRpc") {}
