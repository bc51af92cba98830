/**
 * The import of blocks from files into PostgreSQL or ClickHouse, through the decoders' threads, pricing and the store: blocks
 * and trades a second, by the wall and by processor time, bytes of a trade with its candles and indexes, and memory.
 *
 *   npm run bench:import -- [--trades 200000] [--store postgres|clickhouse] [--form json|protobuf] [--variants 400] [--minutes 0]
 *     [--file PATH] [--json]
 *
 * The blocks are made by the simulator, some of them in turn, each with its own slot, parent and time. So their file is small
 * and quick to unpack; a real one has about 500 bytes a trade. Between the decoders and the store wallets, tokens and
 * signatures are renamed, so that the store gets other ones in each round; `--variants 1` leaves wallets and tokens as they are.
 * With `--minutes`, and at SIGTERM, the import ends early and is counted as far as it got. `--file` names the file of blocks, which is kept; it is made where it is missing.
 *
 * PostgreSQL is the embedded one, whose processor time is that of its processes that still run at the end. ClickHouse is the
 * engine of `npm run test:clickhouse` behind its small front, which is counted with it. At the end the rows of the store are counted and their amounts
 * summed: `lost` is what the store lacks of the rows that were given to it, and the run fails with 1 unless it is 0 for both, or where a block that
 * repeats had another number of trades. `hundredMillion` is what 100,000,000 trades would take at the rate of this run, unless there were as many.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Clock, ConfigProvider, Duration, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readImport } from "../../src/chain/importing/readImport.ts"
import * as MarketStoresClickHouse from "../../src/market/history/MarketStoresClickHouse.ts"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"
import type { StoredBatch } from "../../src/market/model/StoredBatch.ts"
import { importBlocks, type ImportNotes, newNotes } from "../../src/market/tape/importBlocks.ts"
import { noPrices, storedPart } from "../../src/market/tape/importHistory.ts"
import * as ClickHouseHttp from "../../src/storage/clickhouse/ClickHouseHttp.ts"
import * as Database from "../../src/storage/Database.ts"
import { ask, startEngine, type TestEngine } from "../../test/support/clickhouse/engineProcess.ts"
import { ENGINE_FOLDER } from "../cluster/engineFolder.ts"
import { flagNumber, flagText } from "../options.ts"
import { blocksFor, fileName, FIRST_SLOT, forms, VARIETIES, writeBlocks } from "./import/blockFile.ts"
import { makeRenaming } from "./import/renamed.ts"
import { report } from "./report.ts"
import { engineUse, threadSeconds, treeUse } from "./start/processTree.ts"

const oneOf = <A extends string>(name: string, all: readonly [A, ...ReadonlyArray<A>]): A => {
  const given = flagText(process.argv, name) ?? all[0]
  const found = all.find((each) => each === given)
  if (found === undefined) {
    process.stderr.write(`--${name} knows ${all.join(", ")}, not ${given}\n`)
    process.exit(2)
  }
  return found
}

const wanted = flagNumber("trades", 200_000, { whole: true })
const minutes = flagNumber("minutes", 0, { least: 0 })
const variants = flagNumber("variants", 400, { whole: true, most: 58 * 58 })
const store = oneOf("store", ["postgres", "clickhouse"])
const form = oneOf("form", forms)
const HUNDRED_MILLION = 100_000_000
const CHAIN = "bench"
const LOOK_MS = 2000
const EVERYTHING = { fromSlot: null, toSlot: null, fromMs: null, toMs: null }

const folder = mkdtempSync(join(tmpdir(), "fathom-bench-import-"))
const settings = ConfigProvider.layer(
  ConfigProvider.fromUnknown({
    DATA_DIR: join(folder, "data"),
    TRADES_KEPT: "20000 days",
    CLICKHOUSE_TRADES_KEPT: "20000 days",
    CLICKHOUSE_SPOOL: join(folder, "spool")
  })
)

/** What a store can be asked beside its ports. */
interface Asked {
  /** Bytes of the tables of trades and of what is made of them. */
  readonly bytes: Effect.Effect<Readonly<Record<string, number>>>
  /** Rows of trades and transfers, and the sum of their amounts. */
  readonly totals: Effect.Effect<{ readonly rows: number; readonly amounts: bigint }>
}

