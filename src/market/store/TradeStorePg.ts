/** Trades in Postgres. Every query has a deadline. */
import { Clock, Config, Duration, Effect, Layer, Schedule, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { Address } from "../../domain/Address.ts"
import { durationSetting } from "../../domain/countSetting.ts"
import { TradeStoreUnavailable } from "../../domain/market/Trade.ts"
import { keepGoing, keepRunning } from "../../health/keepRunning.ts"
import { bounded } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { closedAfter, closedBefore } from "../candles/barSpans.ts"
import { makeBarTable } from "./barTable.ts"
import { makeChainTable, type StoredChain } from "./chainTable.ts"
import { makeConversion } from "./convertTrades.ts"
import { levels, type Resolution, widthOf } from "../candles/resolutions.ts"
import { keepSnapshotIn, makeSnapshotTable } from "../snapshot/snapshotTable.ts"
import type { SnapshotContent } from "../snapshot/StoredSnapshot.ts"
import { restoreBlocks } from "./restoreBlocks.ts"
import { makePartitions } from "./tradePartitions.ts"
import { joinProgress, type Repair, repairedProgress } from "./TradeProgress.ts"
import { type StoreAccess, TradeStore } from "./TradeStore.ts"
import type { ChainIdentity } from "./ChainIdentity.ts"
import type { PrintsRequest, StoredBarsRequest } from "./StoredBars.ts"
import type { RestoreRequest, StoredBatch } from "./StoredBatch.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import { newestChanges, type SupplyRequest } from "./StoredSupply.ts"
import { makeSupplyTable } from "./supplyTable.ts"
import { minuteBarsKept } from "../candles/barRetention.ts"
import { makeTradeNames } from "./tradeNames.ts"
import { makeLargest, makeTokenSwaps, makeTradePages } from "./tradePages.ts"
import { makeTradeTable } from "./tradeTable.ts"
import type { LargestRequest, MoneySwapsRequest, TokenSwapsRequest, TradesRequest } from "./TradesRequest.ts"
import { LATE_SECONDS } from "../windows/windows.ts"

/** On the path of a request. */
const READ_DEADLINE = Duration.seconds(2)
const WRITE_DEADLINE = Duration.seconds(20)
/** Dropping partitions waits for readers, and deleting a chain takes a while. */
const TIDY_DEADLINE = Duration.minutes(10)
/** Converting the trades of an older version, once. */
const CONVERSION_DEADLINE = Duration.days(1)
/** A sandbox that has not been written to for this long has ended. */
const ABANDONED_MS = 120_000
/** The least time that trades are kept: the windows of a day and the data restored for them. */
const LEAST_KEPT = Duration.days(2)
const DAY_MS = 86_400_000
const [, MINUTE = 60, HOUR = 3600] = levels

const unavailable = (cause: unknown) => new TradeStoreUnavailable({ cause })

/** `TRADES_KEPT` (7 days) and `MINUTE_BARS_KEPT` (90 days); hours and days are kept for good. */
export const settings = Config.all({
  trades: durationSetting("TRADES_KEPT").pipe(Config.withDefault(Duration.days(7))),
  minutes: minuteBarsKept
}).pipe(
  Config.map(({ minutes, trades }) => ({
    trades: Duration.max(trades, LEAST_KEPT),
    minutes: Duration.max(minutes, trades)
  }))
)

/** The open chain and its stored progress. */
interface Open {
  readonly id: number
  /** True where other processes write, so that the progress has to be read. */
  readonly isRead: boolean
  /** The number under which this process is the only writer; null where it is not. */
  readonly term: number | null
  /** The second from which on changes of supply are stored. */
  readonly supplyFrom: number
  stored: StoredChain | null
}

const firstMsOf = (batches: ReadonlyArray<StoredBatch>): number =>
  batches
    .flatMap(({ timeMs, trades }) => [timeMs, ...trades.map((trade) => trade.timeMs)])
    .reduce((first, timeMs) => Math.min(first, timeMs), Number.POSITIVE_INFINITY)

/** The stored state of a chain after these blocks. */
const advanced = (known: StoredChain | null, batches: ReadonlyArray<StoredBatch>): StoredChain | null => {
  const progress = joinProgress(known?.progress ?? null, batches)
  const second = Math.floor(firstMsOf(batches) / 1000)
  return progress === null ? null : { progress, closed: known?.closed ?? closedBefore(second) }
}

const quietly = keepGoing("Cleaning up the trade store")

const make = Effect.fnUntraced(function* (cleansUp: boolean) {
  const sql = yield* SqlClient.SqlClient
  const kept = yield* settings
  const scope = yield* Effect.scope
  const names = makeTradeNames(sql)
  const trades = makeTradeTable(sql, names)
  const pageOf = makeTradePages(sql, trades)
  const largest = makeLargest(sql, trades)
  const tokenSwaps = makeTokenSwaps(sql, trades)
  // The writer and repairs take turns: each goes on from the state that the other has stored.
  const turns = yield* Semaphore.make(1)
  const bars = makeBarTable(sql)
  const chains = makeChainTable(sql)
  const supply = makeSupplyTable(sql)
  const snapshots = makeSnapshotTable(sql)
  const partitions = makePartitions(sql)
  const convertTrades = makeConversion(sql, partitions)
  const state: { open: Open | null } = { open: null }
  const read = bounded(READ_DEADLINE, unavailable)
  const write = bounded(WRITE_DEADLINE, unavailable)
  const tidying = bounded(TIDY_DEADLINE, unavailable)
  const converting = bounded(CONVERSION_DEADLINE, unavailable)

  const opened = Effect.suspend(() =>
    state.open === null ? Effect.fail(unavailable(new Error("no chain is open"))) : Effect.succeed(state.open)
  )

  /** The open chain with its progress as it is now. */
  const current = Effect.flatMap(opened, (open) =>
    open.isRead ? Effect.map(read(chains.read(open.id)), (stored): Open => ({ ...open, stored })) : Effect.succeed(open)
  )

  const writable = Effect.flatMap(opened, (open) =>
    open.isRead ? Effect.fail(unavailable(new Error("the chain is open for reading"))) : Effect.succeed(open)
  )

  /** A transaction of a writer of a chain. */
  const writing = <A, E>({ id, term }: Open, effect: Effect.Effect<A, E>) =>
    transaction(
      sql,
      Effect.gen(function* () {
        if (term !== null && !(yield* chains.holdTerm(id, term))) {
          return yield* unavailable(new Error("another process writes the chain"))
        }
        return yield* effect
      })
    )

  /** Stores blocks together with the state that they lead to; closed candles that they change are made anew. */
  const store = Effect.fnUntraced(function* (
    open: Open,
    batches: ReadonlyArray<StoredBatch>,
    stored: StoredChain,
    repriced: ReadonlyArray<TapeTrade> = []
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    const rows = batches.flatMap((batch) => batch.trades)
    yield* write(partitions.ensure([...rows, ...batches].map(({ timeMs }) => timeMs)))
    const { fresh, repairs } = yield* write(
      writing(
        open,
        Effect.gen(function* () {
          const all = [...rows, ...batches.flatMap(({ transfers = [] }) => transfers)]
          const fresh = all.length > 0 ? yield* trades.insertTrades(open.id, all) : []
          yield* repriced.length > 0 ? trades.reprice(open.id, repriced) : Effect.void
          const touched = [...rows, ...repriced]
          yield* touched.length > 0 ? bars.rewrite(open.id, stored.closed, touched) : Effect.void
          yield* trades.insertLaunches(open.id, batches)
          yield* supply.insert(open.id, batches)
          yield* chains.gaps.save(open.id, open.stored?.progress.gaps ?? [], stored.progress.gaps)
          const made = stored.progress.repairs - (open.stored?.progress.repairs ?? 0)
          return { fresh, repairs: yield* chains.save(open.id, stored, nowMs, made) }
        })
      )
    )
    names.keep(fresh)
    open.stored = { ...stored, progress: { ...stored.progress, repairs } }
  })

  const append = Effect.fn("TradeStore.append")(function* (batches: ReadonlyArray<StoredBatch>) {
    const open = yield* writable
    const stored = advanced(open.stored, batches)
    if (stored !== null) {
      yield* store(open, batches, stored)
    }
  }, turns.withPermit)

  const repair = Effect.fn("TradeStore.repair")(function* (given: Repair) {
    const open = yield* writable
    const { batches } = given
    if (open.stored === null) {
      return
    }
    const { closed, progress } = open.stored
    yield* store(open, batches, { closed, progress: repairedProgress(progress, given) }, given.repriced)
  }, turns.withPermit)

  // The writer closes after every append, so there is never much to close.
  const closeBars = Effect.gen(function* () {
    const open = yield* writable
    const { stored } = open
    if (stored === null) {
      return
    }
    const closed = closedAfter(stored.closed, Math.floor(stored.progress.timeMs / 1000) - LATE_SECONDS)
    if (closed.minutes === stored.closed.minutes) {
      return
    }
    const nowMs = yield* Clock.currentTimeMillis
    yield* write(
      writing(
        open,
        Effect.andThen(bars.close(open.id, stored.closed, closed), chains.save(open.id, { ...stored, closed }, nowMs))
      )
    )
    open.stored = { ...stored, closed }
  }).pipe(turns.withPermit)

  /** Deletes sandboxes that have ended. */
  const sweep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const gone = state.open === null ? [] : yield* chains.abandoned(state.open.id, nowMs - ABANDONED_MS)
    yield* Effect.forEach(gone, chains.remove, { discard: true })
  })

  const tidy = Effect.fnUntraced(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    yield* partitions.ensure([nowMs, nowMs + DAY_MS, nowMs + 2 * DAY_MS])
    yield* partitions.dropBefore("trade_rows", nowMs - Duration.toMillis(kept.trades))
    yield* partitions.dropBefore("minute_bars", nowMs - Duration.toMillis(kept.minutes))
    yield* supply.dropBefore(nowMs - Duration.toMillis(kept.minutes))
    yield* sweep
  })

  if (cleansUp) {
    yield* quietly(tidying(tidy())).pipe(
      Effect.repeat(Schedule.spaced("5 minutes")),
      keepRunning("Cleaning up the trade store"),
      Effect.forkScoped
    )
  }

  return TradeStore.of({
    open: Effect.fn("TradeStore.open")(function* (chain: ChainIdentity, access: StoreAccess = "shared") {
      const nowMs = yield* Clock.currentTimeMillis
      yield* converting(convertTrades(nowMs - Duration.toMillis(kept.trades)))
      const { id } = yield* write(chains.find(chain, nowMs))
      // Claimed before the progress is read: no other process makes any from then on.
      const term = access === "sole" ? yield* write(chains.claim(id)) : null
      const found = { ...(yield* write(chains.find(chain, nowMs))), isRead: access === "read", term }
      state.open = found
      yield* cleansUp ? Effect.forkIn(quietly(tidying(sweep)), scope) : Effect.void
      return found.stored?.progress ?? null
    }, turns.withPermit),
    append,
    repair,
    repairable: Effect.asVoid(writable),
    progress: Effect.map(current, ({ stored }) => stored?.progress ?? null),
    since: (request: RestoreRequest) =>
      Stream.unwrap(
        Effect.map(current, ({ id, stored }) => restoreBlocks(trades, id, stored?.progress ?? null, request, write))
      ),
    launchesBefore: Effect.fn("TradeStore.launchesBefore")(function* (second: number, most: number) {
      const { id } = yield* opened
      return yield* write(trades.launchesBefore(id, second * 1000, most))
    }),
    solSwaps: Effect.fn("TradeStore.solSwaps")(function* (slot: number, most: number) {
      const { id } = yield* opened
      return yield* write(trades.solSwaps(id, slot, most))
    }),
    moneySwaps: Effect.fn("TradeStore.moneySwaps")(function* (slot: number, spanMs: number, most: number) {
      const { id } = yield* opened
      return yield* write(tokenSwaps.all(id, slot, spanMs, most))
    }),
    moneySwapsOf: Effect.fn("TradeStore.moneySwapsOf")(function* (request: MoneySwapsRequest) {
      const { id } = yield* opened
      return request.places.length === 0 ? [] : yield* write(tokenSwaps.of(id, request))
    }),
    tokenSwapsAfter: Effect.fn("TradeStore.tokenSwapsAfter")(function* (request: TokenSwapsRequest) {
      const { id } = yield* opened
      return request.mints.length === 0 ? [] : yield* write(tokenSwaps.after(id, request))
    }),
    ofWallet: Effect.fn("TradeStore.ofWallet")(function* (wallet: Address, limit: number) {
      const { id } = yield* opened
      return yield* read(trades.ofWallet(id, wallet, limit))
    }),
    swapsOf: Effect.fn("TradeStore.swapsOf")(function* (request: TradesRequest) {
      const { id } = yield* opened
      return yield* read(pageOf(id, request))
    }),
    largestOf: Effect.fn("TradeStore.largestOf")(function* (request: LargestRequest) {
      const { id } = yield* opened
      return yield* read(largest(id, request))
    }),
    supplyOf: Effect.fn("TradeStore.supplyOf")(function* (request: SupplyRequest) {
      const { id, stored, supplyFrom } = yield* current
      const keptFrom = (yield* Clock.currentTimeMillis) / 1000 - Duration.toSeconds(kept.minutes)
      const changes = yield* read(supply.of(id, request))
      return {
        ...newestChanges(changes, request.most, Math.max(supplyFrom, keptFrom)),
        toSlot: stored?.progress.slot ?? 0
      }
    }),
    bars: Effect.fn("TradeStore.bars")(function* (request: StoredBarsRequest) {
      const { id, stored } = yield* current
      const closed = stored?.closed ?? closedBefore(0)
      // Blocks may be stored while this reads: trades are cut to the slot that is given with them.
      const { slot, timeMs } = stored?.progress ?? { slot: 0, timeMs: 0 }
      const found = yield* read(bars.read(id, closed, { ...request, toSlot: slot }))
      return stored === null ? found : { ...found, readToMs: timeMs, readToSlot: slot }
    }),
    prints: Effect.fn("TradeStore.prints")(function* (request: PrintsRequest) {
      const { id } = yield* opened
      return yield* read(bars.prints(id, request))
    }),
    revised: Effect.fn("TradeStore.revised")(function* (second: number) {
      const { id } = yield* opened
      return yield* write(bars.revised(id, second))
    }),
    snapshot: Effect.flatMap(opened, ({ id }) => read(snapshots.of(id))),
    snapshotPart: Effect.fn("TradeStore.snapshotPart")(function* (snapshot: string, number: number) {
      const { id } = yield* opened
      return yield* write(snapshots.part(id, snapshot, number))
    }),
    keepSnapshot: Effect.fn("TradeStore.keepSnapshot")(function* (content: SnapshotContent) {
      const open = yield* writable
      // Only the last step is a turn of the writer: blocks are stored while the parts are.
      const replace = (step: ReturnType<typeof snapshots.use>) => turns.withPermit(write(writing(open, step)))
      return yield* keepSnapshotIn(snapshots, open.id, content, write, replace)
    }),
    closeBars,
    keptSeconds: (resolution: Resolution) => {
      const width = widthOf[resolution]
      const duration = width < MINUTE ? kept.trades : width < HOUR ? kept.minutes : Duration.infinity
      return Duration.toSeconds(duration)
    }
  })
})

type TradeStoreLayer = Layer.Layer<TradeStore, Config.ConfigError, SqlClient.SqlClient>

/** Trades in the tables `trade_rows`, `launches` and `bars`. */
export const layer: TradeStoreLayer = Layer.effect(TradeStore, make(true))

/** The same where another process makes partitions ahead and drops those that are too old. */
export const layerWithoutCleanup: TradeStoreLayer = Layer.effect(TradeStore, make(false))
