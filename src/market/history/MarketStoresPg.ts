/** The market stores in PostgreSQL. Every query has a deadline. */
import { Clock, Config, Duration, Effect, Layer, Schedule, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { durationSetting } from "../../domain/countSetting.ts"
import { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { bounded, type Broken } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { closedAfter, closedBefore } from "../memory/barSpans.ts"
import { makeBarTable } from "./barTable.ts"
import { makeChainTable, type StoredChain } from "./chainTable.ts"
import { keepSnapshotIn, makeSnapshotTable } from "./snapshotTable.ts"
import type { Address } from "../../domain/Address.ts"
import type { SnapshotContent } from "../model/StoredSnapshot.ts"
import { restoreBlocks } from "./restoreBlocks.ts"
import { makePartitions } from "./tradePartitions.ts"
import { joinProgress, type Repair, repairedProgress } from "../model/TradeProgress.ts"
import type { StoreAccess } from "../model/BlockStore.ts"
import { contextOf, type MarketStorePorts } from "../model/MarketStores.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import { readTo, type StoredBarsRequest } from "../model/StoredBars.ts"
import type { RestoreRequest, StoredBatch } from "../model/StoredBatch.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { newestChanges, type SupplyRequest } from "../model/StoredSupply.ts"
import type { LiquidityRequest } from "../model/StoredLiquidity.ts"
import { makeOpeningTable } from "./openingTable.ts"
import { makeLiquidityTable } from "./liquidityTable.ts"
import { holderSnapshotsKept, makeHolderTable } from "./holderTable.ts"
import type { HolderHistoryRequest, HolderSnapshot } from "../model/HolderHistory.ts"
import { makeSupplyTable } from "./supplyTable.ts"
import { keptSecondsOf, minuteBarsKept } from "./barRetention.ts"
import { makeTradeNames } from "./tradeNames.ts"
import { makeLargest, makeOlder, makeTokenSwaps, makeTradePages } from "./tradePages.ts"
import { makeTradeTable } from "./tradeTable.ts"
import { makeWalletRows } from "./walletRows.ts"
import { LATE_SECONDS } from "../model/windows.ts"
import { type OpeningsRequest, storedOpening } from "../model/WalletOpenings.ts"

/** Deadline of a read that a request waits for. */
const READ_DEADLINE = Duration.seconds(2)
const WRITE_DEADLINE = Duration.seconds(20)
/** Deadline of the cleanup: dropping partitions waits for readers, and deleting a chain takes a while. */
const TIDY_DEADLINE = Duration.minutes(10)
/** The least retention of trades: a start restores the 24 h windows and the 24 h before them. */
const LEAST_KEPT = Duration.days(2)
const DAY_MS = 86_400_000

const unavailable = (cause: unknown) => new TradeStoreUnavailable({ cause })

/** `TRADES_KEPT` (7 days), `MINUTE_BARS_KEPT` (90 days) and `HOLDER_SNAPSHOTS_KEPT` (90 days). Hours and days are kept for good. */
export const settings = Config.all({
  trades: durationSetting("TRADES_KEPT").pipe(Config.withDefault(Duration.days(7))),
  minutes: minuteBarsKept,
  holders: holderSnapshotsKept
}).pipe(
  Config.map(({ holders, minutes, trades }) => ({
    holders,
    trades: Duration.max(trades, LEAST_KEPT),
    minutes: Duration.max(minutes, trades)
  }))
)

/** The open chain and its stored progress. */
interface Open {
  readonly id: number
  /** True when other processes write, so that progress must be read. */
  readonly isRead: boolean
  /** The number of the term in which this process is the only writer; null when it is not the only one. */
  readonly term: number | null
  /** From this second on changes of supply are stored. */
  readonly supplyFrom: number
  /** From this second on changes of liquidity are stored. */
  readonly liquidityFrom: number
  /** From this second on openings of wallets are stored. */
  readonly openingsFrom: number
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
  const walletRows = makeWalletRows(trades)
  const olderOf = makeOlder(sql, trades)
  const largest = makeLargest(sql, trades)
  const tokenSwaps = makeTokenSwaps(sql, trades)
  // The writer and repairs take turns: each continues from the state that the other has stored.
  const turns = yield* Semaphore.make(1)
  const bars = makeBarTable(sql)
  const chains = makeChainTable(sql)
  const supply = makeSupplyTable(sql)
  const liquidity = makeLiquidityTable(sql)
  const openings = makeOpeningTable(sql)
  const holders = makeHolderTable(sql)
  const snapshots = makeSnapshotTable(sql)
  const partitions = makePartitions(sql)
  const state: { open: Open | null } = { open: null }
  const read = bounded(READ_DEADLINE, unavailable)
  const write = bounded(WRITE_DEADLINE, unavailable)
  const tidying = bounded(TIDY_DEADLINE, unavailable)

  const opened = Effect.suspend(() =>
    state.open === null ? Effect.fail(unavailable(new Error("no chain is open"))) : Effect.succeed(state.open)
  )

  /** The open chain with its progress as it is now. */
  const current = Effect.flatMap(opened, (open) =>
    open.isRead ? Effect.map(read(chains.read(open.id)), (stored): Open => ({ ...open, stored })) : Effect.succeed(open)
  )

  /** Makes a method of a port from a query of the open chain. */
  const query = <Args extends ReadonlyArray<unknown>, A>(
    name: string,
    bound: typeof read,
    run: (chain: number, ...args: Args) => Effect.Effect<A, Broken>
  ) => Effect.fn(name)((...args: Args) => Effect.flatMap(opened, ({ id }) => bound(run(id, ...args))))

  const writable = Effect.flatMap(opened, (open) =>
    open.isRead ? Effect.fail(unavailable(new Error("the chain is open for reading"))) : Effect.succeed(open)
  )

  /** Runs an effect in a transaction of the chain's writer. */
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

  /**
   * The statements that store blocks and rebuild the closed candles that they change, in their order. They have all their
   * arrays. Making those takes a while for many blocks, and a transaction that is idle meanwhile would be aborted.
   */
  const statementsOf = Effect.fnUntraced(function* (
    { id }: Open,
    batches: ReadonlyArray<StoredBatch>,
    { closed }: StoredChain,
    repriced: ReadonlyArray<TapeTrade>
  ) {
    const rows = batches.flatMap((batch) => batch.trades)
    const all = [...rows, ...batches.flatMap(({ transfers = [] }) => transfers)]
    return [
      ...(all.length > 0 ? [yield* trades.insertTrades(id, all)] : []),
      ...(repriced.length > 0 ? [trades.reprice(id, repriced)] : []),
      ...bars.rewrite(id, closed, [...rows, ...repriced]),
      trades.insertLaunches(id, batches),
      supply.insert(id, batches),
      liquidity.insert(id, batches),
      openings.insert(id, batches)
    ]
  })

  /** Stores blocks together with the state that they lead to. */
  const store = Effect.fnUntraced(function* (
    open: Open,
    batches: ReadonlyArray<StoredBatch>,
    stored: StoredChain,
    repriced: ReadonlyArray<TapeTrade> = []
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    const times = batches.flatMap(({ timeMs, trades: own }) => [timeMs, ...own.map((trade) => trade.timeMs)])
    yield* write(partitions.ensure(times))
    const statements = yield* write(statementsOf(open, batches, stored, repriced))
    const repairs = yield* write(
      writing(
        open,
        Effect.gen(function* () {
          yield* Effect.all(statements, { discard: true })
          yield* chains.gaps.save(open.id, open.stored?.progress.gaps ?? [], stored.progress.gaps)
          const made = stored.progress.repairs - (open.stored?.progress.repairs ?? 0)
          return yield* chains.save(open.id, stored, nowMs, made)
        })
      )
    )
    open.stored = { ...stored, progress: { ...stored.progress, repairs } }
  })

  const append = Effect.fn("BlockStore.append")(function* (batches: ReadonlyArray<StoredBatch>) {
    const open = yield* writable
    const stored = advanced(open.stored, batches)
    if (stored !== null) {
      yield* store(open, batches, stored)
    }
  }, turns.withPermit)

  const repair = Effect.fn("BlockStore.repair")(function* (given: Repair) {
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
    const gone = state.open === null ? [] : yield* chains.abandoned(state.open.id, nowMs)
    yield* Effect.forEach(gone, chains.remove, { discard: true })
  })

  const tidy = Effect.fnUntraced(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    yield* partitions.ensure([nowMs, nowMs + DAY_MS, nowMs + 2 * DAY_MS])
    yield* partitions.dropBefore("trade_rows", nowMs - Duration.toMillis(kept.trades))
    yield* partitions.dropBefore("minute_bars", nowMs - Duration.toMillis(kept.minutes))
    yield* supply.dropBefore(nowMs - Duration.toMillis(kept.minutes))
    yield* holders.dropBefore(nowMs - Duration.toMillis(kept.holders))
    yield* openings.dropBefore(nowMs - Duration.toMillis(kept.trades))
    yield* liquidity.dropBefore(nowMs - Duration.toMillis(kept.trades))
    yield* sweep
  })

  if (cleansUp) {
    yield* quietly(tidying(tidy())).pipe(
      Effect.repeat(Schedule.spaced("5 minutes")),
      keepRunning("Cleaning up the trade store"),
      Effect.forkScoped
    )
  }

  return contextOf({
    blocks: {
      open: Effect.fn("BlockStore.open")(function* (chain: ChainIdentity, access: StoreAccess = "shared") {
        const nowMs = yield* Clock.currentTimeMillis
        const { id } = yield* write(chains.find(chain, nowMs))
        // Claim first, then read the progress: after the claim no other process can change it.
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
      launchesBefore: query("BlockStore.launchesBefore", write, (id, second: number, most: number) =>
        trades.launchesBefore(id, second * 1000, most)
      ),
      closeBars
    },
    trades: {
      solSwaps: query("TradeHistory.solSwaps", write, trades.solSwaps),
      moneySwaps: query("TradeHistory.moneySwaps", write, tokenSwaps.all),
      moneySwapsOf: query("TradeHistory.moneySwapsOf", write, tokenSwaps.of),
      tokenSwapsAfter: query("TradeHistory.tokenSwapsAfter", write, tokenSwaps.after),
      ofWallet: query("TradeHistory.ofWallet", read, walletRows),
      olderOf: query("TradeHistory.olderOf", read, olderOf),
      swapsOf: query("TradeHistory.swapsOf", read, pageOf),
      largestOf: query("TradeHistory.largestOf", read, largest),
      supplyOf: Effect.fn("TradeHistory.supplyOf")(function* (request: SupplyRequest) {
        const { id, stored, supplyFrom } = yield* current
        const keptFrom = (yield* Clock.currentTimeMillis) / 1000 - Duration.toSeconds(kept.minutes)
        const changes = yield* read(supply.of(id, request))
        return {
          ...newestChanges(changes, request.most, Math.max(supplyFrom, keptFrom)),
          toSlot: stored?.progress.slot ?? 0
        }
      }),
      liquidityOf: Effect.fn("TradeHistory.liquidityOf")(function* (request: LiquidityRequest) {
        const { id, liquidityFrom, stored } = yield* current
        const events = yield* read(liquidity.of(id, request))
        return { events, from: liquidityFrom, toSlot: stored?.progress.slot ?? 0 }
      }),
      poolsOpened: Effect.fn("TradeHistory.poolsOpened")(function* (fromMs: number, most: number) {
        const { id, liquidityFrom } = yield* current
        return { events: yield* read(liquidity.opened(id, fromMs, most)), from: liquidityFrom }
      }),
      openingOf: Effect.fn("TradeHistory.openingOf")(function* (wallet: Address) {
        const { id, openingsFrom, stored } = yield* current
        const nowMs = yield* Clock.currentTimeMillis
        const opening = yield* read(openings.ofWallet(id, wallet))
        const keptSeconds = Duration.toSeconds(kept.trades)
        return storedOpening(opening, stored?.progress.timeMs ?? null, { openingsFrom, keptSeconds, nowMs })
      }),
      openingsOf: Effect.fn("TradeHistory.openingsOf")(function* (request: OpeningsRequest) {
        const { id, openingsFrom, stored } = yield* current
        const nowMs = yield* Clock.currentTimeMillis
        const { opened, opening } = yield* read(openings.related(id, request))
        const keptSeconds = Duration.toSeconds(kept.trades)
        const span = storedOpening(opening, stored?.progress.timeMs ?? null, { openingsFrom, keptSeconds, nowMs })
        return { ...span, opened }
      })
    },
    candles: {
      bars: Effect.fn("CandleHistory.bars")(function* (request: StoredBarsRequest) {
        const { id, stored } = yield* current
        const closed = stored?.closed ?? closedBefore(0)
        // Blocks may be stored while this reads, so trades are cut to the slot that is returned with them.
        const progress = stored?.progress ?? null
        const found = yield* read(bars.read(id, closed, { ...request, toSlot: progress?.slot ?? 0 }))
        return readTo(found, progress)
      }),
      prints: query("CandleHistory.prints", read, bars.prints),
      revised: query("CandleHistory.revised", write, bars.revised),
      keptSeconds: keptSecondsOf(kept)
    },
    snapshots: {
      newest: Effect.flatMap(opened, ({ id }) => read(snapshots.of(id))),
      part: query("SnapshotStore.part", write, snapshots.part),
      keep: Effect.fn("SnapshotStore.keep")(function* (content: SnapshotContent) {
        const open = yield* writable
        // Only the last step takes the writer's turn, so blocks are stored while the parts are being stored.
        const replace = (step: ReturnType<typeof snapshots.use>) => turns.withPermit(write(writing(open, step)))
        return yield* keepSnapshotIn(snapshots, open.id, content, write, replace)
      })
    },
    holders: {
      keep: query("HolderHistory.keep", write, (id, given: ReadonlyArray<HolderSnapshot>) => holders.insert(id, given)),
      of: query("HolderHistory.of", read, (id, request: HolderHistoryRequest) => holders.of(id, request))
    }
  })
})

type StoresLayer = Layer.Layer<MarketStorePorts, Config.ConfigError, SqlClient.SqlClient>

/** Trades in the tables `trade_rows`, `launches` and `bars`. */
export const layer: StoresLayer = Layer.effectContext(make(true))

/** The same stores without the cleanup, for processes beside one that creates partitions ahead and drops old ones. */
export const layerWithoutCleanup: StoresLayer = Layer.effectContext(make(false))
