/**
 * The history of trades in ClickHouse: trades inserted a second through the store, bytes of a trade in each table, and the
 * reads of wallets, token trades and candles over all of them. It runs the engine of `npm run test:clickhouse`, behind the
 * same small HTTP front. The first argument is the number of trades (10,000,000): the store inserts 300,000 of them, and the
 * engine makes the others, which go through the same views. `--json` prints one line.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Stream } from "effect"
import { type Address, addressFromBytes } from "../../src/domain/Address.ts"
import { toBase58 } from "../../src/domain/base58.ts"
import * as MarketStoresClickHouse from "../../src/market/history/MarketStoresClickHouse.ts"
import type { StoredBatch } from "../../src/market/model/StoredBatch.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import * as ClickHouseHttp from "../../src/storage/clickhouse/ClickHouseHttp.ts"
import * as Database from "../../src/storage/Database.ts"
import { engine } from "../../test/support/clickhouse/engine.ts"
import { ask } from "../../test/support/clickhouse/engineProcess.ts"
import { report } from "./report.ts"
import { countArgument } from "../options.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"

const TRADES = countArgument("The number of trades", 10_000_000)
const INSERTED = Math.min(300_000, TRADES)
const MINTS = 50_000
const WALLETS = 2_000_000
const BLOCK_TRADES = 400
const BLOCK_MS = 400
/** Trades of an insert. */
const AT_ONCE = 20_000
const FILLED_AT_ONCE = 250_000
const RUNS = 9
const CHAIN = "bench"
const FIRST_SLOT = 400_000_000
const startMs = Math.floor(Date.now() / 1000) * 1000 - (TRADES / BLOCK_TRADES) * BLOCK_MS

/** The bytes of an address as the engine makes them. */
const hashed = (number: string, family: string) =>
  `concat(murmurHash3_128(toUInt32(${number})), murmurHash3_128(toUInt32(${number}), '${family}'))`

/** Trades of the engine, from `from` on: few tokens and wallets have most of them. */
const filled = (from: number, count: number) => `
  INSERT INTO trades (chain, slot, place, at, role, signature, wallet, mint, is_buy, amount, decimals, lamports, price_usd,
    volume_usd_nanos, pool, dex, launchpad, price_sol, worth, version)
  SELECT '${CHAIN}', ${FIRST_SLOT} + intDiv(number, ${BLOCK_TRADES}), number % ${BLOCK_TRADES},
    fromUnixTimestamp64Milli(toInt64(${startMs} + intDiv(number, ${BLOCK_TRADES}) * ${BLOCK_MS}), 'UTC'),
    if(rand(1) % 10 < 6, 'both', if(rand(1) % 2 = 0, 'pool', 'wallet')),
    concat(murmurHash3_128(number), murmurHash3_128(number, 1), murmurHash3_128(number, 2), murmurHash3_128(number, 3)),
    ${hashed("w", "w")}, ${hashed("m", "m")}, rand(2) % 2 = 0, toUInt64(exp(10 + 15 * (rand(3) / 4294967296))), 6,
    toUInt64(exp(12 + 10 * (rand(4) / 4294967296))) AS sold, (1e-6 * (m + 1)) * (1 + 0.1 * sin(number / 3e5 + m)) AS price,
    sold * 140, ${hashed("m", "p")},
    ['PumpSwap', 'Raydium', 'Raydium CPMM', 'Whirlpool', 'Meteora DLMM', 'Pump.fun'][rand(6) % 6 + 1],
    if(rand(6) % 6 = 5, 'pump-fun', NULL), price / 140, sold, 0
  FROM (SELECT number, toUInt32(${MINTS} * pow(rand(7) / 4294967296, 4)) AS m,
    toUInt32(${WALLETS} * pow(rand(8) / 4294967296, 3)) AS w FROM numbers(${from}, ${count}))
  SETTINGS max_insert_block_size = ${FILLED_AT_ONCE}, min_insert_block_size_rows = ${FILLED_AT_ONCE}`

const bytes = (count: number) => crypto.getRandomValues(new Uint8Array(count))
const [mints, wallets] = [2000, 20_000].map((count) => Array.from({ length: count }, () => addressFromBytes(bytes(32))))
const pick = (list: ReadonlyArray<Address> | undefined, skew: number): Address =>
  list?.[Math.floor(Math.random() ** skew * list.length)] ?? addressFromBytes(bytes(32))