const askPostgres = Effect.map(SqlClient.SqlClient, (sql): Asked => {
  const bytes = sql<{ name: string; bytes: string }>`
    select substring(relname from '^[a-z]+_[a-z]+|^launches') as name, sum(pg_total_relation_size(oid))::text as bytes
    from pg_class
    where relkind = 'r'
      and relname ~ '^(trade_rows|minute_bars|hour_bars|day_bars|trade_names|launches|supply_changes|liquidity_events|wallet_openings)'
    group by 1
  `
  // An amount is a u64 in the bits of a bigint.
  const totals = sql<{ rows: string; amounts: string }>`
    select count(*)::text as rows,
      coalesce(sum(amount) + (count(*) filter (where amount < 0)) * 18446744073709551616::numeric, 0)::text as amounts
    from trade_rows
  `
  return {
    bytes: Effect.orDie(
      Effect.map(bytes, (rows) => Object.fromEntries(rows.map((row) => [row.name, Number(row.bytes)])))
    ),
    totals: Effect.orDie(
      Effect.map(totals, ([row]) => ({ rows: Number(row?.rows), amounts: BigInt(row?.amounts ?? 0) }))
    )
  }
})

const askClickHouse = (engine: TestEngine): Asked => ({
  bytes: Effect.map(
    ask(
      engine,
      `SELECT table, toString(sum(bytes_on_disk)) FROM system.parts
      WHERE active AND database = 'fathom' AND table != 'migrations' GROUP BY table ORDER BY table`
    ),
    (rows) => Object.fromEntries(rows.map(([table, size]) => [table, Number(size)]))
  ),
  totals: Effect.map(
    ask(engine, "SELECT toString(count()), toString(sum(toUInt128(amount))) FROM trades"),
    ([row]) => ({
      rows: Number(row?.[0]),
      amounts: BigInt(String(row?.[1] ?? 0))
    })
  )
})

const stores = Effect.gen(function* () {
  if (store === "postgres") {
    const context = yield* Layer.build(MarketStoresPg.layerWithoutCleanup.pipe(Layer.provideMerge(Database.layer)))
    return {
      ports: yield* Effect.provide(marketStores, context),
      asked: yield* Effect.provide(askPostgres, context)
    }
  }
  const engine = yield* startEngine(ENGINE_FOLDER)
  const context = yield* Layer.build(
    MarketStoresClickHouse.layerWithoutCleanup.pipe(Layer.provide([Database.layer, ClickHouseHttp.layer(engine.url)]))
  )
  return { ports: yield* Effect.provide(marketStores, context), asked: askClickHouse(engine) }
}).pipe(Effect.provide([NodeFileSystem.layer, settings]))

/** What was given to the store. */
const given = { rows: 0, amounts: 0n, otherBlocks: 0 }
const tradesOf: Array<number> = []

const count = ({ slot, trades, transfers = [] }: StoredBatch): void => {
  const variety = (slot - FIRST_SLOT) % VARIETIES
  given.otherBlocks += (tradesOf[variety] ??= trades.length) === trades.length ? 0 : 1
  given.rows += trades.length + transfers.length
  for (const rows of [trades, transfers]) {
    for (const { amount } of rows) {
      given.amounts += amount
    }
  }
}

/** Ends the import after the blocks that were read, and then counts what is stored. */
const stop = { isAsked: false }
const askToStop = (): void => {
  stop.isAsked = true
}
process.once("SIGTERM", askToStop)

const rounded = (value: number): number => Number(value.toFixed(1))

/** Threads of the decoders, which end with the import. */
const decoderSeconds = (): number => threadSeconds(process.pid)["import"] ?? 0

