/**
 * The trade store on the embedded PostgreSQL as it is shipped: rows written a second, by the wall and by the processor time
 * of Node and of the database, bytes of a trade with indexes and TOAST, trades restored a second: from trades, and from a
 * snapshot of memory, and trades exported to each kind of file, with the file read back. The first argument is the number of trades (300,000); `--json` prints one line.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { ConfigProvider, Duration, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Address, addressFromBytes } from "../../src/domain/Address.ts"
import { toBase58 } from "../../src/domain/base58.ts"
import { restoreTape } from "../../src/market/tape/restoreTape.ts"
import type { StoredBatch } from "../../src/market/model/StoredBatch.ts"
import { exportRows } from "../../src/market/export/exportRows.ts"
import { formats } from "../../src/storage/tableFile.ts"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import { layoutOf } from "../../src/market/history/compression.ts"
import { loadSnapshot } from "../../src/market/tape/loadSnapshot.ts"
import { takeSnapshot } from "../../src/market/tape/takeSnapshots.ts"
import { captureOf, makeMemory } from "../../src/market/memory/tapeContent.ts"
import { addBlock, emptyChain, resumeChain } from "../../src/market/memory/TapedChain.ts"
import type { TradeProgress } from "../../src/market/model/TradeProgress.ts"
import type { Tape } from "../../src/market/tape/Tape.ts"
import type { TapedChain } from "../../src/market/memory/TapedChain.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import * as Database from "../../src/storage/Database.ts"
import { report } from "./report.ts"
import { treeUse } from "./start/processTree.ts"
import { countArgument } from "../options.ts"
import { marketStores, type MarketStores } from "../../src/market/model/MarketStores.ts"

const TRADES = countArgument("The number of trades", 300_000)
const WALLETS = 20_000
const MINTS = 2000
const BLOCK_TRADES = 400
const BLOCK_MS = 400
/** Blocks of one write: about the rows that the recorder gathers. */
const BLOCKS_AT_ONCE = 12
/** One trade of so many comes with a launch. */
const LAUNCH_EACH = 20
const DEXES = ["Raydium", "Raydium CPMM", "Whirlpool", "Meteora DLMM", "PumpSwap", "Pump.fun"]
const limits = { tokens: 60_000, bars: 2_000_000, trades: 2_000_000, traders: 1_000_000 }

const roll = (() => {
  const state = { word: 7 }
  return () => {
    state.word = (state.word + 0x6d2b79f5) >>> 0
    const mixed = Math.imul(state.word ^ (state.word >>> 15), 1 | state.word)
    const again = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32
  }
})()
const pick = (many: number, skew = 1) => Math.floor(roll() ** skew * many)
const bytes = (many: number) => Uint8Array.from({ length: many }, () => pick(256))
const addresses = (many: number) => Array.from({ length: many }, () => addressFromBytes(bytes(32)))

const [mints, pools, wallets] = [addresses(MINTS), addresses(MINTS), addresses(WALLETS)]
const blocks = Math.ceil(TRADES / BLOCK_TRADES)
const startMs = Math.floor(Date.now() / 1000) * 1000 - blocks * BLOCK_MS

const at = (list: ReadonlyArray<Address>, place: number): Address => list[place] ?? addressFromBytes(new Uint8Array(32))

/** A route of one pool mostly; a third of the trades are the legs and the net result of longer ones. */
const tradeOf = (slot: number, index: number): TapeTrade => {
  const mint = pick(MINTS, 3)
  const lamports = BigInt(Math.floor(10 ** (6 + roll() * 4)))
  const priceUsd = 0.0001 * (0.9 + roll() * 0.2)
  const role = roll() < 0.67 ? "both" : roll() < 0.67 ? "pool" : "wallet"
  return {
    role,
    signature: toBase58(bytes(64)),
    slot,
    index,
    timeMs: startMs + (slot - 300_000_000) * BLOCK_MS,
    wallet: at(wallets, pick(WALLETS, 2)),
    mint: at(mints, mint),
    side: roll() < 0.55 ? "buy" : "sell",
    amount: (lamports * 1_400_000n) / BigInt(Math.floor(priceUsd * 1e9)),
    decimals: 6,
    lamports,
    priceUsd,
    volumeUsdNanos: lamports * 140n,
    solUsdNanos: null,
    pool: role === "wallet" ? null : at(pools, mint),
    dex: DEXES[pick(DEXES.length)] ?? null,
    launchpad: roll() < 0.4 ? "pump-fun" : null
  }
}