const tradeOf = (slot: number, timeMs: number, index: number): TapeTrade => {
  const lamports = BigInt(Math.floor(10 ** (6 + Math.random() * 4)))
  const mint = pick(mints, 3)
  return {
    role: Math.random() < 0.6 ? "both" : Math.random() < 0.5 ? "pool" : "wallet",
    signature: toBase58(bytes(64)),
    slot,
    index,
    timeMs,
    wallet: pick(wallets, 2),
    mint,
    side: Math.random() < 0.5 ? "buy" : "sell",
    amount: lamports * 14n,
    decimals: 6,
    lamports,
    priceUsd: 0.0001 * (0.9 + Math.random() * 0.2),
    volumeUsdNanos: lamports * 140n,
    solUsdNanos: null,
    pool: mint,
    dex: "Raydium",
    launchpad: null
  }
}

const blockOf = (slot: number, timeMs: number): StoredBatch => ({
  slot,
  timeMs,
  trades: Array.from({ length: BLOCK_TRADES }, (_, index) => tradeOf(slot, timeMs, index)),
  launches: [],
  afterGap: false
})

/** The median and the longest time of some runs in milliseconds, and the size of the last answer. */
const timed = <A, E>(run: Effect.Effect<A, E>, sizeOf: (answer: A) => number) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    let size = 0
    for (let at = 0; at < RUNS; at++) {
      const begun = performance.now()
      size = sizeOf(yield* Effect.eventually(run))
      times.push(performance.now() - begun)
    }
    times.sort((a, b) => a - b)
    const rounded = times.map((ms) => Math.round(ms * 10) / 10)
    return { p50Ms: rounded[RUNS >> 1], maxMs: rounded.at(-1), rows: size }
  })

const rounded = (value: number) => Math.round(value * 10) / 10

const unfiltered = { side: null, wallet: null, pool: null, minUsdNanos: null, fromMs: null, toMs: null, before: null }

