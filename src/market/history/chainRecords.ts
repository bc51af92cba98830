/**
 * What PostgreSQL stores of a chain whose trades are in ClickHouse: progress, gaps, terms of writers, launches and
 * changes of supply and of liquidity.
 */
import { Clock, Duration, Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import { bounded } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { makeChainTable } from "./chainTable.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import { keepSnapshotIn, makeSnapshotTable } from "./snapshotTable.ts"
import type { SnapshotContent } from "../model/StoredSnapshot.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import { newestChanges, type SupplyRequest } from "../model/StoredSupply.ts"
import type { LiquidityRequest } from "../model/StoredLiquidity.ts"
import type { Address } from "../../domain/Address.ts"
import { type OpeningsRequest, storedOpening } from "../model/WalletOpenings.ts"
import { makeOpeningTable } from "./openingTable.ts"
import { makeLiquidityTable } from "./liquidityTable.ts"
import type { HolderHistoryRequest, HolderSnapshot } from "../model/HolderHistory.ts"
import { makeHolderTable } from "./holderTable.ts"
import { makeSupplyTable } from "./supplyTable.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import type { StoreAccess } from "../model/BlockStore.ts"
import { makeTradeNames } from "./tradeNames.ts"
import { makeTradeTable } from "./tradeTable.ts"
import { closedAt } from "./storeBlocks.ts"
import { READ_DEADLINE, type Span } from "./tradeQueries.ts"

const WRITE_DEADLINE = Duration.seconds(20)
/** Deadline of the cleanup: deleting a chain takes a while. */
const TIDY_DEADLINE = Duration.minutes(10)
/** Prefix of the stored genesis hash. Without it, the same chain has its trades in PostgreSQL. */
const PREFIX = "clickhouse:"

const unavailable = (cause: unknown) => new TradeStoreUnavailable({ cause })

/** A chain as it was opened. */
export interface ChainRecord {
  readonly id: number
  readonly genesis: string
  /** The number of the term in which this process is the only writer; null when it is not the only one. */
  readonly term: number | null
  readonly stored: TradeProgress | null
  /** The newest slot with a trade that ClickHouse should have; null when it is not known. */
  readonly traded: number | null
  /** From this second on changes of liquidity are stored. */
  readonly liquidityFrom: number
  /** From this second on openings of wallets are stored. */
  readonly openingsFrom: number
}

/** For how long rows are kept, in seconds: as long as minute candles, as long as trades, and as snapshots of holders. */
export interface KeptSeconds {
  readonly minutes: number
  readonly holders: number
  readonly trades: number
}

export const makeChainRecords = (sql: SqlClient.SqlClient) => {
  const chains = makeChainTable(sql)
  const launches = makeTradeTable(sql, makeTradeNames(sql))
  const supply = makeSupplyTable(sql)
  const liquidity = makeLiquidityTable(sql)
  const openings = makeOpeningTable(sql)
  const holders = makeHolderTable(sql)
  const snapshots = makeSnapshotTable(sql)
  const read = bounded(READ_DEADLINE, unavailable)
  const write = bounded(WRITE_DEADLINE, unavailable)

  const over = unavailable(new Error("another process writes the chain"))

  /** Fails once the term has ended. */
  const holdTerm = ({ id, term }: Pick<ChainRecord, "id" | "term">) =>
    term === null
      ? Effect.void
      : Effect.flatMap(chains.holdTerm(id, term), (isHeld) => (isHeld ? Effect.void : Effect.fail(over)))

  /** Runs an effect in a transaction of the chain's writer. Fails once the writer's term has ended. */
  const writing = <A, E>(record: Pick<ChainRecord, "id" | "term">, effect: Effect.Effect<A, E>) =>
    transaction(sql, Effect.andThen(holdTerm(record), effect))

  const named = SqlSchema.findAll({
    Request: Schema.Number,
    Result: Schema.Struct({ genesis: Schema.String }),
    execute: (id) => sql`select genesis from chains where id = ${id}`
  })

  return {
    /**
     * Fails once the term has ended. Inserts into ClickHouse take part in no transaction, so a writer asks before it
     * inserts.
     */
    checkTerm: (record: Pick<ChainRecord, "id" | "term">) =>
      record.term === null ? Effect.void : write(transaction(sql, holdTerm(record))),

    /** Opens a chain and inserts it when it is new. `sole` begins a term. */
    open: Effect.fnUntraced(function* (chain: ChainIdentity, access: StoreAccess) {
      const nowMs = yield* Clock.currentTimeMillis
      const own = { ...chain, genesis: `${PREFIX}${chain.genesis}` }
      const { id } = yield* write(chains.find(own, nowMs))
      // Claim first, then read the progress: after the claim no other process can change it.
      const term = access === "sole" ? yield* write(chains.claim(id)) : null
      const { liquidityFrom, openingsFrom, stored, traded } = yield* write(chains.find(own, nowMs))
      return {
        id,
        genesis: chain.genesis,
        term,
        stored: stored?.progress ?? null,
        traded,
        liquidityFrom,
        openingsFrom
      } satisfies ChainRecord
    }),

    progress: (id: number) => Effect.map(read(chains.read(id)), (stored) => stored?.progress ?? null),

    /**
     * Stores the launches and changes of supply of blocks with the progress they make, and the newest slot with a trade in
     * ClickHouse. Returns the progress with the repairs of other writers. Fails once the term has ended.
     */
    commit: Effect.fnUntraced(function* (
      { id, stored, term }: Pick<ChainRecord, "id" | "stored" | "term">,
      batches: ReadonlyArray<StoredBatch>,
      progress: TradeProgress,
      traded: number | null
    ) {
      const nowMs = yield* Clock.currentTimeMillis
      // They have all their arrays: a transaction that is idle while those are made would be aborted.
      const statements = [
        launches.insertLaunches(id, batches),
        supply.insert(id, batches),
        liquidity.insert(id, batches),
        openings.insert(id, batches)
      ]
      return yield* write(
        writing(
          { id, term },
          Effect.gen(function* () {
            yield* Effect.all(statements, { discard: true })
            yield* chains.gaps.save(id, stored?.gaps ?? [], progress.gaps)
            const made = progress.repairs - (stored?.repairs ?? 0)
            const repairs = yield* chains.save(id, { progress, closed: closedAt(progress) }, nowMs, made, traded)
            return { ...progress, repairs }
          })
        )
      )
    }),

    snapshot: (id: number) => read(snapshots.of(id)),
    snapshotPart: (id: number, snapshot: string, number: number) => write(snapshots.part(id, snapshot, number)),
    keepSnapshot: (record: ChainRecord, content: SnapshotContent) =>
      keepSnapshotIn(snapshots, record.id, content, write, (step) => write(writing(record, step))),

    launchesWithin: (id: number, span: Span) => write(launches.launchesWithin({ chain: id, ...span })),

    launchesBefore: (id: number, second: number, most: number) =>
      write(launches.launchesBefore(id, second * 1000, most)),

    /** Changes of supply. Only the last `keptSeconds` seconds are kept. */
    supplyOf: Effect.fnUntraced(function* (id: number, request: SupplyRequest, keptSeconds: number) {
      const keptFrom = (yield* Clock.currentTimeMillis) / 1000 - keptSeconds
      const stored = yield* read(chains.read(id))
      const changes = yield* read(supply.of(id, request))
      return { ...newestChanges(changes, request.most, keptFrom), toSlot: stored?.progress.slot ?? 0 }
    }),

    /** Changes of liquidity since they are stored. */
    liquidityOf: Effect.fnUntraced(function* (
      { id, liquidityFrom }: Pick<ChainRecord, "id" | "liquidityFrom">,
      request: LiquidityRequest
    ) {
      const stored = yield* read(chains.read(id))
      const events = yield* read(liquidity.of(id, request))
      return { events, from: liquidityFrom, toSlot: stored?.progress.slot ?? 0 }
    }),

    /** The opening of a wallet. Only those of the last `keptSeconds` seconds are kept. */
    openingOf: Effect.fnUntraced(function* (
      { id, openingsFrom }: Pick<ChainRecord, "id" | "openingsFrom">,
      wallet: Address,
      keptSeconds: number
    ) {
      const nowMs = yield* Clock.currentTimeMillis
      const stored = yield* read(chains.read(id))
      const opening = yield* read(openings.ofWallet(id, wallet))
      return storedOpening(opening, stored?.progress.timeMs ?? null, { openingsFrom, keptSeconds, nowMs })
    }),
    openingsOf: Effect.fnUntraced(function* (
      { id, openingsFrom }: Pick<ChainRecord, "id" | "openingsFrom">,
      request: OpeningsRequest,
      keptSeconds: number
    ) {
      const nowMs = yield* Clock.currentTimeMillis
      const stored = yield* read(chains.read(id))
      const { opened, opening } = yield* read(openings.related(id, request))
      const span = storedOpening(opening, stored?.progress.timeMs ?? null, { openingsFrom, keptSeconds, nowMs })
      return { ...span, opened }
    }),

    keepHolders: (id: number, given: ReadonlyArray<HolderSnapshot>) => write(holders.insert(id, given)),
    holdersOf: (id: number, request: HolderHistoryRequest) => read(holders.of(id, request)),

    poolsOpened: ({ id, liquidityFrom }: Pick<ChainRecord, "id" | "liquidityFrom">, fromMs: number, most: number) =>
      Effect.map(read(liquidity.opened(id, fromMs, most)), (events) => ({ events, from: liquidityFrom })),

    /** Deletes old changes of supply and of liquidity, and sandboxes that have ended. `remove` deletes the trades of a sandbox first. */
    tidy: <E>(id: number, kept: KeptSeconds, remove: (genesis: string) => Effect.Effect<void, E>) =>
      Effect.gen(function* () {
        const nowMs = yield* Clock.currentTimeMillis
        yield* write(supply.dropBefore(nowMs - kept.minutes * 1000))
        yield* write(holders.dropBefore(nowMs - kept.holders * 1000))
        yield* write(openings.dropBefore(nowMs - kept.trades * 1000))
        yield* write(liquidity.dropBefore(nowMs - kept.trades * 1000))
        const gone = yield* write(chains.abandoned(id, nowMs))
        for (const each of gone) {
          const [row] = yield* write(named(each))
          yield* row?.genesis.startsWith(PREFIX) === true ? remove(row.genesis.slice(PREFIX.length)) : Effect.void
          yield* bounded(TIDY_DEADLINE, unavailable)(chains.remove(each))
        }
      })
  }
}
