/**
 * The import of blocks from files into the embedded PostgreSQL, through the decoder's thread, pricing and the store: blocks and
 * trades a second, by the wall and by processor time, bytes of a trade with its candles and indexes, and memory.
 *
 *   npm run bench:import -- [--trades 200000] [--minutes 0] [--json]
 *
 * The blocks are made by the simulator, eight of them in turn, each with its own slot, parent and time. So their file is
 * small and quick to unpack; a real one has about 500 bytes a trade. With `--minutes` the import ends after that time.
 * `hundredMillion` is what 100,000,000 trades would take at the rate of this run: an extrapolation, not a measurement.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { ConfigProvider, Duration, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { constants, createZstdCompress } from "node:zlib"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import { type ImportNotes, newNotes } from "../../src/market/tape/importBlocks.ts"
import { importHistory } from "../../src/market/tape/importHistory.ts"
import { makeBank } from "../../src/simulator/chain/Bank.ts"
import { getBlock } from "../../src/simulator/node/blockMethods.ts"
import { makeMarket } from "../../src/simulator/traders/Market.ts"
import * as Database from "../../src/storage/Database.ts"
import { flagNumber } from "../options.ts"
import { report } from "./report.ts"
import { treeUse } from "./start/processTree.ts"

const wanted = flagNumber("trades", 200_000, { whole: true })
const minutes = flagNumber("minutes", 0)
const VARIETIES = 8
const FIRST = 300_000_000
const STARTED = 1_790_000_000
const SWAPS_PER_SECOND = 1300
/** Trades of a block, about: a swap is a trade of the pool and of the wallet, as one row or two. */
const TRADES_PER_BLOCK = 830
const SLOTS_PER_SECOND = 2.5
const HUNDRED_MILLION = 100_000_000

/** Transactions of some blocks, as JSON. */
const bodies = (): ReadonlyArray<string> => {
  const bank = makeBank({ seed: "import", startSlot: 1, startUnixMs: STARTED * 1000 })
  const market = makeMarket({ seed: "import", bank, swapsPerSecond: SWAPS_PER_SECOND })
  return Array.from({ length: VARIETIES }, () => {
    const { slot } = market.advance()
    const text = Result.getOrThrow(getBlock(bank, [slot, { maxSupportedTransactionVersion: 0, rewards: false }]))
    return text.slice(text.indexOf('"transactions":['))
  })
}

/** Writes so many blocks as lines of JSON. */
const writeBlocks = async (path: string, blocks: number): Promise<void> => {
  const ready = bodies()
  // The eight blocks fit into the window, so every further one is a reference.
  const params = {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_windowLog]: 27,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1
  }
  const packer = createZstdCompress({ params })
  const file = createWriteStream(path)
  packer.pipe(file)
  for (let n = 0; n < blocks; n++) {
    const [slot, second] = [FIRST + n, STARTED + Math.floor(n / SLOTS_PER_SECOND)]
    const head = `"parentSlot":${slot - 1},"blockTime":${second},"blockhash":"${slot}","previousBlockhash":"${slot - 1}"`
    if (!packer.write(`{"slot":${slot},"block":{${head},${ready[n % VARIETIES] ?? ""}}\n`)) {
      await once(packer, "drain")
    }
  }
  packer.end()
  await once(file, "close")
}

const folder = mkdtempSync(join(tmpdir(), "fathom-bench-import-"))
const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder, TRADES_KEPT: "20000 days" }))
const stores = MarketStoresPg.layerWithoutCleanup.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide([NodeFileSystem.layer, settings])
)

const tableBytes = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ name: string; bytes: string }>`
      select substring(relname from '^[a-z]+_[a-z]+|^launches') as name, sum(pg_total_relation_size(oid))::text as bytes
      from pg_class
      where relkind = 'r' and relname ~ '^(trade_rows|minute_bars|hour_bars|day_bars|trade_names|launches|supply_changes)'
      group by 1
    `,
    (rows) => Object.fromEntries(rows.map(({ bytes, name }) => [name, Number(bytes)]))
  )
)

const measure = Effect.gen(function* () {
  const path = join(folder, "blocks.ndjson.zst")
  yield* Effect.promise(() => writeBlocks(path, Math.ceil(wanted / TRADES_PER_BLOCK)))
  const peak = { rss: 0 }
  const timer = setInterval(() => {
    peak.rss = Math.max(peak.rss, process.memoryUsage.rss())
  }, 500)
  const [used, usedByMain, database] = [
    process.cpuUsage(),
    process.threadCpuUsage(),
    treeUse(process.pid).databaseSeconds
  ]
  const request = {
    place: { _tag: "file" as const, path },
    range: { fromSlot: null, toSlot: null, fromMs: null, toMs: null },
    rate: null,
    budget: null,
    genesis: "bench",
    patience: Duration.minutes(1)
  }
  const notes: { latest: ImportNotes } = { latest: newNotes() }
  const work = importHistory(request, (latest) =>
    Effect.suspend(() => {
      notes.latest = latest
      const { blocks, trades } = latest
      process.stderr.write(`${blocks} blocks, ${trades} trades, ${Math.round(process.memoryUsage.rss() / 1e6)} MB\n`)
      return Effect.sleep("30 seconds")
    }).pipe(Effect.forever)
  )
  const limit = minutes === 0 ? Duration.infinity : Duration.minutes(minutes)
  const [took] = yield* Effect.timed(Effect.asVoid(Effect.timeoutOption(work, limit)))
  clearInterval(timer)
  const [spent, byMain] = [process.cpuUsage(used), process.threadCpuUsage(usedByMain)]
  const bytes = yield* tableBytes
  const seconds = Duration.toSeconds(took)
  const { blocks, holes, trades } = notes.latest
  const bytesPerTrade = Math.round(Object.values(bytes).reduce((sum, each) => sum + each, 0) / trades)
  return {
    blocks,
    trades,
    holes,
    fileBytesPerTrade: Number((statSync(path).size / trades).toFixed(1)),
    seconds: Number(seconds.toFixed(1)),
    blocksPerSecond: Number((blocks / seconds).toFixed(1)),
    tradesPerSecond: Math.round(trades / seconds),
    nodeMicrosPerTrade: Number(((spent.user + spent.system) / trades).toFixed(1)),
    // Pricing and storing. The rest is reading, decoding and the garbage collector.
    mainMicrosPerTrade: Number(((byMain.user + byMain.system) / trades).toFixed(1)),
    databaseMicrosPerTrade: Number((((treeUse(process.pid).databaseSeconds - database) * 1e6) / trades).toFixed(1)),
    bytesPerTrade,
    tables: bytes,
    peakMegabytes: Math.round(peak.rss / 1e6),
    hundredMillion: {
      isExtrapolated: true,
      hours: Number(((HUNDRED_MILLION / trades) * (seconds / 3600)).toFixed(1)),
      gigabytes: Number(((bytesPerTrade * HUNDRED_MILLION) / 1e9).toFixed(1))
    }
  }
})

const figures = await Effect.runPromise(
  measure.pipe(
    Effect.provide(stores),
    Effect.scoped,
    Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true })))
  )
)
report("import", figures)
process.exit(0)
