/**
 * Processor time and latency of `POST /wallets/summary` for a hundred wallets with 10,000 events, over a socket and Postgres,
 * among trades of other wallets, compared with a point read of the database. `holds` is judged by the processor time of this
 * process, client included, so that other load of the machine does not count. A batch that came incomplete, because its
 * deadline passed, is asked again and counted.
 *
 * Then the pages of single wallets: trades, transfers, positions, results, days, lots by each method, balances, what funded a
 * wallet, related wallets, launches and leaders. First of wallets with a hundred trades each. Then of a bot that trades twice
 * in every block, and of a watched exchange with five transfers in every block: their first pages, later ones by cursor, and
 * filtered ones. Each kind of page is read in rounds, and the round with the least p95 counts. `holdsPages` when that p95 is
 * at most 50 ms for each; `holdsPagesByProcessor` when the processor time of service, client and database together is.
 * `waitedMs` is how long they stood ready without a processor: what other work of the machine adds.
 *
 * The first argument is the number of batches (300). `--trades` is how many trades are stored (200,000), `--data` a folder
 * that is filled once and kept, `--rounds` how often pages are read (3), `--pages` a regular expression that selects pages by
 * name. `--json` prints one line.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { WalletSummaryAnswer } from "../../src/api/Wallets.ts"
import { type Address, addressFromBytes, addressToBytes } from "../../src/domain/Address.ts"
import { toBase58 } from "../../src/domain/base58.ts"
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
import { WatchedWallets } from "../../src/market/tape/WatchedWallets.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import * as Database from "../../src/storage/Database.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import * as IdentityStorePg from "../../src/wallets/IdentityStorePg.ts"
import { TOKEN_PROGRAMS, TokenAccounts } from "../../src/chain/rpc/TokenAccounts.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import { LedgerReader } from "../../src/wallets/LedgerReader.ts"
import { WalletIndex } from "../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { call, keyOf, running } from "../../test/support/http.ts"
import { makeBooks, poolBook, priceBook, tokenBook } from "../../test/support/reads.ts"
import { percentile, report } from "./report.ts"
import { countArgument, flagNumber, flagText } from "../options.ts"
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
const PAGES = 40
const MOST_PAGE_MS = 50
const ROUNDS = flagNumber("rounds", 3, { whole: true })
/** Only the pages whose name it matches. */
const ONLY = flagText(process.argv, "pages")
/** The newest trades that are also in memory. */
const IN_MEMORY = 200_000
/** Attempts at one batch. */
const MOST_TRIES = 10
/** Batches that a key may start per minute. */
const STARTS = 60
/** Pages that one key reads before the next key does: some cost five of its 120 units a minute. */
const PAGES_OF_KEY = 20
/** Blocks that are stored at once while the store is filled. */
const FILLED_AT_ONCE = 100
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/** Addresses differ in their first bytes, by which the store finds a wallet, as real ones do. */
const addressOf = (family: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(5)
  bytes[0] = family
  new DataView(bytes.buffer).setUint32(1, n)
  return addressFromBytes(bytes)
}

/** A signature as random as a real one. */
const signatureOf = (family: number, n: number): Signature => {
  const bytes = new Uint8Array(64)
  const view = new DataView(bytes.buffer)
  for (let at = 0, word = n * 256 + family; at < 64; at += 4) {
    word = Math.imul(word ^ (word >>> 15), 0x2c1b3c6d) + 0x297a2d39
    view.setUint32(at, word ^ (word >>> 12))
  }
  view.setUint32(4, n)
  bytes[8] = family
  // Validated by construction: base58 of 64 bytes.
  return toBase58(bytes) as Signature
}

