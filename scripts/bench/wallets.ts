/**
 * Processor time and latency of `POST /wallets/summary` for a hundred wallets with 10,000 events, over a socket and Postgres,
 * among trades of other wallets, compared with a point read of the database. `holds` is judged by the processor time of this
 * process, client included, so that other load of the machine does not count. A batch that came incomplete, because its
 * deadline passed, is asked again and counted. The first argument is the number of batches (300); `--json` prints one line.
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
import { percentile, report } from "./report.ts"
import { countArgument } from "../options.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"

const BATCHES = countArgument("The number of batches", 300)
const ASKED = 100
/** Trades per wallet: the share of one wallet in a full batch. */
const EACH = 100
const WALLETS = 2000
const MINTS = 300
const BLOCK_TRADES = 100
const BLOCK_MS = 60_000
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

const startMs = Date.now() - ((WALLETS * EACH) / BLOCK_TRADES) * BLOCK_MS

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
  return { slot, timeMs: startMs + slot * BLOCK_MS, trades, transactions: [], launches: [], afterGap: false }
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
const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder }))

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

const serving = (context: Layer.Layer<WalletReader>) =>
  running({ wallets: context, keys: Array.from(LETTERS, (letter) => keyOf(letter)) })

const fill = Effect.gen(function* () {
  const store = yield* marketStores
  const tape = yield* Tape
  const sql = yield* SqlClient.SqlClient
  yield* store.blocks.open({ genesis: "bench", isSandbox: false })
  const blocks = (WALLETS * EACH) / BLOCK_TRADES
  for (let slot = 0; slot < blocks; slot += 50) {
    yield* store.blocks.append(Array.from({ length: 50 }, (_, n) => blockOf(slot + n)))
  }
  yield* (yield* IdentityStore).replace("bench", identities)
  yield* tape.apply({ ...blockOf(blocks), trades: [] })
  yield* sql`analyze`
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
  report("wallets", {
    batches: BATCHES,
    wallets: ASKED,
    events,
    tradesHeld: WALLETS * EACH,
    answerBytes: bytes,
    incomplete: asks.incomplete,
    processorMs: figuresOf(used),
    batchMs: figuresOf(spent),
    pointReadMs: figuresOf(plain),
    pointReadsPerBatch: round((percentile(spent, 0.5) ?? 0) / (percentile(plain, 0.5) ?? 1)),
    holds: (percentile(used, 0.95) ?? Infinity) <= 400 && (percentile(used, 1) ?? Infinity) < 2000
  })
})

const program = Effect.gen(function* () {
  yield* fill
  const wallets = Layer.succeed(WalletReader, yield* WalletReader)
  yield* Effect.provide(bench, serving(wallets))
})

await Effect.runPromise(program.pipe(Effect.provide(reader.pipe(Layer.provideMerge(stores))), Effect.scoped)).finally(
  () => rmSync(folder, { recursive: true, force: true })
)
