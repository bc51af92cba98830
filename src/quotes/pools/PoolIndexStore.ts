import { Context, type Effect, Schema } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { IndexedPools } from "./PoolIndex.ts"
import type { PoolEntries } from "./PoolEntries.ts"

/** The stored state of a program. */
export interface IndexedProgram {
  /** True when every pool of the program that was created up to the slot `through` is stored. */
  readonly isWhole: boolean
  /** Writes up to this slot are stored. */
  readonly through: number
  /** Number of pairs of a mint and a pool. */
  readonly entries: number
}

/** The store did not answer in time, or failed. */
export class PoolIndexStoreUnavailable extends Schema.TaggedError<PoolIndexStoreUnavailable>()(
  "PoolIndexStoreUnavailable",
  { cause: Schema.Defect() }
) {
  override get message(): string {
    return "the store of the index of pools does not answer"
  }
}

/** Another writer has claimed the index. Nothing was written. */
export class TermEnded extends Schema.TaggedError<TermEnded>()("TermEnded", { term: Schema.Int }) {
  override get message(): string {
    return "another process keeps the index of pools"
  }
}

/** A write. It fails once another writer has claimed the index. */
export type IndexWrite<A> = Effect.Effect<A, PoolIndexStoreUnavailable | TermEnded>

/** The writer of the index, from its claim until the next claim. */
export interface PoolIndexWriter {
  /**
   * Returns the state of these programs. The text of each program states the conditions of its pools: a program whose
   * conditions changed is not whole. Deletes everything of other chains, by genesis hash. Call it before the other
   * writes.
   */
  readonly open: (
    genesis: string,
    programs: ReadonlyMap<Address, string>
  ) => IndexWrite<ReadonlyMap<Address, IndexedProgram>>
  /** Marks every program as possibly incomplete until its next snapshot is stored. */
  readonly lose: IndexWrite<void>
  /** Adds entries seen at a slot. In the same transaction, records that all writes up to `through` are stored. */
  readonly add: (entries: PoolEntries, seen: { readonly slot: number; readonly through: number }) => IndexWrite<void>
  /**
   * Adds a snapshot of one program, read at `slot` or later, deletes the program's older entries, and marks the program
   * as whole. Returns the number of its entries. After a failure the program is as before: not whole.
   */
  readonly replace: (program: Address, entries: PoolEntries, slot: number) => IndexWrite<number>
}

/** The stored index, shared by processes. One of them writes at a time. */
export class PoolIndexStore extends Context.Service<
  PoolIndexStore,
  {
    /** Makes the caller the only writer. Waits for a write that is not committed yet. */
    readonly claim: Effect.Effect<PoolIndexWriter, PoolIndexStoreUnavailable>
    /**
     * The pools of a mint in programs that are whole and stored up to `through`. No program counts as whole for a mint
     * with more than `most` pools.
     */
    readonly poolsOf: (
      mint: Mint,
      bounds: { readonly through: number; readonly most: number }
    ) => Effect.Effect<IndexedPools, PoolIndexStoreUnavailable>
  }
>()("fathom/quotes/pools/PoolIndexStore") {}