/** Lamports of all swaps that were made. */
let swapLamports = 0n

const blockOf = (n: number): StoredBatch => {
  const slot = 300_000_000 + n
  const trades = Array.from({ length: BLOCK_TRADES }, (_, index) => tradeOf(slot, index))
  swapLamports += trades.reduce((sum, { lamports, role }) => sum + (role === "wallet" ? 0n : (lamports ?? 0n)), 0n)
  return {
    slot,
    timeMs: startMs + n * BLOCK_MS,
    trades,
    launches: Array.from({ length: BLOCK_TRADES / LAUNCH_EACH }, () => ({
      event: "created",
      mint: at(mints, pick(MINTS)),
      launchpad: "pump-fun",
      pool: null
    })),
    afterGap: false
  }
}

const folder = mkdtempSync(join(tmpdir(), "fathom-bench-"))
const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder }))
const stores = MarketStoresPg.layer.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide([NodeFileSystem.layer, settings])
)

const nodeSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
const databaseSeconds = () => treeUse(process.pid).databaseSeconds

interface Spent {
  wall: number
  node: number
  database: number
}

/** Adds the time of an effect to a sum. The time of reading the clocks is not in it. */
const spending = <A, E, R>(sum: Spent, effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const database = databaseSeconds()
    const [wall, node] = [performance.now() / 1000, nodeSeconds()]
    return Effect.tap(effect, () =>
      Effect.sync(() => {
        sum.wall += performance.now() / 1000 - wall
        sum.node += nodeSeconds() - node
        sum.database += databaseSeconds() - database
      })
    )
  })

const none = (): Spent => ({ wall: 0, node: 0, database: 0 })

const rates = (trades: number, { database, node, wall }: Spent) => ({
  perSecond: Math.round(trades / wall),
  perSecondOfTwoCores: Math.round((2 * trades) / (node + database)),
  nodeMicros: Number(((1e6 * node) / trades).toFixed(2)),
  databaseMicros: Number(((1e6 * database) / trades).toFixed(2))
})

const Sizes = Schema.Array(
  Schema.Struct({ name: Schema.String, heap: Schema.Number, indexes: Schema.Number, rows: Schema.Number })
)

const sizes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`vacuum analyze`
  const rows = yield* sql`
    select c.relname as name, pg_table_size(c.oid)::float8 as heap, pg_indexes_size(c.oid)::float8 as indexes,
      greatest(c.reltuples, 0)::float8 as rows
    from pg_class c where c.relkind = 'r' and c.relname ~ '^trade' and c.reltuples > 0 order by 1
  `
  return yield* Schema.decodeUnknownEffect(Sizes)(rows)
})

const threadMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The most processor time of this thread between two turns of the event loop while an effect runs, in milliseconds. */
const longestTurn = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const state = { last: threadMs(), longest: 0 }
    const note = () => {
      const now = threadMs()
      state.longest = Math.max(state.longest, now - state.last)
      state.last = now
    }
    const timer = setInterval(note, 1)
    return effect.pipe(
      Effect.ensuring(Effect.sync(() => clearInterval(timer))),
      Effect.map((value) => ({ value, longestMs: Number(state.longest.toFixed(1)) }))
    )
  })

/** Stores a snapshot of memory and restores memory from it. */
const snapshotOf = Effect.fnUntraced(function* (store: MarketStores, progress: TradeProgress, whole: TapedChain) {
  resumeChain(whole, progress, 0)
  const [taken, restored] = [none(), none()]
  let heldMs = 0
  const tape: Pick<Tape["Service"], "capture" | "noteSnapshot"> = {
    capture: (write) =>
      Effect.map(Effect.timed(captureOf(whole, write)), ([took, value]) => {
        heldMs = Duration.toMillis(took)
        return value
      }),
    noteSnapshot: () => undefined
  }
  const take = takeSnapshot({ stores: store, tape, limits }, Number.POSITIVE_INFINITY)
  // The first run also compiles.
  yield* take
  const kept = yield* spending(taken, longestTurn(take))
  const expected = { progress, layout: layoutOf(limits), slot: progress.slot }
  const load = Effect.suspend(() => {
    const { content, memory } = makeMemory(progress.slot, () => emptyChain(limits))
    return Effect.map(loadSnapshot(store, memory, expected, limits.trades), (loaded) => ({ content, loaded }))
  })
  yield* load
  const { longestMs, value } = yield* spending(restored, longestTurn(load))
  const isEqual = value.loaded !== null && value.content().state.traders.size === whole.state.traders.size
  return {
    imageBytes: kept.value?.size ?? 0,
    storedBytes: kept.value?.bytes ?? 0,
    takeNodeSeconds: Number(taken.node.toFixed(2)),
    takeDatabaseSeconds: Number(taken.database.toFixed(2)),
    blocksWaitMs: Math.round(heldMs),
    takeLongestMs: kept.longestMs,
    restoreLongestMs: longestMs,
    isEqual,
    restored
  }
})

