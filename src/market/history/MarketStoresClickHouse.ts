/** Trades in ClickHouse; launches, changes of supply and liquidity, gaps and progress in PostgreSQL. Blocks wait on disk while ClickHouse is away. */
import { type Config, Duration, Effect, Layer, Schedule, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import {
  ClickHouse,
  clickHouseSettings,
  type ClickHouseUnavailable,
  sqlText
} from "../../storage/clickhouse/ClickHouse.ts"
import { dataDir } from "../../storage/Database.ts"
import type { Address } from "../../domain/Address.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import { readTo, type StoredBarsRequest } from "../model/StoredBars.ts"
import type { SnapshotContent } from "../model/StoredSnapshot.ts"
import type { RestoreRequest, StoredBatch } from "../model/StoredBatch.ts"
import type { LiquidityRequest } from "../model/StoredLiquidity.ts"
import type { SupplyRequest } from "../model/StoredSupply.ts"
import type { OpeningsRequest } from "../model/WalletOpenings.ts"
import { holderSnapshotsKept } from "./holderTable.ts"
import { keptSecondsOf, minuteBarsKept } from "./barRetention.ts"
import type { Repair, TradeProgress } from "../model/TradeProgress.ts"
import type { StoreAccess } from "../model/BlockStore.ts"
import { contextOf, type MarketStorePorts } from "../model/MarketStores.ts"
import { type MoneySwapsRequest, type TokenSwapsRequest, tokenSwapsAfter } from "../model/TradesRequest.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { makeBarQueries } from "./barQueries.ts"
import { type ChainRecord, makeChainRecords } from "./chainRecords.ts"
import { asUnavailable, makeContact } from "./contact.ts"
import { restoreTrades } from "./restoreTrades.ts"
import { retentionRules, setRetention } from "./retention.ts"
import { barTables } from "./schema.ts"
import { closedAt, makeBlockWriter } from "./storeBlocks.ts"
import { makeTradeQueries } from "./tradeQueries.ts"
import { searchMoneySwaps, searchSolSwaps, type SwapSearch } from "./waitingSwaps.ts"
import { makeWriteQueue, type WriteQueue } from "./writeQueue.ts"

/** How often the store asks whether ClickHouse answers. */
const BEAT = Duration.seconds(1)
/** Deadline of deleting the trades of a chain, which takes a while. */
const DELETE_DEADLINE = Duration.minutes(10)
/** Swaps are first searched this far before the newest block, in milliseconds: most requested slots are recent. */
const NEAR_MS = 86_400_000

const unavailable = (detail: string) => new TradeStoreUnavailable({ cause: new Error(detail) })

/** The open chain. `queue` holds what waits to be written; null when this process only reads. */
interface Open {
  readonly record: ChainRecord
  readonly queue: WriteQueue | null
}

const TABLES = ["trades", "wallet_trades", "bar_revisions", ...barTables.map(({ name }) => name)]

const make = Effect.fnUntraced(function* (cleansUp: boolean) {
  const clickHouse = yield* ClickHouse
  const settings = yield* clickHouseSettings
  const minutes = Duration.max(yield* minuteBarsKept, settings.kept)
  const holdersKept = yield* holderSnapshotsKept
  const folder = settings.spool ?? `${yield* dataDir}/spool`
  const records = makeChainRecords(yield* SqlClient.SqlClient)
  const contact = yield* makeContact(cleansUp ? setRetention(retentionRules(settings, minutes)) : Effect.void)
  const trades = makeTradeQueries(clickHouse)
  const bars = makeBarQueries(clickHouse)
  const writer = makeBlockWriter({ clickHouse, trades, bars })
  const turns = yield* Semaphore.make(1)
  const queueOf = yield* makeWriteQueue({ folder, limit: settings.spoolBytes, records, writer, contact })
  const state: { open: Open | null } = { open: null }

  const opened = Effect.suspend(() =>
    state.open === null ? Effect.fail(unavailable("no chain is open")) : Effect.succeed(state.open)
  )

  const writable = Effect.flatMap(opened, ({ queue }) =>
    queue === null ? Effect.fail(unavailable("the chain is open for reading")) : Effect.succeed(queue)
  )

  /** The progress in PostgreSQL. ClickHouse has every trade up to it. */
  const stored = ({ queue, record }: Open) =>
    queue === null ? records.progress(record.id) : Effect.sync(() => queue.stored())

  /** Runs a query about trades. Fails while some trades wait on disk. */
  const history = <A, E>(ask: (open: Open) => Effect.Effect<A, E>) =>
    Effect.flatMap(opened, (open) =>
      open.queue?.isWaiting() === true
        ? Effect.fail(unavailable("trades wait on disk to be stored"))
        : contact.read(ask(open))
    )

  /** Makes a method of a port from a query of the open chain in ClickHouse. */
  const query = <Args extends ReadonlyArray<unknown>, A>(
    name: string,
    run: (chain: string, ...args: Args) => Effect.Effect<A, ClickHouseUnavailable>
  ) => Effect.fn(name)((...args: Args) => history(({ record }) => run(record.genesis, ...args)))

  /** Makes a method of a port from a query of the open chain in PostgreSQL. */
  const recorded = <Args extends ReadonlyArray<unknown>, A>(
    name: string,
    run: (id: number, ...args: Args) => Effect.Effect<A, TradeStoreUnavailable>
  ) => Effect.fn(name)((...args: Args) => Effect.flatMap(opened, ({ record }) => run(record.id, ...args)))

  /**
   * Finds swaps up to a slot. While blocks wait on disk and the slot is not older than the newest of them, it searches
   * the waiting blocks, so that a process can start although ClickHouse is away. Otherwise it asks ClickHouse.
   */
  const swapsAt = Effect.fnUntraced(function* (
    slot: number,
    search: SwapSearch,
    ask: (chain: string, newest: TradeProgress | null) => Effect.Effect<ReadonlyArray<TapeTrade>, ClickHouseUnavailable>
  ) {
    const { queue, record } = yield* opened
    const isWaiting = yield* Effect.suspend(() =>
      queue?.isWaiting() === true && slot >= (queue.progress()?.slot ?? 0)
        ? Effect.as(queue.backwards(search.take), true)
        : Effect.succeed(false)
    ).pipe(turns.withPermit)
    return isWaiting
      ? search.found()
      : yield* history((open) => Effect.flatMap(stored(open), (progress) => ask(record.genesis, progress)))
  })

  const removeChain = (genesis: string) =>
    Effect.forEach(
      TABLES,
      (table) => clickHouse.run(`DELETE FROM ${table} WHERE chain = ${sqlText(genesis)}`, DELETE_DEADLINE),
      { discard: true }
    )

  const tidy = Effect.suspend(() =>
    state.open === null || contact.isAway()
      ? Effect.void
      : records.tidy(
          state.open.record.id,
          {
            minutes: Duration.toSeconds(minutes),
            trades: Duration.toSeconds(settings.kept),
            holders: Duration.toSeconds(holdersKept)
          },
          removeChain
        )
  )

  // Moving blocks from disk to ClickHouse takes turns with the writer.
  const beat = contact
    .beat(() => state.open?.queue?.isWaiting() === true)
    .pipe(
      Effect.andThen(
        Effect.suspend(() => {
          const queue = state.open?.queue
          return queue === null || queue === undefined ? Effect.void : queue.drain(turns.withPermit)
        })
      ),
      // The queue and the contact have recorded the failure already.
      Effect.ignore
    )
  yield* beat.pipe(
    Effect.andThen(Effect.sleep(BEAT)),
    Effect.forever,
    keepRunning("Storing waiting trades in ClickHouse", "clickhouse"),
    Effect.forkScoped
  )
  if (cleansUp) {
    yield* keepGoing("Cleaning up the trade store")(tidy).pipe(
      Effect.repeat(Schedule.spaced("5 minutes")),
      keepRunning("Cleaning up the trade store"),
      Effect.forkScoped
    )
  }

  return contextOf({
    blocks: {
      open: Effect.fn("BlockStore.open")(function* (chain: ChainIdentity, access: StoreAccess = "shared") {
        const record = yield* records.open(chain, access)
        const queue = access === "read" ? null : yield* queueOf(record)
        state.open = { record, queue }
        return queue === null ? record.stored : queue.progress()
      }, turns.withPermit),
      append: Effect.fn("BlockStore.append")(function* (batches: ReadonlyArray<StoredBatch>) {
        yield* (yield* writable).append(batches)
      }, turns.withPermit),
      repair: Effect.fn("BlockStore.repair")(function* (repair: Repair) {
        yield* (yield* writable).repair(repair)
      }, turns.withPermit),
      repairable: Effect.flatMap(writable, ({ repairable }) => repairable),
      progress: Effect.flatMap(opened, (open) =>
        open.queue === null ? stored(open) : Effect.succeed(open.queue.progress())
      ),
      since: (request: RestoreRequest) =>
        Stream.unwrap(
          history((open) =>
            Effect.map(stored(open), (progress) =>
              progress === null
                ? Stream.empty
                : restoreTrades(
                    trades,
                    {
                      chain: open.record.genesis,
                      toSlot: progress.slot,
                      launchesWithin: (span) => records.launchesWithin(open.record.id, span)
                    },
                    request
                  )
            )
          )
        ).pipe(Stream.mapError(asUnavailable)),
      launchesBefore: recorded("BlockStore.launchesBefore", records.launchesBefore),
      // ClickHouse makes candles as trades are inserted, so there is nothing to close.
      closeBars: Effect.asVoid(writable)
    },
    trades: {
      solSwaps: Effect.fn("TradeHistory.solSwaps")((slot: number, most: number) =>
        swapsAt(slot, searchSolSwaps(slot, most), (chain) => trades.solSwaps(chain, slot, most))
      ),
      moneySwaps: Effect.fn("TradeHistory.moneySwaps")((slot: number, spanMs: number, most: number) =>
        swapsAt(slot, searchMoneySwaps(slot, spanMs, most), (chain, newest) =>
          trades.moneySwaps(chain, { slot, spanMs, most, fromMs: Math.max(0, (newest?.timeMs ?? 0) - NEAR_MS) })
        )
      ),
      moneySwapsOf: Effect.fn("TradeHistory.moneySwapsOf")((request: MoneySwapsRequest) =>
        request.places.length === 0
          ? Effect.succeed([])
          : history(({ record }) => trades.moneySwapsOf(record.genesis, request))
      ),
      tokenSwapsAfter: Effect.fn("TradeHistory.tokenSwapsAfter")((request: TokenSwapsRequest) =>
        request.mints.length === 0
          ? Effect.succeed([])
          : history(({ record }) =>
              Effect.map(trades.tokenSwaps(record.genesis, request), (found) => tokenSwapsAfter(found, request))
            )
      ),
      ofWallet: query("TradeHistory.ofWallet", trades.ofWallet),
      olderOf: query("TradeHistory.olderOf", trades.olderOf),
      swapsOf: query("TradeHistory.swapsOf", trades.swapsOf),
      largestOf: query("TradeHistory.largestOf", trades.largestOf),
      supplyOf: recorded("TradeHistory.supplyOf", (id, request: SupplyRequest) =>
        records.supplyOf(id, request, Duration.toSeconds(minutes))
      ),
      liquidityOf: Effect.fn("TradeHistory.liquidityOf")((request: LiquidityRequest) =>
        Effect.flatMap(opened, ({ record }) => records.liquidityOf(record, request))
      ),
      poolsOpened: Effect.fn("TradeHistory.poolsOpened")((fromMs: number, most: number) =>
        Effect.flatMap(opened, ({ record }) => records.poolsOpened(record, fromMs, most))
      ),
      openingOf: Effect.fn("TradeHistory.openingOf")((wallet: Address) =>
        Effect.flatMap(opened, ({ record }) => records.openingOf(record, wallet, Duration.toSeconds(settings.kept)))
      ),
      openingsOf: Effect.fn("TradeHistory.openingsOf")((request: OpeningsRequest) =>
        Effect.flatMap(opened, ({ record }) => records.openingsOf(record, request, Duration.toSeconds(settings.kept)))
      )
    },
    candles: {
      bars: Effect.fn("CandleHistory.bars")((request: StoredBarsRequest) =>
        history((open) =>
          Effect.gen(function* () {
            const progress = yield* stored(open)
            // Blocks may be stored while this reads, so trades are cut to the slot that is returned with them.
            const found = yield* bars.read(open.record.genesis, closedAt(progress), {
              ...request,
              toSlot: progress?.slot ?? 0
            })
            return readTo(found, progress)
          })
        )
      ),
      prints: query("CandleHistory.prints", bars.prints),
      revised: query("CandleHistory.revised", bars.revised),
      keptSeconds: keptSecondsOf({ trades: settings.kept, minutes })
    },
    snapshots: {
      newest: Effect.flatMap(opened, ({ record }) => records.snapshot(record.id)),
      part: recorded("SnapshotStore.part", records.snapshotPart),
      keep: Effect.fn("SnapshotStore.keep")(function* (content: SnapshotContent) {
        yield* writable
        const { record } = yield* opened
        return yield* records.keepSnapshot(record, content)
      })
    },
    holders: {
      keep: recorded("HolderHistory.keep", records.keepHolders),
      of: recorded("HolderHistory.of", records.holdersOf)
    }
  })
})

type StoresLayer = Layer.Layer<MarketStorePorts, Config.ConfigError, ClickHouse | SqlClient.SqlClient>

/** Trades in the tables of `schema.ts`. */
export const layer: StoresLayer = Layer.effectContext(make(true))

/** The same stores without the cleanup, for processes beside one that sets the retention and deletes ended chains. */
export const layerWithoutCleanup: StoresLayer = Layer.effectContext(make(false))
