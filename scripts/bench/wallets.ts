/**
 * Processor time and latency of `POST /wallets/summary` for a hundred wallets with 10,000 events, over a socket and Postgres,
 * among trades of other wallets, compared with a point read of the database. `holds` is judged by the processor time of this
 * process, client included, so that other load of the machine does not count. A batch that came incomplete, because its
 * deadline passed, is asked again and counted. Then the pages of single wallets: trades, transfers, positions, results, days, lots by
 * each method, what funded a wallet, related wallets, launches and leaders; `holdsPages` when p95 of each is at most 50 ms. The
 * first argument is the number of batches (300), `--trades` how many trades are stored (200,000); `--json` prints one line.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WalletSummaryAnswer } from "../../src/api/Wallets.ts"
import { type Address, addressFromBytes } from "../../src/domain/Address.ts"
import { IdentityRecord } from "../../src/api/schemas/WalletIdentity.ts"
import type { WalletOpening } from "../../src/api/schemas/WalletOpening.ts"
import type { Signature } from "../../src/domain/Signature.ts"
import { EvmCandles } from "../../src/market/reads/EvmCandles.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { TokenSearch } from "../../src/market/reads/TokenSearch.ts"
import { TopTraders } from "../../src/market/reads/TopTraders.ts"
import { TradesReader } from "../../src/market/reads/TradesReader.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import * as Database from "../../src/storage/Database.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import * as IdentityStorePg from "../../src/wallets/IdentityStorePg.ts"
import { TokenAccounts } from "../../src/chain/rpc/TokenAccounts.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import { LedgerReader } from "../../src/wallets/LedgerReader.ts"
import { WalletIndex } from "../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { call, keyOf, running } from "../../test/support/http.ts"
import { makeBooks, poolBook, priceBook, tokenBook } from "../../test/support/reads.ts"
import { percentile, report } from "./report.ts"
import { countArgument, flagNumber } from "../options.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"

const BATCHES = countArgument("The number of batches", 300)
const ASKED = 100
/** Trades per wallet: the share of one wallet in a full batch. */
const EACH = 100
const TRADES = flagNumber("trades", 200_000, { least: 20_000, whole: true })
const WALLETS = Math.floor(TRADES / EACH)
const MINTS = 300
const BLOCK_TRADES = 100
const BLOCKS = Math.floor(TRADES / BLOCK_TRADES)
/** Blocks a minute apart, but all of them within ten days: trades are kept for `TRADES_KEPT` only. */
const BLOCK_MS = Math.min(60_000, Math.floor((10 * 86_400_000) / BLOCKS))
/** Wallets that open the others, and the pages of each kind that are read. */
const FUNDERS = 100
const PAGES = 60
const MOST_PAGE_MS = 50
/** The newest trades that are also in memory. */
const IN_MEMORY = 200_000
/** Attempts at one batch. */
const MOST_TRIES = 10
/** Batches that a key may start per minute. */
const STARTS = 60
const LETTERS = "abcdefghijklmnopqrstuvwxyz"

/** Addresses differ in their first bytes, by which the store finds a wallet, as real ones do. */
const addressOf = (family: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(5)
  bytes[0] = family
  new DataView(bytes.buffer).setUint32(1, n)
  return addressFromBytes(bytes)
}

const startMs = Date.now() - BLOCKS * BLOCK_MS

const tradeOf = (n: number, slot: number, index: number): TapeTrade => ({
  role: "both",
  // As long as a real one.
  signature: `${n}`.padStart(88, "5"),
  slot,
  index,
  timeMs: startMs + slot * BLOCK_MS,
  wallet: addressOf(2, n % WALLETS),
  mint: addressOf(1, (n * 7919) % MINTS),
  side: n % 3 === 0 ? "sell" : "buy",
  amount: BigInt(1_000_000 + (n % 1000)),
  decimals: 6,
  lamports: 10_000_000n,
  priceUsd: 0.15,
  volumeUsdNanos: BigInt(150_000_000 + (n % 777)),
  pool: addressOf(3, n % MINTS),
  dex: "raydium-cpmm",
  launchpad: null,
  solUsdNanos: null
})

