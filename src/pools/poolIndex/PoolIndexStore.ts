import { Context, type Effect, Schema } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { IndexedPools } from "./PoolIndex.ts"
import type { PoolEntries } from "./PoolEntries.ts"

/** The stored state of a program. */
export interface IndexedProgram {
  /** Every pool of the program is in the store that was created up to the slot of `through`. */
  readonly isWhole: boolean
  /** The slot up to which writes are stored. */
  readonly through: number
  /** Pairs of a mint and a pool. */
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

/** Another writer has claimed the index since: nothing was written. */
export class TermEnded extends Schema.TaggedError<TermEnded>()("TermEnded", { term: Schema.Int }) {
  override get message(): string {
    return "another process keeps the index of pools"
  }
}

/** A write, which is refused once another writer has claimed the index. */
export type IndexWrite<A> = Effect.Effect<A, PoolIndexStoreUnavailable | TermEnded>

/** The writer of the index from its claim to the next one. */
export interface PoolIndexWriter {
  /**
   * The state of these programs, by the conditions of their pools as text: one with other conditions than before is not whole.
   * Deletes everything that is of another chain, by its genesis hash. Called before the other writes.
   */
  readonly open: (
    genesis: string,
    programs: ReadonlyMap<Address, string>
  ) => IndexWrite<ReadonlyMap<Address, IndexedProgram>>
  /** Notes that pools may be missing from every program, until its next snapshot is stored. */
  readonly lose: IndexWrite<void>
  /** Adds entries that were seen at a slot and, in the same transaction, notes that all writes up to `through` are stored. */
  readonly add: (entries: PoolEntries, seen: { readonly slot: number; readonly through: number }) => IndexWrite<void>
  /**
   * Adds a snapshot of one program that was read at `slot` or later, deletes the entries of it that were seen before, and notes
   * that the program is whole. Returns the number of its entries. A failure leaves the program as it was, not whole.
   */
  readonly replace: (program: Address, entries: PoolEntries, slot: number) => IndexWrite<number>
}

/** The index in the store, which processes share. Written by one of them at a time. */
export class PoolIndexStore extends Context.Service<
  PoolIndexStore,
  {
    /** Makes the caller the only writer. Waits for a write that is not committed. */
    readonly claim: Effect.Effect<PoolIndexWriter, PoolIndexStoreUnavailable>
    /** The pools of a mint in programs that are whole and stored up to the slot; none is whole where the mint has more than `most`. */
    readonly poolsOf: (
      mint: Mint,
      bounds: { readonly through: number; readonly most: number }
    ) => Effect.Effect<IndexedPools, PoolIndexStoreUnavailable>
  }
>()("fathom/pools/poolIndex/PoolIndexStore") {}
