/** Trades in ClickHouse; launches, changes of supply, gaps and progress in PostgreSQL. Blocks wait on disk while ClickHouse is away. */
import { type Config, Duration, Effect, Layer, Schedule, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { Address } from "../../domain/Address.ts"
import { TradeStoreUnavailable } from "../../domain/market/Trade.ts"
import { keepGoing, keepRunning } from "../../health/keepRunning.ts"
import {
  ClickHouse,
  clickHouseSettings,
  type ClickHouseUnavailable,
  sqlText
} from "../../storage/clickhouse/ClickHouse.ts"
import { dataDir } from "../../storage/Database.ts"
import { levels, type Resolution, widthOf } from "../candles/resolutions.ts"
import type { ChainIdentity } from "../store/ChainIdentity.ts"
import type { PrintsRequest, StoredBarsRequest } from "../store/StoredBars.ts"
import type { SnapshotContent } from "../snapshot/StoredSnapshot.ts"
import type { RestoreRequest, StoredBatch } from "../store/StoredBatch.ts"
import type { SupplyRequest } from "../store/StoredSupply.ts"
import { minuteBarsKept } from "../candles/barRetention.ts"
import type { Repair, TradeProgress } from "../store/TradeProgress.ts"
import { type StoreAccess, TradeStore } from "../store/TradeStore.ts"
import {
  type LargestRequest,
  type MoneySwapsRequest,
  type TokenSwapsRequest,
  tokenSwapsAfter,
  type TradesRequest
} from "../store/TradesRequest.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
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

/** The pause between two questions whether ClickHouse answers. */
const BEAT = Duration.seconds(1)
/** Deleting the trades of a chain takes a while. */
const DELETE_DEADLINE = Duration.minutes(10)
/** Most slots that are asked for are of the time before the newest one. */
const NEAR_MS = 86_400_000
const [, MINUTE = 60, HOUR = 3600] = levels

const unavailable = (detail: string) => new TradeStoreUnavailable({ cause: new Error(detail) })

/** The open chain, with what waits to be written where this process writes. */
interface Open {
  readonly record: ChainRecord
  readonly queue: WriteQueue | null
}

const TABLES = ["trades", "wallet_trades", "bar_revisions", ...barTables.map(({ name }) => name)]

const make = Effect.fnUntraced(function* (cleansUp: boolean) {
  const clickHouse = yield* ClickHouse
  const settings = yield* clickHouseSettings
  const minutes = Duration.max(yield* minuteBarsKept, settings.kept)
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

  /** The progress in PostgreSQL: ClickHouse has every trade up to it. */
  const stored = ({ queue, record }: Open) =>
    queue === null ? records.progress(record.id) : Effect.sync(() => queue.stored())

  /** A question about trades, which has no answer while some of them wait on disk. */
  const history = <A, E>(ask: (open: Open) => Effect.Effect<A, E>) =>
    Effect.flatMap(opened, (open) =>
      open.queue?.isWaiting() === true
        ? Effect.fail(unavailable("trades wait on disk to be stored"))
        : contact.read(ask(open))
    )

  /**
   * Swaps up to a slot: of the trades that wait on disk, where they are the newest up to it, because a start goes on with those
   * while ClickHouse is away. Else those that are stored.
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
      : records.tidy(state.open.record.id, Duration.toSeconds(minutes), removeChain)
  )

  // The writer and what waits on disk take turns.
  const beat = contact
    .beat(() => state.open?.queue?.isWaiting() === true)
    .pipe(
      Effect.andThen(
        Effect.suspend(() => {
          const queue = state.open?.queue
          return queue === null || queue === undefined ? Effect.void : queue.drain(turns.withPermit)
        })
      ),
      // Noted where it happens.
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

  return TradeStore.of({
    open: Effect.fn("TradeStore.open")(function* (chain: ChainIdentity, access: StoreAccess = "shared") {
      const record = yield* records.open(chain, access)
      const queue = access === "read" ? null : yield* queueOf(record)
      state.open = { record, queue }
      return queue === null ? record.stored : queue.progress()
    }, turns.withPermit),
    append: Effect.fn("TradeStore.append")(function* (batches: ReadonlyArray<StoredBatch>) {
      yield* (yield* writable).append(batches)
    }, turns.withPermit),
    repair: Effect.fn("TradeStore.repair")(function* (repair: Repair) {
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
    launchesBefore: Effect.fn("TradeStore.launchesBefore")(function* (second: number, most: number) {
      const { record } = yield* opened
      return yield* records.launchesBefore(record.id, second, most)
    }),
    solSwaps: Effect.fn("TradeStore.solSwaps")((slot: number, most: number) =>
      swapsAt(slot, searchSolSwaps(slot, most), (chain) => trades.solSwaps(chain, slot, most))
    ),
    moneySwaps: Effect.fn("TradeStore.moneySwaps")((slot: number, spanMs: number, most: number) =>
      swapsAt(slot, searchMoneySwaps(slot, spanMs, most), (chain, newest) =>
        trades.moneySwaps(chain, { slot, spanMs, most, fromMs: Math.max(0, (newest?.timeMs ?? 0) - NEAR_MS) })
      )
    ),
    moneySwapsOf: Effect.fn("TradeStore.moneySwapsOf")((request: MoneySwapsRequest) =>
      request.places.length === 0
        ? Effect.succeed([])
        : history(({ record }) => trades.moneySwapsOf(record.genesis, request))
    ),
    tokenSwapsAfter: Effect.fn("TradeStore.tokenSwapsAfter")((request: TokenSwapsRequest) =>
      request.mints.length === 0
        ? Effect.succeed([])
        : history(({ record }) =>
            Effect.map(trades.tokenSwaps(record.genesis, request), (found) => tokenSwapsAfter(found, request))
          )
    ),
    ofWallet: Effect.fn("TradeStore.ofWallet")((wallet: Address, limit: number) =>
      history(({ record }) => trades.ofWallet(record.genesis, wallet, limit))
    ),
    swapsOf: Effect.fn("TradeStore.swapsOf")((request: TradesRequest) =>
      history(({ record }) =>
        Effect.map(trades.swapsOf(record.genesis, request), (found) => ({ trades: found, searchedTo: null }))
      )
    ),
    largestOf: Effect.fn("TradeStore.largestOf")((request: LargestRequest) =>
      history(({ record }) =>
        Effect.map(trades.largestOf(record.genesis, request), (found) => ({ trades: found, clippedAtMs: null }))
      )
    ),
    supplyOf: Effect.fn("TradeStore.supplyOf")(function* (request: SupplyRequest) {
      const { record } = yield* opened
      return yield* records.supplyOf(record.id, request, Duration.toSeconds(minutes))
    }),
    bars: Effect.fn("TradeStore.bars")((request: StoredBarsRequest) =>
      history((open) =>
        Effect.gen(function* () {
          const progress = yield* stored(open)
          // Blocks may be stored while this reads: trades are cut to the slot that is given with them.
          const { slot, timeMs } = progress ?? { slot: 0, timeMs: 0 }
          const found = yield* bars.read(open.record.genesis, closedAt(progress), { ...request, toSlot: slot })
          return progress === null ? found : { ...found, readToMs: timeMs, readToSlot: slot }
        })
      )
    ),
    prints: Effect.fn("TradeStore.prints")((request: PrintsRequest) =>
      history(({ record }) => bars.prints(record.genesis, request))
    ),
    revised: Effect.fn("TradeStore.revised")((second: number) =>
      history(({ record }) => bars.revised(record.genesis, second))
    ),
    snapshot: Effect.flatMap(opened, ({ record }) => records.snapshot(record.id)),
    snapshotPart: Effect.fn("TradeStore.snapshotPart")(function* (id: string, number: number) {
      const { record } = yield* opened
      return yield* records.snapshotPart(record.id, id, number)
    }),
    keepSnapshot: Effect.fn("TradeStore.keepSnapshot")(function* (content: SnapshotContent) {
      yield* writable
      const { record } = yield* opened
      return yield* records.keepSnapshot(record, content)
    }),
    // Candles are made as trades are inserted.
    closeBars: Effect.asVoid(writable),
    keptSeconds: (resolution: Resolution) => {
      const width = widthOf[resolution]
      const duration = width < MINUTE ? settings.kept : width < HOUR ? minutes : Duration.infinity
      return Duration.toSeconds(duration)
    }
  })
})

type TradeStoreLayer = Layer.Layer<TradeStore, Config.ConfigError, ClickHouse | SqlClient.SqlClient>

/** Trades in the tables of `schema.ts`. */
export const layer: TradeStoreLayer = Layer.effect(TradeStore, make(true))

/** The same where another process sets the retention and deletes chains that have ended. */
export const layerWithoutCleanup: TradeStoreLayer = Layer.effect(TradeStore, make(false))