const blockOf = (slot: number) => {
  const trades = Array.from({ length: BLOCK_TRADES }, (_, index) => tradeOf(slot * BLOCK_TRADES + index, slot, index))
  // A wallet is opened in the block of its first trade.
  const openings = trades.flatMap(({ wallet }, index): ReadonlyArray<WalletOpening> => {
    const n = slot * BLOCK_TRADES + index
    const signature = `${n}`.padStart(88, "6") as Signature
    return n < WALLETS ? [{ signature, index, wallet, funder: addressOf(4, n % FUNDERS), lamports: 5_000_000n }] : []
  })
  return { slot, timeMs: startMs + slot * BLOCK_MS, trades, openings, transactions: [], launches: [], afterGap: false }
}

const prices = Layer.succeed(PriceBook, {
  at: (nowMs) => ({
    of: () => ({ sol: null, usd: { numerator: 3n, denominator: 20n } }),
    lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
    isStale: false,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
  }),
  warm: () => Effect.void
})

const asked = Array.from({ length: ASKED }, (_, n) => addressOf(2, n))

const identities = asked.map((wallet) =>
  IdentityRecord.make({
    wallet,
    labels: ["Known"],
    display: null,
    platforms: [],
    classifications: [],
    sns: null,
    owner: null
  })
)

const folder = mkdtempSync(join(tmpdir(), "fathom-bench-"))
const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder, TRADES_KEPT: "30 days" }))

const stores = Layer.mergeAll(MarketStoresPg.layer, IdentityStorePg.layer).pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide([NodeFileSystem.layer, settings])
)

const reader = WalletReader.layer.pipe(
  Layer.provide([
    WalletIndex.layerStored,
    LedgerReader.layerNone,
    WalletAccounts.layerNamed,
    TokenAccounts.layerUnreachable,
    prices
  ]),
  Layer.provideMerge(Market.layerManual())
)

const books = makeBooks()

/** The reads of a market in memory. */
const marketReads = Layer.mergeAll(MarketReader.layer, TokenSearch.layer, TopTraders.layer, TradesReader.layer).pipe(
  Layer.provide([tokenBook(books), poolBook(books), priceBook(books), EvmCandles.layerNone]),
  Layer.orDie
)

const serving = (wallets: WalletReader["Service"], market: Market["Service"]) =>
  running({
    wallets: Layer.succeed(WalletReader, wallets),
    market: marketReads.pipe(Layer.provide(Layer.succeed(Market, market))),
    keys: Array.from(LETTERS, (letter) => keyOf(letter))
  })

const fill = Effect.gen(function* () {
  const store = yield* marketStores
  const tape = yield* Tape
  const sql = yield* SqlClient.SqlClient
  yield* store.blocks.open({ genesis: "bench", isSandbox: false })
  for (let slot = 0; slot < BLOCKS; slot += 50) {
    const batches = Array.from({ length: Math.min(50, BLOCKS - slot) }, (_, n) => blockOf(slot + n))
    yield* store.blocks.append(batches)
    const recent = batches.filter((batch) => batch.slot >= BLOCKS - IN_MEMORY / BLOCK_TRADES)
    yield* Effect.forEach(recent, (batch) => tape.apply(batch), { discard: true })
  }
  tape.keep(store)
  yield* (yield* IdentityStore).replace("bench", identities)
  yield* tape.apply({ ...blockOf(BLOCKS), trades: [], openings: [] })
  // Over many trades it takes longer than a statement of the service may.
  yield* sql.withTransaction(Effect.andThen(sql`set local statement_timeout = 0`, sql`analyze`))
})

const round = (ms: number | null) => Number((ms ?? 0).toFixed(1))
const figuresOf = (samples: ReadonlyArray<number>) => ({
  p50: round(percentile(samples, 0.5)),
  p95: round(percentile(samples, 0.95)),
  max: round(percentile(samples, 1))
})

const decodeAnswer = Schema.decodeEffect(Schema.fromJsonString(WalletSummaryAnswer))

/** The events counted in an answer; null when it is not complete. */
const eventsOf = Effect.fnUntraced(function* (text: string) {
  const { data } = yield* Effect.orDie(decodeAnswer(text))
  return data.complete ? data.wallets.reduce((sum, { summary }) => sum + (summary?.index.eventCount ?? 0), 0) : null
})

const body = JSON.stringify({ wallets: asked })

const ask = (letter: string) =>
  call("/api/v1/wallets/summary", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
    key: letter
  })

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const startedAt = performance.now()
    const usedBefore = process.cpuUsage()
    return Effect.map(effect, (value) => {
      const { system, user } = process.cpuUsage(usedBefore)
      return { value, ms: performance.now() - startedAt, cpuMs: (system + user) / 1000 }
    })
  })

