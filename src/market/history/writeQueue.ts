/** Writes blocks to ClickHouse, or to disk while ClickHouse is away or older blocks wait on disk. */
import { Effect, Scope } from "effect"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import * as Readings from "../../operations/Readings.ts"
import { noteFailure, SourceMonitor } from "../../operations/SourceMonitor.ts"
import { ClickHouseUnavailable } from "../../storage/clickhouse/ClickHouse.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import { joinProgress, type Repair, type TradeProgress } from "../model/TradeProgress.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { type BlockSpool, type NotedRepair, openBlockSpool, type Waiting } from "./BlockSpool.ts"
import type { ChainRecord, makeChainRecords } from "./chainRecords.ts"
import { asUnavailable, type makeContact } from "./contact.ts"
import { INSERT_SECONDS, insertsOf, type makeBlockWriter, type WrittenChain } from "./storeBlocks.ts"

interface Parts {
  readonly folder: string
  /** The most bytes of blocks that may wait. */
  readonly limit: number
  readonly records: ReturnType<typeof makeChainRecords>
  readonly writer: ReturnType<typeof makeBlockWriter>
  readonly contact: Effect.Success<ReturnType<typeof makeContact>>
}

/** The writer of one chain. The caller runs one method at a time; `drain` takes its turns itself. */
export interface WriteQueue {
  /** Stores blocks in ClickHouse, or on disk when ClickHouse does not take them. */
  append(batches: ReadonlyArray<StoredBatch>): Effect.Effect<void, TradeStoreUnavailable>
  /** Fails when a repair would fail because blocks wait. */
  readonly repairable: Effect.Effect<void, TradeStoreUnavailable>
  /** Carries out a repair. If it is interrupted, it is carried out once ClickHouse is back. */
  repair(repair: Repair): Effect.Effect<void, TradeStoreUnavailable>
  /** Stores what waits on disk, in order. */
  drain(turn: <A, E>(step: Effect.Effect<A, E>) => Effect.Effect<A, E>): Effect.Effect<void, TradeStoreUnavailable>
  readonly isWaiting: () => boolean
  /** Progress including the blocks that wait. `stored` is the progress without them. */
  readonly progress: () => TradeProgress | null
  readonly stored: () => TradeProgress | null
  /** Passes the trades that wait on disk to `take`, newest first, some blocks at a time, until it returns false. */
  backwards(take: (trades: ReadonlyArray<TapeTrade>) => boolean): Effect.Effect<void, TradeStoreUnavailable>
}

/** Trades that are moved from disk to ClickHouse at a time. */
const AT_ONCE = 20_000

const SOURCE = "spool"

const isAway = (failure: unknown): boolean => failure instanceof ClickHouseUnavailable

/** What the metrics report: the trades dropped because the spool was full, and the spool of the open chain. */
interface Fill {
  dropped: number
  spool: BlockSpool | null
  /** True when waiting blocks cannot be stored although ClickHouse answers. */
  isStuck: boolean
}

const reportFill = Effect.fnUntraced(function* (fill: Fill, limit: number) {
  const readings = yield* Readings.Readings
  const gauge = (name: string, help: string, read: () => number) => readings.report({ name, help, kind: "gauge" }, read)
  yield* gauge("fathom_clickhouse_spool_bytes", "Bytes of blocks on disk that wait for ClickHouse.", () =>
    fill.spool === null ? 0 : fill.spool.bytes()
  )
  yield* gauge("fathom_clickhouse_spool_limit_bytes", "Bytes of blocks that may wait for ClickHouse.", () => limit)
  yield* readings.report(
    {
      name: "fathom_clickhouse_spool_dropped_trades_total",
      help: "Trades that were dropped because the spool was full.",
      kind: "counter"
    },
    () => fill.dropped
  )
  const monitor = yield* SourceMonitor
  yield* monitor.report(SOURCE, (nowMs) => {
    const bytes = fill.spool === null ? 0 : fill.spool.bytes()
    const isEmpty = fill.spool === null || fill.spool.isEmpty()
    const status = isEmpty ? "known" : fill.isStuck ? "stale" : "partial"
    return { observedAtMs: nowMs, status, fill: Math.min(1, bytes / limit) }
  })
})

