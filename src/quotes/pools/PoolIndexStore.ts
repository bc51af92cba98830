import { Context, type Effect, Schema } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { IndexedPools } from "./PoolIndex.ts"
import type { PoolEntries } from "./PoolEntries.ts"

/** What is stored about a program. */
export interface IndexedProgram {
  /** True when the store has every pool that was created up to the slot `through`. */
  readonly isWhole: boolean
  /** Writes up to and including this slot are stored. */
  readonly through: number
  /** Number of mint-pool pairs. */
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

/** Another writer has claimed the index, so nothing was written. */
export class TermEnded extends Schema.TaggedError<TermEnded>()("TermEnded", { term: Schema.Int }) {
  override get message(): string {
    return "another process keeps the index of pools"
  }
}

/** A write to the index. It fails once another writer has claimed it. */
export type IndexWrite<A> = Effect.Effect<A, PoolIndexStoreUnavailable | TermEnded>

/** The index's writer, valid until the next claim. */
export interface PoolIndexWriter {
  /**
   * Returns the state of these programs. Call it before any write. Each program's text states the conditions its
   * pools were listed by: a program whose conditions changed counts as incomplete. Deletes everything that belongs to
   * other chains, by genesis hash.
   */
  readonly open: (
    genesis: string,
    programs: ReadonlyMap<Address, string>
  ) => IndexWrite<ReadonlyMap<Address, IndexedProgram>>
  /** Marks every program as possibly incomplete, until its next snapshot is stored. */
  readonly lose: IndexWrite<void>
  /** Adds entries seen at a slot. The same transaction records that all writes up to `through` are stored. */
  readonly add: (entries: PoolEntries, seen: { readonly slot: number; readonly through: number }) => IndexWrite<void>
  /**
   * Adds a snapshot of one program that was read at `slot` or later, deletes the program's older entries, and marks
   * the program as whole. Returns the number of its entries. A failure changes nothing: the program stays incomplete.
   */
  readonly replace: (program: Address, entries: PoolEntries, slot: number) => IndexWrite<number>
}

/** The stored index. Processes share it, and one of them writes at a time. */
export class PoolIndexStore extends Context.Service<
  PoolIndexStore,
  {
    /** Makes the caller the only writer. Waits for a write that has not been committed yet. */
    readonly claim: Effect.Effect<PoolIndexWriter, PoolIndexStoreUnavailable>
    /**
     * The pools of a mint in programs that are whole and stored up to `through`. For a mint with more than `most`
     * pools, no program counts as whole.
     */
    readonly poolsOf: (
      mint: Mint,
      bounds: { readonly through: number; readonly most: number }
    ) => Effect.Effect<IndexedPools, PoolIndexStoreUnavailable>
  }
>()("fathom/quotes/pools/PoolIndexStore") {}