const pages: ReadonlyArray<readonly [name: string, path: (wallet: Address) => string]> = [
  ["trades", (wallet) => `${wallet}/trades?limit=200`],
  ["transfers", (wallet) => `${wallet}/transfers?limit=200`],
  ["positions", (wallet) => `${wallet}/positions?limit=100`],
  ["performance", (wallet) => `${wallet}/performance`],
  ["days", (wallet) => `${wallet}/pnl/history?days=30`],
  ...["average", "fifo", "lifo", "hifo"].map(
    (method) => [method, (wallet: Address) => `${wallet}/lots?method=${method}&limit=200`] as const
  ),
  ["fundedBy", (wallet) => `${wallet}/funded-by`],
  ["related", (wallet) => `${wallet}/related?limit=50`],
  ["launches", (wallet) => `${wallet}/launches`],
  ["leaders", () => "leaders?minKnownPct=0&limit=50"]
]

interface PageFigures extends ReturnType<typeof figuresOf> {
  readonly processorMs: ReturnType<typeof figuresOf>
}

/** Milliseconds of each kind of page, over a socket, and processor time of this process. */
const readPages = Effect.fnUntraced(function* (started: number) {
  const found: Record<string, PageFigures> = {}
  let count = started
  for (const [name, path] of pages) {
    const spent: Array<number> = []
    const used: Array<number> = []
    for (let n = 0; n < PAGES; n++) {
      const key = LETTERS[Math.floor(count++ / STARTS) % LETTERS.length] ?? "a"
      const { cpuMs, ms, value } = yield* timed(
        call(`/api/v1/wallets/${path(addressOf(2, (n * 37) % WALLETS))}`, { key })
      )
      if (value.status !== 200) {
        return yield* Effect.die(new Error(`${name}: ${value.status} ${value.text}`))
      }
      spent.push(ms)
      used.push(cpuMs)
    }
    found[name] = { ...figuresOf(spent), processorMs: figuresOf(used) }
  }
  return found
})

const bench = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const asks = { started: 0, incomplete: 0 }
  /** A whole answer, its events and its cost. */
  const askWhole = Effect.gen(function* () {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const letter = LETTERS[Math.floor(asks.started++ / STARTS) % LETTERS.length] ?? "a"
      const { cpuMs, ms, value } = yield* timed(ask(letter))
      const events = yield* eventsOf(value.text)
      if (events !== null) {
        return { cpuMs, ms, events, bytes: value.text.length }
      }
      asks.incomplete++
    }
    return yield* Effect.die(new Error("a batch is not complete"))
  })
  const spent: Array<number> = []
  const used: Array<number> = []
  const plain: Array<number> = []
  let bytes = 0
  let events = 0
  for (let n = 0; n < BATCHES; n++) {
    const batch = yield* askWhole
    bytes = batch.bytes
    events = batch.events
    spent.push(batch.ms)
    used.push(batch.cpuMs)
    plain.push((yield* timed(sql`select 1`)).ms)
  }
  const pageMs = yield* readPages(Math.ceil(asks.started / STARTS) * STARTS)
  report("wallets", {
    batches: BATCHES,
    wallets: ASKED,
    events,
    tradesHeld: BLOCKS * BLOCK_TRADES,
    answerBytes: bytes,
    incomplete: asks.incomplete,
    processorMs: figuresOf(used),
    batchMs: figuresOf(spent),
    pointReadMs: figuresOf(plain),
    pointReadsPerBatch: round((percentile(spent, 0.5) ?? 0) / (percentile(plain, 0.5) ?? 1)),
    pageMs,
    holdsPages: Object.values(pageMs).every(({ p95 }) => p95 <= MOST_PAGE_MS),
    holds: (percentile(used, 0.95) ?? Infinity) <= 400 && (percentile(used, 1) ?? Infinity) < 2000
  })
})

const program = Effect.gen(function* () {
  yield* fill
  yield* Effect.provide(bench, serving(yield* WalletReader, yield* Market))
})

await Effect.runPromise(program.pipe(Effect.provide(reader.pipe(Layer.provideMerge(stores))), Effect.scoped)).finally(
  () => rmSync(folder, { recursive: true, force: true })
)
