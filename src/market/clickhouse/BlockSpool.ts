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

/** The place of a block among others. */
type Mark = Pick<StoredBatch, "slot" | "timeMs" | "afterGap">

const marksOf = (batches: ReadonlyArray<StoredBatch>): ReadonlyArray<Mark> =>
  batches.map(({ afterGap, slot, timeMs }) => ({ slot, timeMs, afterGap }))

/** Blocks without trades, of which progress is made. */
const asBatches = (marks: ReadonlyArray<Mark>, afterLoss: boolean): ReadonlyArray<StoredBatch> =>
  marks.map((mark, at) => ({
    ...mark,
    trades: [],
    launches: [],
    afterGap: mark.afterGap === true || (at === 0 && afterLoss)
  }))

const countOf = (batches: ReadonlyArray<StoredBatch>): number =>
  batches.reduce((sum, { trades, transfers = [] }) => sum + trades.length + transfers.length, 0)

/** Blocks that were dropped because the spool was full. */
export interface Dropped {
  readonly trades: number
  readonly fromSlot: number
  readonly toSlot: number
}

/** Blocks that wait, and the entries that they are in. */
export interface Waiting {
  readonly ids: ReadonlyArray<number>
  readonly batches: ReadonlyArray<StoredBatch>
}

/** Opens the spool of a chain in a folder, bounded to so many bytes, until the scope closes. */
export const openBlockSpool = Effect.fnUntraced(function* (folder: string, chain: string, limit: number) {
  const own = `${folder}/${encodeURIComponent(chain)}`
  const blocks = yield* openSpool(`${own}/blocks`, limit)
  const repairs = yield* openSpool(`${own}/repairs`, limit)

  // The order of the blocks is kept in memory, because progress is asked for with every block.
  const marks = new Map<number, ReadonlyArray<Mark>>()
  for (const entry of yield* blocks.entries) {
    marks.set(entry.id, marksOf(blocksOf(entry)))
  }

  return {
    /** Adds blocks; those that were dropped for them, or null. */
    add: (batches: ReadonlyArray<StoredBatch>) =>
      Effect.map(blocks.add(pack(batches)), ({ dropped, id }): Dropped | null => {
        marks.set(id, marksOf(batches))
        dropped.forEach((entry) => marks.delete(entry.id))
        const gone = dropped.flatMap(blocksOf)
        const [first, last] = [gone[0], gone.at(-1)]
        return first === undefined || last === undefined
          ? null
          : { trades: countOf(gone), fromSlot: first.slot, toSlot: last.slot }
      }),
    /** The oldest blocks, of as few entries as have so many trades; null when none wait. */
    oldest: (trades: number) =>
      Effect.map(blocks.entries, (entries): Waiting | null => {
        const waiting = { ids: new Array<number>(), batches: new Array<StoredBatch>() }
        let count = 0
        for (const entry of entries) {
          const batches = blocksOf(entry)
          waiting.ids.push(entry.id)
          waiting.batches.push(...batches)
          count += countOf(batches)
          if (count >= trades) {
            break
          }
        }
        return waiting.ids.length === 0 ? null : waiting
      }),
    remove: ({ ids }: Waiting) =>
      Effect.forEach(
        ids,
        (id) =>
          Effect.map(blocks.remove(id), () => {
            marks.delete(id)
          }),
        { discard: true }
      ),

    /** Notes a repair until it is wholly carried out. */
    addRepair: (repair: Repair) => repairs.add(pack(repair)),
    firstRepair: Effect.map(repairs.first, (entry) => entry && { id: entry.id, repair: unpack(entry.bytes) as Repair }),
    removeRepair: repairs.remove,

    /** Progress once every waiting block is stored. */
    progressAfter: (stored: TradeProgress | null): TradeProgress | null =>
      blocks
        .listed()
        .reduce(
          (progress, { afterLoss, id }) => joinProgress(progress, asBatches(marks.get(id) ?? [], afterLoss)),
          stored
        ),
    /** Every waiting block, the oldest first. */
    waiting: Effect.map(blocks.entries, (entries) => Array.from(entries, blocksOf).flat()),
    isEmpty: () => blocks.count() + repairs.count() === 0,
    count: blocks.count,
    bytes: blocks.bytes
  }
})

/** The spool of a chain. */
export type BlockSpool = Effect.Success<ReturnType<typeof openBlockSpool>>