const measure = Effect.gen(function* () {
  const { asked, ports } = yield* stores
  const path = flagText(process.argv, "file") ?? join(folder, fileName[form])
  if (!existsSync(path)) {
    yield* Effect.promise(() => writeBlocks(path, form, blocksFor(wanted)))
  }
  const peak = { node: 0, database: 0, engine: 0, decoders: 0 }
  // To look takes time of the main thread, so it is done seldom.
  const timer = setInterval(() => {
    peak.node = Math.max(peak.node, process.memoryUsage.rss())
    peak.decoders = Math.max(peak.decoders, decoderSeconds())
  }, LOOK_MS)
  const rename = makeRenaming(variants)
  const notes: { latest: ImportNotes } = { latest: newNotes() }
  yield* ports.blocks.open({ genesis: CHAIN, isSandbox: false }, "sole")
  const work = importBlocks(
    {
      stores: ports,
      prices: noPrices,
      live: { newest: () => 0, recall: () => undefined },
      durable: () => Number.POSITIVE_INFINITY,
      storable: (batch, nowMs) => {
        const stored = storedPart(batch, nowMs)
        count(stored)
        return stored
      },
      isBeside: false,
      bridge: "unavailable",
      alone: (effect) => effect,
      read: (request, threads) =>
        readImport(request, threads).pipe(
          Stream.takeWhile(() => !stop.isAsked),
          Stream.map(rename)
        )
    },
    { place: { _tag: "file", path }, range: EVERYTHING, rate: null, budget: blocksFor(wanted) },
    notes.latest,
    Duration.minutes(1)
  )
  const began = yield* Clock.currentTimeMillis
  const look = Effect.gen(function* () {
    const { databaseMb } = treeUse(process.pid)
    const engine = engineUse(process.pid)
    peak.database = Math.max(peak.database, databaseMb)
    peak.engine = Math.max(peak.engine, engine.residentMb)
    const { blocks, trades } = notes.latest
    const megabytes = Object.values(yield* asked.bytes).reduce((sum, each) => sum + each, 0) / 1e6
    const seconds = ((yield* Clock.currentTimeMillis) - began) / 1000
    process.stderr.write(
      `${new Date().toISOString()} ${blocks} blocks, ${trades} trades, ${Math.round(seconds)} s, ${Math.round(megabytes)} MB stored; resident MB: Node ${Math.round(process.memoryUsage.rss() / 1e6)}, PostgreSQL ${Math.round(databaseMb)}, engine ${Math.round(engine.residentMb)}\n`
    )
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(look, Effect.sleep("30 seconds"))))
  if (minutes > 0) {
    setTimeout(askToStop, Duration.toMillis(Duration.minutes(minutes)))
  }
  const [used, usedByMain, database, engine, decoders] = [
    process.cpuUsage(),
    process.threadCpuUsage(),
    treeUse(process.pid).databaseSeconds,
    engineUse(process.pid).seconds,
    decoderSeconds()
  ]
  const [took] = yield* Effect.timed(work)
  clearInterval(timer)
  const [spent, byMain] = [process.cpuUsage(used), process.threadCpuUsage(usedByMain)]
  const [databaseSeconds, engineSeconds] = [treeUse(process.pid).databaseSeconds, engineUse(process.pid).seconds]
  // Rows that wait on disk for ClickHouse are stored first: it answers no question of trades before.
  yield* Effect.eventually(ports.candles.revised(0))
  yield* look
  const bytes = yield* asked.bytes
  const totals = yield* asked.totals
  const seconds = Duration.toSeconds(took)
  const { blocks, holes, trades } = notes.latest
  const perTrade = (micros: number) => rounded(micros / trades)
  const allBytes = Object.values(bytes).reduce((sum, each) => sum + each, 0)
  const lost = { rows: given.rows - totals.rows, amounts: String(given.amounts - totals.amounts) }
  return {
    store,
    form,
    isWhole: !stop.isAsked,
    isExact: lost.rows === 0 && lost.amounts === "0" && given.otherBlocks === 0,
    blocks,
    trades,
    holes,
    rows: totals.rows,
    amounts: String(totals.amounts),
    lost,
    otherBlocks: given.otherBlocks,
    fileBytesPerTrade: perTrade(statSync(path).size),
    seconds: rounded(seconds),
    blocksPerSecond: rounded(blocks / seconds),
    tradesPerSecond: Math.round(trades / seconds),
    nodeMicrosPerTrade: perTrade(spent.user + spent.system),
    // Pricing and storing.
    mainMicrosPerTrade: perTrade(byMain.user + byMain.system),
    // Reading and decoding. The rest is the garbage collector and the compiler of code.
    decodersMicrosPerTrade: perTrade((peak.decoders - decoders) * 1e6),
    databaseMicrosPerTrade: perTrade((databaseSeconds - database) * 1e6),
    ...(store === "clickhouse" && { engineMicrosPerTrade: perTrade((engineSeconds - engine) * 1e6) }),
    bytesPerTrade: rounded(allBytes / trades),
    bytesByTable: Object.fromEntries(Object.entries(bytes).map(([name, size]) => [name, perTrade(size)])),
    peakMegabytes: {
      node: Math.round(peak.node / 1e6),
      postgres: Math.round(peak.database),
      ...(store === "clickhouse" && { engine: Math.round(peak.engine) })
    },
    hundredMillion: {
      isExtrapolated: trades < HUNDRED_MILLION,
      hours: rounded((HUNDRED_MILLION / trades) * (seconds / 3600)),
      gigabytes: rounded(((allBytes / trades) * HUNDRED_MILLION) / 1e9)
    }
  }
})

const figures = await Effect.runPromise(
  measure.pipe(Effect.scoped, Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true }))))
)
report("import", figures)
process.exit(figures.isExact ? 0 : 1)
