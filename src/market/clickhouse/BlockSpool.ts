/** Blocks on disk that wait for ClickHouse, and the repair that was cut off. */
import { Effect } from "effect"
import { deserialize, serialize } from "node:v8"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { openSpool } from "../../storage/clickhouse/DiskSpool.ts"
import type { Repair, TradeProgress } from "../store/TradeProgress.ts"
import { joinProgress } from "../store/TradeProgress.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"

const pack = (value: unknown): Uint8Array => zstdCompressSync(serialize(value))

// Written by `pack` of this process or of one before it.
const unpack = (bytes: Uint8Array): unknown => deserialize(zstdDecompressSync(bytes))

/** Blocks of an entry; after a loss the first of them follows a gap. */
const blocksOf = ({ afterLoss, bytes }: { readonly afterLoss: boolean; readonly bytes: Uint8Array }) => {
  const [first, ...rest] = unpack(bytes) as ReadonlyArray<StoredBatch>
  return first === undefined ? [] : [afterLoss ? { ...first, afterGap: true } : first, ...rest]
}

const countOf = (batches: ReadonlyArray<StoredBatch>): number =>
  batches.reduce((sum, { trades, transfers = [] }) => sum + trades.length + transfers.length, 0)

/** Blocks that were dropped because the spool was full. */
export interface Dropped {
  readonly trades: number
  readonly fromSlot: number
  readonly toSlot: number
}

/** Opens the spool of a chain in a folder, bounded to so many bytes, until the scope closes. */
export const openBlockSpool = Effect.fnUntraced(function* (folder: string, chain: string, limit: number) {
  const own = `${folder}/${encodeURIComponent(chain)}`
  const blocks = yield* openSpool(`${own}/blocks`, limit)
  const repairs = yield* openSpool(`${own}/repairs`, limit)

  return {
    /** Adds blocks; those that were dropped for them, or null. */
    add: (batches: ReadonlyArray<StoredBatch>) =>
      Effect.map(blocks.add(pack(batches)), (dropped): Dropped | null => {
        const gone = dropped.flatMap((bytes) => blocksOf({ bytes, afterLoss: false }))
        const [first, last] = [gone[0], gone.at(-1)]
        return first === undefined || last === undefined
          ? null
          : { trades: countOf(gone), fromSlot: first.slot, toSlot: last.slot }
      }),
    /** The oldest blocks; null when none wait. */
    first: Effect.map(blocks.first, (entry) => entry && { id: entry.id, batches: blocksOf(entry) }),
    remove: blocks.remove,

    /** Notes a repair until it is wholly carried out. */
    addRepair: (repair: Repair) => repairs.add(pack(repair)),
    firstRepair: Effect.map(repairs.first, (entry) => entry && { id: entry.id, repair: unpack(entry.bytes) as Repair }),
    removeRepair: repairs.remove,

    /** Progress once every waiting block is stored. */
    progressAfter: (stored: TradeProgress | null) =>
      Effect.map(blocks.entries, (entries) => {
        let progress = stored
        for (const entry of entries) {
          progress = joinProgress(progress, blocksOf(entry))
        }
        return progress
      }),
    /** Every waiting block, the oldest first. */
    waiting: Effect.map(blocks.entries, (entries) => Array.from(entries, blocksOf).flat()),
    isEmpty: () => blocks.count() + repairs.count() === 0,
    count: blocks.count,
    bytes: blocks.bytes
  }
})

/** The spool of a chain. */
export type BlockSpool = Effect.Success<ReturnType<typeof openBlockSpool>>
