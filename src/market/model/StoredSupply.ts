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
  /** From this second on no change is left out; minus infinity when every stored block has its changes. */
  readonly from: number
  /** The newest stored block; 0 for none. */
  readonly toSlot: number
}

/** Selects the newest `most` changes of a mint from a second on. */
export interface SupplyRequest {
  readonly mint: Mint
  readonly from: number
  readonly most: number
}

/** The changes of one mint, in the order of the blocks. */
export const supplyRecordsOf = (batches: ReadonlyArray<StoredBatch>, wanted: Mint): ReadonlyArray<SupplyRecord> =>
  batches.flatMap(({ slot, supply = [], timeMs }) =>
    supply
      .filter(({ mint }) => mint === wanted)
      .map(({ change }) => ({ slot, second: Math.floor(timeMs / 1000), change }))
  )

/** The newest of these changes, and the second from which on they are complete. */
export const newestChanges = (
  changes: ReadonlyArray<SupplyRecord>,
  most: number,
  from: number
): Pick<StoredSupply, "changes" | "from"> => {
  const kept = changes.slice(-most)
  const [first] = kept
  // Dropped changes may have the same second as the oldest kept one.
  return { changes: kept, from: first === undefined || kept.length < most ? from : Math.max(from, first.second + 1) }
}