/** Exports all swaps to each kind of file, and reads the Parquet file back. */
const exports = Effect.gen(function* () {
  const made = yield* Effect.forEach(formats, (format) =>
    Effect.gen(function* () {
      const spent = none()
      const file = join(folder, `export.${format}`)
      const request = { dataset: "trades", width: "1m", fromMs: null, toMs: null, genesis: null } as const
      const { rows } = yield* spending(spent, exportRows({ ...request, format, file }))
      const bytes = statSync(file).size
      return [
        format,
        {
          rows,
          megabytes: Number((bytes / 1e6).toFixed(1)),
          bytesPerRow: Math.round(bytes / rows),
          ...rates(rows, spent)
        }
      ] as const
    })
  )
  const sum = yield* Effect.promise(async () => {
    const file = await asyncBufferFromFile(join(folder, "export.parquet"))
    const rows = await parquetReadObjects({ file, columns: ["lamports"] })
    return rows.reduce((total, { lamports }) => total + BigInt(lamports), 0n)
  })
  return { ...Object.fromEntries(made), isReadBack: sum === swapLamports }
})

const program = Effect.gen(function* () {
  const store = yield* marketStores
  const sql = yield* SqlClient.SqlClient
  const chain = { genesis: "bench", isSandbox: false }
  yield* store.blocks.open(chain)
  const written = none()
  const closed = none()
  for (let n = 0; n < blocks; n += BLOCKS_AT_ONCE) {
    const batches = Array.from({ length: Math.min(BLOCKS_AT_ONCE, blocks - n) }, (_, i) => blockOf(n + i))
    yield* spending(written, store.blocks.append(batches))
    yield* spending(closed, store.blocks.closeBars)
  }
  const trades = blocks * BLOCK_TRADES
  const checkpoint = none()
  yield* spending(checkpoint, sql`checkpoint`)
  const tables = yield* sizes
  const total = tables.reduce((sum, { heap, indexes }) => sum + heap + indexes, 0)
  const progress = yield* store.blocks.open(chain)
  const request = { second: 0, after: 0, most: Number.MAX_SAFE_INTEGER }
  const read = none()
  // The first run also compiles.
  yield* Stream.runDrain(store.blocks.since(request))
  const { longestMs } = yield* spending(read, longestTurn(Stream.runDrain(store.blocks.since(request))))
  const restored = none()
  const whole = emptyChain(limits)
  const taken = yield* spending(
    restored,
    longestTurn(
      progress === null
        ? Effect.succeed(null)
        : restoreTape(store.blocks, progress, { trades: Number.MAX_SAFE_INTEGER, launches: 60_000 }, (batch) => {
            addBlock(whole, batch, Date.now())
          })
    )
  )
  const snapshot = progress === null ? null : yield* snapshotOf(store, progress, whole)
  const one = none()
  yield* spending(one, store.trades.ofWallet(at(wallets, 3), 100))
  const exported = yield* exports
  report("store", {
    trades,
    exported,
    write: rates(trades, written),
    closeBars: rates(trades, closed),
    checkpointSeconds: Number(checkpoint.wall.toFixed(2)),
    bytesPerTrade: Math.round(total / trades),
    tables: tables.map(({ heap, indexes, name, rows }) => ({
      name,
      rows,
      heapBytes: Math.round(heap / Math.max(1, rows)),
      indexBytes: Math.round(indexes / Math.max(1, rows))
    })),
    read: { ...rates(trades, read), longestMs },
    restore: { ...rates(trades, restored), longestMs: taken.longestMs, trades: taken.value?.trades ?? 0 },
    snapshot: snapshot === null ? null : { ...snapshot, ...rates(trades, snapshot.restored), restored: undefined },
    walletMs: Number((one.wall * 1000).toFixed(1)),
    holds: exported.isReadBack && (2 * trades) / (written.node + written.database) >= 25_000 && total / trades <= 350
  })
})

await Effect.runPromise(program.pipe(Effect.provide(stores), Effect.scoped)).finally(() =>
  rmSync(folder, { recursive: true, force: true })
)
