/** Stored changes of the supply of mints. */
import type { Mint } from "../../domain/Address.ts"
import type { StoredBatch } from "./StoredBatch.ts"

/** A change of the supply of a mint in one block. */
export interface SupplyRecord {
  readonly slot: number
  readonly second: number
  /** In the smallest units; negative for burns. */
  readonly change: bigint
}

/** Changes of the supply of one mint, in the order of the chain. */
export interface StoredSupply {
  readonly changes: ReadonlyArray<SupplyRecord>
  /** The second from which on none is left out; minus infinity when every stored block has them. */
  readonly from: number
  /** The newest block that is stored; 0 for none. */
  readonly toSlot: number
}

/** The changes of a mint from a second on, the newest ones at most. */
export interface SupplyRequest {
  readonly mint: Mint
  readonly from: number
  readonly most: number
}

/** The changes of one mint in blocks, in the order of the blocks. */
export const supplyRecordsOf = (batches: ReadonlyArray<StoredBatch>, wanted: Mint): ReadonlyArray<SupplyRecord> =>
  batches.flatMap(({ slot, supply = [], timeMs }) =>
    supply
      .filter(({ mint }) => mint === wanted)
      .map(({ change }) => ({ slot, second: Math.floor(timeMs / 1000), change }))
  )

/** The newest of these changes, and the second from which on they are all of them. */
export const newestChanges = (
  changes: ReadonlyArray<SupplyRecord>,
  most: number,
  from: number
): Pick<StoredSupply, "changes" | "from"> => {
  const kept = changes.slice(-most)
  const [first] = kept
  // Others may have the second of the oldest.
  return { changes: kept, from: first === undefined || kept.length < most ? from : Math.max(from, first.second + 1) }
}