const tradeOf = (n: number, slot: number, index: number): TapeTrade => ({
  role: "both",
  signature: signatureOf(5, n),
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

/** Wallets far beyond the mean: a bot that trades in every block, and an exchange that receives and sends in every block. */
const [BOT, EXCHANGE] = [addressOf(7, 1), addressOf(7, 2)]
const BOT_EACH = 2
const EXCHANGE_EACH = 5
/** Tokens of the exchange. It trades each of them once, in the first blocks. */
const EXCHANGE_MINTS = 20

const botTrades = (slot: number): ReadonlyArray<TapeTrade> =>
  Array.from({ length: BOT_EACH }, (_, part) => {
    const index = BLOCK_TRADES + part
    return {
      ...tradeOf(slot * BOT_EACH + part, slot, index),
      signature: signatureOf(7, slot * BOT_EACH + part),
      wallet: BOT
    }
  })

const exchangeTrades = (slot: number): ReadonlyArray<TapeTrade> =>
  slot >= EXCHANGE_MINTS
    ? []
    : [
        {
          ...tradeOf(0, slot, BLOCK_TRADES + BOT_EACH),
          signature: signatureOf(8, slot),
          wallet: EXCHANGE,
          side: "buy",
          mint: addressOf(1, slot)
        }
      ]

const exchangeTransfers = (slot: number): ReadonlyArray<TapeTrade> =>
  Array.from({ length: EXCHANGE_EACH }, (_, part): TapeTrade => {
    const n = slot * EXCHANGE_EACH + part
    const index = BLOCK_TRADES + BOT_EACH + 1 + part
    return {
      ...tradeOf(n, slot, index),
      role: "transfer",
      signature: signatureOf(9, n),
      wallet: EXCHANGE,
      mint: addressOf(1, n % EXCHANGE_MINTS),
      lamports: null,
      priceUsd: null,
      volumeUsdNanos: null,
      pool: null,
      dex: null,
      counterparty: addressOf(2, n % WALLETS)
    }
  })

const blockOf = (slot: number) => {
  const mean = Array.from({ length: BLOCK_TRADES }, (_, index) => tradeOf(slot * BLOCK_TRADES + index, slot, index))
  const trades = [...mean, ...botTrades(slot), ...exchangeTrades(slot)]
  // A wallet is opened in the block of its first trade.
  const openings = mean.flatMap(({ wallet }, index): ReadonlyArray<WalletOpening> => {
    const n = slot * BLOCK_TRADES + index
    return n < WALLETS
      ? [{ signature: signatureOf(6, n), index, wallet, funder: addressOf(4, n % FUNDERS), lamports: 5_000_000n }]
      : []
  })
  const transfers = exchangeTransfers(slot)
  return {
    slot,
    timeMs: startMs + slot * BLOCK_MS,
    trades,
    transfers,
    openings,
    transactions: [],
    launches: [],
    afterGap: false
  }
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

/** What a kept folder was filled with. */
const Filled = Schema.Struct({ trades: Schema.Int, startMs: Schema.Int })

const kept = flagText(process.argv, "data")
const folder = kept === undefined ? mkdtempSync(join(tmpdir(), "fathom-bench-")) : resolve(kept)
const note = join(folder, "wallets-bench.json")
const filled =
  kept !== undefined && existsSync(note)
    ? Schema.decodeSync(Schema.fromJsonString(Filled))(readFileSync(note, "utf8"))
    : null
if (filled !== null && filled.trades !== TRADES) {
  process.stderr.write(
    `${folder} holds ${filled.trades} trades, not ${TRADES}: name another folder, or --trades ${filled.trades}\n`
  )
  process.exit(2)
}
const startMs = filled?.startMs ?? Date.now() - BLOCKS * BLOCK_MS

const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder, TRADES_KEPT: "30 days" }))

const stores = Layer.mergeAll(MarketStoresPg.layer, IdentityStorePg.layer).pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide([NodeFileSystem.layer, settings])
)

/** A node that answers at once: every wallet holds twenty tokens. */
const tokenAccounts = Layer.succeed(TokenAccounts, {
  ofOwner: ({ owner, program }) =>
    Effect.succeed({
      slot: BLOCKS,
      accounts:
        program === TOKEN_PROGRAMS[0]
          ? Array.from({ length: 20 }, (_, n) => {
              const account = new Uint8Array(72)
              account.set(addressToBytes(addressOf(1, n)))
              account.set(addressToBytes(owner), 32)
              account[64] = n + 1
              return account
            })
          : []
    }),
  lamportsOf: () => Effect.succeed({ slot: BLOCKS, lamports: 1_000_000_000n })
})

/** An exchange is watched, so that each of its transfers counts. */
const watched = Layer.succeed(WatchedWallets, { has: (wallet) => wallet === EXCHANGE })