/** Returns a function that opens the writer of a chain, until the scope of the store closes. */
export const makeWriteQueue = Effect.fnUntraced(function* ({ contact, folder, limit, records, writer }: Parts) {
  const scope = yield* Effect.scope
  const spools = new Map<string, BlockSpool>()
  const fill: Fill = { dropped: 0, spool: null, isStuck: false }
  yield* reportFill(fill, limit)

  const spoolOf = Effect.fnUntraced(function* (genesis: string) {
    const known = spools.get(genesis)
    const spool = known ?? (yield* Scope.provide(openBlockSpool(folder, genesis, limit), scope))
    spools.set(genesis, spool)
    fill.spool = spool
    return spool
  })

  return Effect.fnUntraced(function* (record: ChainRecord): Effect.fn.Return<WriteQueue, TradeStoreUnavailable> {
    const spool = yield* Effect.mapError(spoolOf(record.genesis), asUnavailable)
    const chain: WrittenChain = {
      genesis: record.genesis,
      stored: record.stored,
      found: null,
      unanswered: null,
      had: record.traded,
      left: null,
      salt: ""
    }
    let absences = contact.absences()
    let progress = spool.progressAfter(record.stored)
    // The blocks that are being stored. They are retried until they are stored or dropped.
    let tried: Waiting | null = null

    const commit = (batches: ReadonlyArray<StoredBatch>, next: TradeProgress, traded: number | null) =>
      records.commit({ ...record, stored: chain.stored }, batches, next, traded)

    /** What ClickHouse had is no longer known once it was away. */
    const forget = Effect.sync(() => {
      if (contact.absences() !== absences) {
        absences = contact.absences()
        chain.had = chain.found ?? chain.had
        chain.found = null
      }
    })

    const write = <A, E>(call: Effect.Effect<A, E>) =>
      contact.write(Effect.andThen(Effect.andThen(forget, records.checkTerm(record)), call))

    const keep = Effect.fnUntraced(function* (batches: ReadonlyArray<StoredBatch>) {
      const dropped = yield* Effect.mapError(spool.add(batches), asUnavailable)
      if (dropped === null) {
        progress = joinProgress(progress, batches)
        return
      }
      fill.dropped += dropped.trades
      tried = null
      chain.unanswered = null
      progress = spool.progressAfter(chain.stored)
      yield* Effect.logError("The spool is full: its oldest trades are dropped, and their blocks are a gap", dropped)
    })

    const insert = Effect.fnUntraced(function* (batches: ReadonlyArray<StoredBatch>) {
      if (!spool.isEmpty() || contact.isAway()) {
        return yield* keep(batches)
      }
      yield* write(writer.append(chain, batches, commit)).pipe(
        Effect.andThen(Effect.sync(() => (progress = chain.stored))),
        Effect.catch((failure) => (isAway(failure) ? keep(batches) : Effect.fail(asUnavailable(failure))))
      )
    })

    const append = (batches: ReadonlyArray<StoredBatch>) =>
      Effect.forEach(insertsOf(batches), insert, { discard: true })

    /** Carries out a saved repair. One from an earlier term lacks later writes, so only its candles are rebuilt. */
    const carryOut = (id: number, { repair, term }: NotedRepair) =>
      write(term === record.term ? writer.repair(chain, repair, commit) : writer.remakeBars(chain, repair)).pipe(
        Effect.andThen(spool.removeRepair(id)),
        Effect.andThen(Effect.sync(() => (progress = chain.stored))),
        Effect.mapError(asUnavailable)
      )

    const repairable = Effect.suspend(() =>
      spool.isEmpty() && !contact.isAway()
        ? Effect.void
        : Effect.fail(asUnavailable(new Error("trades wait on disk to be stored")))
    )

    const repair = Effect.fnUntraced(function* (given: Repair) {
      yield* repairable
      yield* Effect.mapError(spool.addRepair({ term: record.term, repair: given }), asUnavailable)
      const noted = yield* Effect.mapError(spool.firstRepair, asUnavailable)
      yield* noted === null ? Effect.void : carryOut(noted.id, noted)
    })

    /** Carries out the saved repair, or else stores the oldest blocks; false when nothing waits. */
    const step = Effect.gen(function* () {
      const noted = yield* spool.firstRepair
      if (noted !== null) {
        yield* carryOut(noted.id, noted)
        return true
      }
      tried ??= yield* spool.oldest(AT_ONCE, 1000 * INSERT_SECONDS)
      if (tried === null) {
        return false
      }
      // An entry that an earlier version wrote may be too long for one insert.
      const parts = insertsOf(tried.batches)
      yield* write(Effect.forEach(parts, (part) => writer.append(chain, part, commit), { discard: true }))
      yield* spool.remove(tried)
      tried = null
      return true
    }).pipe(Effect.mapError(asUnavailable))

    /** Records a failure that is not due to an absent ClickHouse. Logs only the first one. */
    const noteStuck = Effect.fnUntraced(function* (failure: TradeStoreUnavailable) {
      if (isAway(failure.cause)) {
        return
      }
      yield* noteFailure(SOURCE, failure.cause)
      yield* fill.isStuck ? Effect.void : Effect.logError("Trades that wait on disk cannot be stored", failure)
      fill.isStuck = true
    })

    const drain: WriteQueue["drain"] = (turn) =>
      Effect.gen(function* () {
        let count = 0
        while (yield* turn(Effect.tapError(step, noteStuck))) {
          count += 1
          fill.isStuck = false
        }
        if (count > 0) {
          progress = spool.progressAfter(chain.stored)
          yield* Effect.logInfo("Trades that waited on disk are stored", { slot: chain.stored?.slot ?? null })
        }
      })

    return {
      append,
      repairable,
      repair,
      drain,
      isWaiting: () => !spool.isEmpty(),
      progress: () => progress,
      stored: () => chain.stored,
      backwards: (take) =>
        Effect.mapError(
          spool.backwards((batches) => take(batches.flatMap(({ trades }) => trades))),
          asUnavailable
        )
    }
  })
})
