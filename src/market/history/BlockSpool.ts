/** Blocks on disk that wait for ClickHouse, and the repair that was interrupted. */
import { Effect } from "effect"
import { deserialize, serialize } from "node:v8"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { openSpool, type SpoolEntry, SpoolUnusable } from "../../storage/clickhouse/DiskSpool.ts"
import type { Repair, TradeProgress } from "../model/TradeProgress.ts"
import { joinProgress } from "../model/TradeProgress.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import { reportsAfter, withReports } from "../model/Gaps.ts"

const pack = (value: unknown): Uint8Array => zstdCompressSync(serialize(value))

// The cast is safe: only this process and earlier ones write these entries.
const decoded = <A>(folder: string, decode: () => unknown): Effect.Effect<A, SpoolUnusable> =>
  Effect.try({
    try: () => decode() as A,
    catch: (cause) => new SpoolUnusable({ folder, detail: `an entry is damaged: ${String(cause)}` })
  })

const unpack = <A>(folder: string, bytes: Uint8Array) =>
  decoded<A>(folder, () => deserialize(zstdDecompressSync(bytes)))

/** The place of a block, and the number of its trades and transfers. */
interface Mark extends Pick<StoredBatch, "slot" | "timeMs" | "afterGap" | "forkedFrom" | "earlierForks"> {
  readonly count: number
}

const marksOf = (batches: ReadonlyArray<StoredBatch>): ReadonlyArray<Mark> =>
  batches.map(({ afterGap, earlierForks, forkedFrom, slot, timeMs, trades, transfers = [] }) => ({
    slot,
    timeMs,
    afterGap,
    forkedFrom,
    earlierForks,
    count: trades.length + transfers.length
  }))

const countOf = (marks: ReadonlyArray<Mark>): number => marks.reduce((sum, { count }) => sum + count, 0)

/** The blocks without their trades, to compute progress from. `afterLoss` puts a gap before the first block. */
const asBatches = (marks: ReadonlyArray<Mark>, afterLoss: boolean): ReadonlyArray<StoredBatch> =>
  marks.map(({ afterGap, earlierForks, forkedFrom, slot, timeMs }, at) => ({
    slot,
    timeMs,
    trades: [],
    launches: [],
    afterGap: afterGap || (at === 0 && afterLoss),
    forkedFrom,
    earlierForks
  }))

/** Blocks that were dropped because the spool was full. */
export interface Dropped {
  readonly trades: number
  readonly fromSlot: number
  readonly toSlot: number
}

/** A repair, and the term of the writer that began it. */
export interface NotedRepair {
  readonly term: number | null
  readonly repair: Repair
}

/** Blocks that wait, and the entries that they are in. */
export interface Waiting {
  readonly ids: ReadonlyArray<number>
  readonly batches: ReadonlyArray<StoredBatch>
}

/** Opens the spool of a chain in a folder until the scope closes. It holds at most `limit` bytes. */
export const openBlockSpool = Effect.fnUntraced(function* (folder: string, chain: string, limit: number) {
  const own = `${folder}/${encodeURIComponent(chain)}`
  const blocks = yield* openSpool(`${own}/blocks`, limit)
  const repairs = yield* openSpool(`${own}/repairs`, limit)

  // The order of the blocks is kept in memory, because progress is asked for with every block.
  const marks = new Map<number, ReadonlyArray<Mark>>()
  for (const { id } of blocks.listed()) {
    const head = yield* blocks.head(id)
    marks.set(id, yield* decoded<ReadonlyArray<Mark>>(own, () => deserialize(head)))
    yield* Effect.yieldNow
  }

  const marksIn = (id: number): ReadonlyArray<Mark> => marks.get(id) ?? []

  /** Reads the blocks of an entry. If the entries before it were dropped, the first block has a gap before it. */
  const blocksOf = Effect.fnUntraced(function* ({ afterLoss, id }: SpoolEntry) {
    const [first, ...rest] = yield* unpack<ReadonlyArray<StoredBatch>>(own, yield* blocks.body(id))
    yield* Effect.yieldNow
    return first === undefined ? [] : [afterLoss ? { ...first, afterGap: true } : first, ...rest]
  })

  return {
    /**
     * Adds blocks. Returns what was dropped to make room for them; null when nothing was. The blocks repeat the forks
     * that waiting blocks report, some of which an earlier process added: those may be dropped first.
     */
    add: (given: ReadonlyArray<StoredBatch>) => {
      const newest = marksIn(blocks.listed().at(-1)?.id ?? -1).at(-1)
      const reports = newest === undefined ? [] : reportsAfter(newest)
      const batches = given.map((batch) => withReports(batch, reports))
      return Effect.map(
        blocks.add({ head: serialize(marksOf(batches)), body: pack(batches) }),
        ({ dropped, id }): Dropped | null => {
          marks.set(id, marksOf(batches))
          const gone = dropped.flatMap((entry) => marksIn(entry.id))
          dropped.forEach((entry) => marks.delete(entry.id))
          const [first, last] = [gone[0], gone.at(-1)]
          return first === undefined || last === undefined
            ? null
            : { trades: countOf(gone), fromSlot: first.slot, toSlot: last.slot }
        }
      )
    },
    /**
     * Returns the oldest blocks: as many whole entries as it takes to reach `trades` trades, and after the first one
     * only those whose blocks all lie within `spanMs` with the blocks before them; null when none wait.
     */
    oldest: Effect.fnUntraced(function* (trades: number, spanMs: number) {
      const waiting = { ids: new Array<number>(), batches: new Array<StoredBatch>() }
      let [count, fromMs, toMs] = [0, Infinity, -Infinity]
      for (const entry of blocks.listed()) {
        for (const { timeMs } of marksIn(entry.id)) {
          fromMs = Math.min(fromMs, timeMs)
          toMs = Math.max(toMs, timeMs)
        }
        if (waiting.ids.length > 0 && toMs - fromMs > spanMs) {
          break
        }
        waiting.ids.push(entry.id)
        waiting.batches.push(...(yield* blocksOf(entry)))
        count += countOf(marksIn(entry.id))
        if (count >= trades) {
          break
        }
      }
      return waiting.ids.length === 0 ? null : (waiting satisfies Waiting)
    }),
    /** Passes the blocks of one entry after another to `take`, newest first, until it returns false. */
    backwards: Effect.fnUntraced(function* (take: (batches: ReadonlyArray<StoredBatch>) => boolean) {
      for (const entry of blocks.listed().toReversed()) {
        if (!take(yield* blocksOf(entry))) {
          return
        }
      }
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

    /** Saves a repair until it is carried out. */
    addRepair: (noted: NotedRepair) => repairs.add({ head: new Uint8Array(), body: pack(noted) }),
    firstRepair: Effect.gen(function* () {
      const [first] = repairs.listed()
      return first === undefined
        ? null
        : { id: first.id, ...(yield* unpack<NotedRepair>(own, yield* repairs.body(first.id))) }
    }),
    removeRepair: repairs.remove,

    /** Progress once every waiting block is stored. */
    progressAfter: (stored: TradeProgress | null): TradeProgress | null =>
      blocks
        .listed()
        .reduce((progress, { afterLoss, id }) => joinProgress(progress, asBatches(marksIn(id), afterLoss)), stored),
    isEmpty: () => blocks.count() + repairs.count() === 0,
    count: blocks.count,
    bytes: blocks.bytes
  }
})

export type BlockSpool = Effect.Success<ReturnType<typeof openBlockSpool>>