const reader = WalletReader.layer.pipe(
  Layer.provide([
    WalletIndex.layerStored.pipe(Layer.provide(watched)),
    watched,
    LedgerReader.layerNone,
    WalletAccounts.layerNamed,
    tokenAccounts,
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

/** Settings of the database while it is filled. They change how it writes, not what is stored. */
const FILLING = {
  autovacuum: "off",
  checkpoint_timeout: "'1h'",
  full_page_writes: "off",
  max_wal_size: "'8GB'",
  synchronous_commit: "off"
}

/** Stores every block. Returns the seconds that it took. */
const store = Effect.gen(function* () {
  const { blocks } = yield* marketStores
  const sql = yield* SqlClient.SqlClient
  const startedAt = performance.now()
  const configure = (text: (name: string, value: string) => string) =>
    Effect.forEach(Object.entries(FILLING), ([name, value]) => sql.unsafe(text(name, value)), { discard: true }).pipe(
      Effect.andThen(sql`select pg_reload_conf()`)
    )
  yield* configure((name, value) => `alter system set ${name} = ${value}`)
  for (let slot = 0; slot < BLOCKS; slot += FILLED_AT_ONCE) {
    yield* blocks.append(Array.from({ length: Math.min(FILLED_AT_ONCE, BLOCKS - slot) }, (_, n) => blockOf(slot + n)))
    if (slot % (100 * FILLED_AT_ONCE) === 0) {
      const seconds = Math.round((performance.now() - startedAt) / 1000)
      process.stderr.write(`${slot} of ${BLOCKS} blocks are stored after ${seconds} s\n`)
    }
  }
  yield* configure((name) => `alter system reset ${name}`)
  // Over many trades these take longer than a statement of the service may.
  yield* Effect.scoped(
    Effect.flatMap(sql.reserve, (connection) =>
      Effect.forEach(
        ["set statement_timeout = 0", "vacuum (analyze)", "checkpoint", "reset statement_timeout"],
        (statement) => connection.executeUnprepared(statement, [], undefined),
        { discard: true }
      )
    )
  )
  return (performance.now() - startedAt) / 1000
})

/** Fills the store, unless its folder was filled before, and memory with the newest trades. Returns the seconds of filling the store; null for none. */
const fill = Effect.gen(function* () {
  const stored = yield* marketStores
  const tape = yield* Tape
  yield* stored.blocks.open({ genesis: "bench", isSandbox: false })
  const seconds = filled === null ? yield* store : null
  if (kept !== undefined && filled === null) {
    writeFileSync(note, JSON.stringify({ trades: TRADES, startMs }))
  }
  for (let slot = Math.max(0, BLOCKS - IN_MEMORY / BLOCK_TRADES); slot < BLOCKS; slot++) {
    yield* tape.apply(blockOf(slot))
  }
  tape.keep(stored)
  yield* (yield* IdentityStore).replace("bench", identities)
  yield* tape.apply({ ...blockOf(BLOCKS), trades: [], transfers: [], openings: [] })
  return seconds
})

const round = (ms: number | null) => Number((ms ?? 0).toFixed(1))
const figuresOf = (samples: ReadonlyArray<number>) => ({
  p50: round(percentile(samples, 0.5)),
  p95: round(percentile(samples, 0.95)),
  max: round(percentile(samples, 1))
})

/** The process id of the embedded database. */
const serverOf = () => Number(readFileSync(join(folder, "postgres", "data", "postmaster.pid"), "utf8").split("\n")[0])

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

/** The nanoseconds that a thread has run and has waited to run. Zero once it has ended. */
const schedule = (pid: number): { readonly ran: number; readonly waited: number } => {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number)
    return { ran, waited }
  } catch {
    return { ran: 0, waited: 0 }
  }
}

/** Of this process and of each connection. */
const schedulesOf = (connections: ReadonlyArray<number>) => [schedule(process.pid), ...connections.map(schedule)]

/** The process ids of the database's connections. Its background processes are left out. */
const connectionsOf = (database: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${database}/task/${database}/children`, "utf8")
    .trim()
    .split(" ")
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("[local]"))

/** What one page cost, in milliseconds. */
interface PageCost {
  readonly ms: number
  readonly service: number
  readonly database: number
  /** How long the service and the connections stood ready without a processor. Other work of the machine makes it longer. */
  readonly waited: number
}

const costed = <A, E, R>(connections: ReadonlyArray<number>, effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const before = schedulesOf(connections)
    return Effect.map(timed(effect), ({ cpuMs, ms, value }) => {
      const grown = schedulesOf(connections).map(({ ran, waited }, at) => ({
        ran: (ran - (before[at]?.ran ?? 0)) / 1e6,
        waited: (waited - (before[at]?.waited ?? 0)) / 1e6
      }))
      const database = grown.slice(1).reduce((sum, { ran }) => sum + ran, 0)
      const waited = grown.reduce((sum, each) => sum + each.waited, 0)
      return { value, cost: { ms, service: cpuMs, database, waited } satisfies PageCost }
    })
  })

interface PageFigures extends ReturnType<typeof figuresOf> {
  /** Of the service, this client included, and of the database. */
  readonly processorMs: ReturnType<typeof figuresOf>
  readonly databaseMs: ReturnType<typeof figuresOf>
  readonly waitedMs: ReturnType<typeof figuresOf>
}

/** A kind of page. */
interface Page {
  readonly name: string
  /** The path of its n-th read. */
  readonly path: (n: number) => string
  /** True to read the page after this one, by its cursor. */
  readonly isNext?: boolean
}

/** The middle of the stored time, and an hour there. */
const middle = Math.floor((startMs + (BLOCKS * BLOCK_MS) / 2) / 1000)
/** A second among the newest 10,000 rows of every wallet. */
const recent = Math.floor((startMs + (BLOCKS - 1000) * BLOCK_MS) / 1000)

/** The pages of one wallet after another, or always of the same. */
const pagesOf = (group: string, walletAt: (n: number) => Address): ReadonlyArray<Page> =>
  (
    [
      ["trades", "trades?limit=200"],
      ["transfers", "transfers?limit=200"],
      ["positions", "positions?limit=100"],
      ["performance", "performance"],
      ["days", "pnl/history?days=30"],
      ["average", "lots?method=average&limit=200"],
      ["fifo", "lots?method=fifo&limit=200"],
      ["lifo", "lots?method=lifo&limit=200"],
      ["hifo", "lots?method=hifo&limit=200"],
      ["balances", "balances?limit=100"],
      ["balancesAt", `balances?at=${recent}`],
      ["fundedBy", "funded-by"],
      ["related", "related?limit=50"],
      ["launches", "launches"]
    ] as const
  ).map(([name, path]) => ({ name: group + name, path: (n) => `${walletAt(n)}/${path}` }))

/** The pages of a large wallet that are not its first, and filtered ones. */
const largePagesOf = (group: string, wallet: Address, kind: "trades" | "transfers"): ReadonlyArray<Page> =>
  (
    [
      ["next", "", true],
      ["middle", `to=${middle}`, true],
      ["recent", `to=${recent}`, true],
      ["mint", `mint=${addressOf(1, 7)}`, false],
      ["side", kind === "trades" ? "side=sell" : "direction=out", false],
      ["hour", `from=${middle}&to=${middle + 3600}`, false]
    ] as const
  ).map(([name, filter, isNext]) => ({
    name: `${group}${kind}.${name}`,
    path: () => `${wallet}/${kind}?limit=200&${filter}`,
    isNext
  }))

const pages: ReadonlyArray<Page> = [
  ...pagesOf("", (n) => addressOf(2, (n * 37) % WALLETS)),
  { name: "leaders", path: () => "leaders?minKnownPct=0&limit=50" },
  ...pagesOf("bot.", () => BOT),
  ...largePagesOf("bot.", BOT, "trades"),
  ...pagesOf("exchange.", () => EXCHANGE),
  ...largePagesOf("exchange.", EXCHANGE, "transfers")
].filter(({ name }) => ONLY === undefined || new RegExp(ONLY, "u").test(name))

const decodePage = Schema.decodeEffect(
  Schema.fromJsonString(
    Schema.Struct({
      nextCursor: Schema.optional(Schema.NullOr(Schema.String)),
      data: Schema.Unknown,
      meta: Schema.optional(Schema.Unknown)
    })
  )
)

/**
 * Reads each kind of page in rounds. The round with the least p95 was disturbed least by other work of the machine, and
 * counts.
 */
const readPages = Effect.fnUntraced(function* (started: number, database: number) {
  const rounds = new Map<string, ReadonlyArray<ReadonlyArray<PageCost>>>()
  let count = started
  const read = Effect.fnUntraced(function* (name: string, path: string) {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const key = LETTERS[Math.floor(count++ / PAGES_OF_KEY) % LETTERS.length] ?? "a"
      const found = yield* costed(connectionsOf(database), call(`/api/v1/wallets/${path}`, { key }))
      if (found.value.status === 200) {
        return found
      }
      if (found.value.status !== 429) {
        return yield* Effect.die(new Error(`${name}: ${found.value.status} ${found.value.text}`))
      }
      // Every key has used its minute up.
      yield* Effect.sleep("10 seconds")
    }
    return yield* Effect.die(new Error(`${name}: no key is free`))
  })
  for (let round = 0; round < ROUNDS; round++) {
    for (const { isNext = false, name, path } of pages) {
      const costs: Array<PageCost> = []
      for (let n = 0; n < PAGES; n++) {
        const first = path(n)
        const cursor = isNext
          ? (yield* Effect.orDie(decodePage((yield* read(name, first)).value.text))).nextCursor
          : undefined
        const page = typeof cursor === "string" ? `${first}&cursor=${encodeURIComponent(cursor)}` : first
        const { cost } = yield* read(name, page)
        costs.push(cost)
      }
      rounds.set(name, [...(rounds.get(name) ?? []), costs])
    }
  }
  const figures = (costs: ReadonlyArray<PageCost>): PageFigures => {
    const of = (cost: (page: PageCost) => number) => figuresOf(costs.map(cost))
    return {
      ...of(({ ms }) => ms),
      processorMs: of(({ database, service }) => database + service),
      databaseMs: of((page) => page.database),
      waitedMs: of(({ waited }) => waited)
    }
  }
  return Object.fromEntries(
    Array.from(rounds).flatMap(([name, each]) => {
      const [least] = each.map(figures).toSorted((a, b) => a.p95 - b.p95)
      return least === undefined ? [] : [[name, least] as const]
    })
  )
})

const SizeRow = Schema.Struct({ bytes: Schema.Number })

const benchOf = Effect.fnUntraced(function* (fillSeconds: number | null) {
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
  const pageMs = yield* readPages(Math.ceil(asks.started / STARTS) * PAGES_OF_KEY, serverOf())
  const databaseBytes = SqlSchema.findOne({
    Request: Schema.Void,
    Result: SizeRow,
    execute: () => sql`select pg_database_size(current_database())::float8 as bytes`
  })
  const within = (figure: (page: PageFigures) => number) =>
    Object.values(pageMs).every((page) => figure(page) <= MOST_PAGE_MS)
  report("wallets", {
    batches: BATCHES,
    wallets: ASKED,
    events,
    tradesHeld: BLOCKS * BLOCK_TRADES,
    botTrades: BLOCKS * BOT_EACH,
    exchangeTransfers: BLOCKS * EXCHANGE_EACH,
    fillSeconds: fillSeconds === null ? null : round(fillSeconds),
    databaseBytes: (yield* databaseBytes(undefined)).bytes,
    answerBytes: bytes,
    incomplete: asks.incomplete,
    processorMs: figuresOf(used),
    batchMs: figuresOf(spent),
    pointReadMs: figuresOf(plain),
    pointReadsPerBatch: round((percentile(spent, 0.5) ?? 0) / (percentile(plain, 0.5) ?? 1)),
    mostPageMs: MOST_PAGE_MS,
    pageRule: `p95 in the least disturbed of ${ROUNDS} rounds of ${PAGES}`,
    pageMs,
    holdsPages: within(({ p95 }) => p95),
    holdsPagesByProcessor: within(({ processorMs }) => processorMs.p95),
    holds: (percentile(used, 0.95) ?? Infinity) <= 400 && (percentile(used, 1) ?? Infinity) < 2000
  })
})

const program = Effect.gen(function* () {
  const seconds = yield* fill
  yield* Effect.provide(benchOf(seconds), serving(yield* WalletReader, yield* Market))
})

await Effect.runPromise(program.pipe(Effect.provide(reader.pipe(Layer.provideMerge(stores))), Effect.scoped)).finally(
  () => kept === undefined && rmSync(folder, { recursive: true, force: true })
)