const program = Effect.gen(function* () {
  const server = yield* engine
  const settings = ConfigProvider.layer(
    ConfigProvider.fromUnknown({ CLICKHOUSE_SPOOL: `${server.folder}/spool`, DATA_DIR: `${server.folder}/postgres` })
  )
  const layer = MarketStoresClickHouse.layer.pipe(
    Layer.provide([Database.layer, ClickHouseHttp.layer(server.url)]),
    Layer.provide([settings, NodeFileSystem.layer])
  )
  const store = yield* Effect.provide(marketStores, yield* Layer.build(layer))
  yield* store.blocks.open({ genesis: CHAIN, isSandbox: false })

  const filledRows = TRADES - INSERTED
  // The first block makes the tables.
  yield* store.blocks.append([blockOf(FIRST_SLOT - 1, startMs)])
  const fillBegun = performance.now()
  for (let from = 0; from < filledRows; from += FILLED_AT_ONCE) {
    yield* ask(server, filled(from, Math.min(FILLED_AT_ONCE, filledRows - from)))
  }
  const fillSeconds = (performance.now() - fillBegun) / 1000
  // The front answers one statement at a time: the store took it for away meanwhile.
  yield* Effect.eventually(store.candles.revised(0))

  const firstSlot = FIRST_SLOT + filledRows / BLOCK_TRADES
  const blocks = Array.from({ length: INSERTED / BLOCK_TRADES }, (_, at) =>
    blockOf(firstSlot + at, startMs + (filledRows / BLOCK_TRADES + at) * BLOCK_MS)
  )
  const [begun, cpu] = [performance.now(), process.cpuUsage()]
  const perInsert = AT_ONCE / BLOCK_TRADES
  for (let at = 0; at < blocks.length; at += perInsert) {
    yield* store.blocks.append(blocks.slice(at, at + perInsert))
  }
  // On a busy machine some of them may wait on disk for a moment: they count once they are stored.
  yield* Effect.eventually(store.candles.revised(0))
  const seconds = (performance.now() - begun) / 1000
  const { system, user } = process.cpuUsage(cpu)

  const tables = yield* ask(
    server,
    `SELECT table, toUInt32(sum(rows)), toFloat64(sum(bytes_on_disk)) FROM system.parts
    WHERE active AND database = 'fathom' AND table != 'migrations' GROUP BY table ORDER BY table`
  )
  const total = tables.reduce((sum, [, , size]) => sum + Number(size), 0)

  const addressOf = (number: number, family: string) =>
    Effect.map(ask(server, `SELECT hex(${hashed(String(number), family)})`), ([row]) =>
      addressFromBytes(Buffer.from(String(row?.[0]), "hex"))
    )
  const [hot, middle] = [yield* addressOf(0, "m"), yield* addressOf(500, "m")]
  const [busy, quiet] = [yield* addressOf(0, "w"), yield* addressOf(40_000, "w")]
  const page = (mint: Address, given = {}) =>
    timed(store.trades.swapsOf({ ...unfiltered, mint, limit: 100, ...given }), ({ trades }) => trades.length)
  const before = startMs / 1000 + (TRADES / BLOCK_TRADES) * (BLOCK_MS / 1000) + 60
  const bars = (mint: Address, resolution: "1m" | "1h") =>
    timed(store.candles.bars({ mint, resolution, from: null, before, limit: 500 }), ({ cells }) => cells.length / 25)
  const lastSlot = blocks.at(-1)?.slot ?? firstSlot
  const middleMs = startMs + (filledRows / BLOCK_TRADES / 2) * BLOCK_MS
  const fiveMinutes = {
    second: Math.floor(middleMs / 1000),
    after: FIRST_SLOT + filledRows / BLOCK_TRADES / 2,
    most: Number.POSITIVE_INFINITY,
    untilMs: middleMs + 300_000
  }
  const reads = {
    walletBusy1000: yield* timed(store.trades.ofWallet(busy, 1000), ({ length }) => length),
    walletQuiet1000: yield* timed(store.trades.ofWallet(quiet, 1000), ({ length }) => length),
    tokenTradesHot100: yield* page(hot),
    tokenTradesMiddle100: yield* page(middle),
    tokenTradesHotOfWallet: yield* page(hot, { wallet: busy }),
    tokenTradesHotFromValue: yield* page(hot, { minUsdNanos: 140n * 400_000_000n }),
    largestOf24Spans: yield* timed(
      store.trades.largestOf({
        mint: hot,
        startsMs: Array.from({ length: 24 }, (_, at) => startMs + at * 300_000),
        toSlot: firstSlot
      }),
      ({ trades }) => trades.length
    ),
    minuteBarsHot500: yield* bars(hot, "1m"),
    hourBarsHot500: yield* bars(hot, "1h"),
    // The reads of a repair of blocks, and the swaps that a start begins with.
    sinceFiveMinutes: yield* timed(Stream.runCollect(store.blocks.since(fiveMinutes)), (found) =>
      found.reduce((sum, { trades }) => sum + trades.length, 0)
    ),
    swapsOfAStart: yield* timed(store.trades.moneySwaps(lastSlot, 600_000, 16), ({ length }) => length)
  }
  const repriced = blocks.slice(0, 3).flatMap(({ trades }) => trades.map((trade) => ({ ...trade, priceUsd: 2 })))
  const repairBegun = performance.now()
  yield* Effect.eventually(store.blocks.repair({ batches: [], repriced, gap: null, first: null, found: [] }))
  const repair = { repriced: repriced.length, ms: Math.round(performance.now() - repairBegun) }
  report("clickhouse", {
    trades: TRADES,
    insertedThroughStore: INSERTED,
    insertedPerSecond: Math.round(INSERTED / seconds),
    nodeMicrosecondsPerTrade: rounded((system + user) / INSERTED),
    engineFillPerSecond: Math.round(filledRows / fillSeconds),
    bytesPerTrade: rounded(total / TRADES),
    bytesByTable: Object.fromEntries(tables.map(([table, , size]) => [table, rounded(Number(size) / TRADES)])),
    rowsByTable: Object.fromEntries(tables.map(([table, rows]) => [table, rows])),
    ...reads,
    repair
  })
}).pipe(Effect.scoped)

await Effect.runPromise(program)
