/**
 * A long run of a service beside a simulated chain, under quotes, streams, sockets and writes, with restarts of its node and of
 * its database: `npm run soak -- --minutes 60 --json [--row 60] [--node-every 4] [--database-every 10] [--history 72]`.
 *
 * `--row` is the length of a row in seconds; the node and the database are restarted every so many rows; `--history` is the
 * past of the chain in hours; days older than `TRADES_KEPT` are dropped. Rows go to standard error as they are
 * made. Exits with 1 unless every verdict holds; verdicts on trends are null in a run of fewer than eight rows.
 */
import { Clock, Effect, Fiber, Logger, Redacted, Schedule } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { COMMAND_LINE } from "../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../src/access/KeyStore.ts"
import { DEFAULT_PLAN } from "../src/api/schemas/Plan.ts"
import * as Processes from "../src/storage/processes.ts"
import { percentile, report } from "./bench/report.ts"
import { ask, at, sourceState } from "./chaos/repair/answers.ts"
import { startChain } from "./chaos/repair/startChain.ts"
import { embedded, issue, keyStore, ready, readyPid, service } from "./chaos/service.ts"
import { makeProbe, quoteOn, quoteQuery, type QuoteRecord, takeSamples } from "./soak/quotes.ts"
import { type Caller, noCounts, noQuoteCounts, readMarket, readQuotes, readTracker } from "./soak/sockets.ts"
import { compareChain, lostWrites, partitionsOf, storedOrStill, storedProgress } from "./soak/stored.ts"
import { descriptorsFlat, heapFlat, noneLost, p99Steady, type QuoteSamples, type SoakRow } from "./soak/verdicts.ts"
import { nothingWritten, type WriteAnswers, writeOn } from "./soak/writes.ts"
import { numberOption } from "./options.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    minutes: { type: "string", default: "60" },
    row: { type: "string", default: "60" },
    "node-every": { type: "string", default: "4" },
    "database-every": { type: "string", default: "10" },
    history: { type: "string", default: "72" }
  }
})
const rowSeconds = numberOption("--row", values.row)
const minutes = numberOption("--minutes", values.minutes)
const history = numberOption("--history", values.history, { least: 0 })
const rowCount = Math.max(1, Math.round((minutes * 60) / rowSeconds))
const [nodeEvery, databaseEvery] = [
  numberOption("--node-every", values["node-every"], { whole: true }),
  numberOption("--database-every", values["database-every"], { whole: true })
]
/** Swaps a second as in the simulated past, so that windows lose as many trades as they get. */
const SWAPS_PER_SECOND = 0.5
const WRITERS = 4
const READERS = 3
const WATCHED = 60
/** Most age of the newest block of a chain that has lived through its past. */
const LIVE_MS = 3000
/** Time that the node is away at a restart. */
const NODE_AWAY = "4 seconds"
/** Looks after the load, half a second apart, at which nothing more is stored before it counts as missing. */
const STILL_LOOKS = 120

const progress = (text: string) => process.stderr.write(`${text}\n`)

const settings = {
  HISTORY: `${history + 1} hours`,
  TRADES_KEPT: "2 days",
  REPAIR_RATE: "200",
  ADMIN_PORT: "0",
  LOG_FORMAT: "json",
  SOLANA_BLOCK_CONCURRENCY: "4",
  // The accounts of 20,000 wallets are kept. The writers' wallets fill that within the first half of an hour.
  WALLET_ACCOUNTS_RATE: "20"
}

const PLAN = {
  ...DEFAULT_PLAN,
  name: "soak",
  rest: 100_000_000,
  quote: 100_000_000,
  streams: 100,
  sockets: 100,
  trackedWallets: 10_000,
  alerts: 10_000
}

/** Sums of the metrics of these names in a scrape. */
const metric = (scrape: string, name: string): number =>
  scrape
    .split("\n")
    .filter((line) => line.startsWith(name))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)

/** A percentile in milliseconds, to a microsecond. */
const msOf = (samples: ReadonlyArray<number>, p: number): number | null => {
  const value = percentile(samples, p)
  return value === null ? null : Math.round(value * 1000) / 1000
}

const round = (value: number): number => Math.round(value * 10) / 10

const metricsUrl = (output: ReadonlyArray<string>): string =>
  output.map((line) => /"url":"([^"]+\/metrics)"/u.exec(line)?.[1]).find((url) => url !== undefined) ?? ""

const callers = (baseUrl: string) =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    yield* keys.setPlan(PLAN, COMMAND_LINE)
    return yield* Effect.forEach(
      Array.from({ length: WRITERS + 1 }, (_, n) => `soak_${n}`),
      (accountId) =>
        Effect.map(issue(accountId, PLAN.name), ({ secret }): Caller => ({ baseUrl, secret: Redacted.value(secret) }))
    )
  })

const run = Effect.fnUntraced(function* (folder: string) {
  const database = embedded(folder)
  const chain = yield* startChain({ seed: "soak", swapsPerSecond: SWAPS_PER_SECOND, history })
  yield* Effect.zipWith(chain.newestMs, Clock.currentTimeMillis, (atMs, nowMs) => atMs > nowMs - LIVE_MS).pipe(
    Effect.repeat({ until: (isLive) => isLive, schedule: Schedule.spaced("1 second") })
  )
  progress("the chain is live")
  const flags = ["--expose-gc", "--memory-saver-mode", "--import", new URL("soak/probe.ts", import.meta.url).href]
  const running = yield* service(
    folder,
    { ...database.settings, ...settings, SOLANA_RPC_URL: chain.ailingUrl },
    { flags }
  )
  const { baseUrl, child } = running
  const [reader = { baseUrl, secret: "" }, ...writers] = yield* callers(baseUrl).pipe(
    Effect.provide(keyStore(database.url)),
    Effect.orDie
  )
  const source = (name: string) => Effect.promise(() => sourceState(reader, name))
  const isRead = Effect.zipWith(
    source("backfill"),
    source("blocks"),
    (backfill, blocks) => at(backfill, "status") === "known" && at(blocks, "gapsOpen") === 0
  )
  yield* isRead.pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("500 millis") }),
    Effect.timeout("10 minutes"),
    Effect.orDie
  )
  progress("the history is read")

  const mints = yield* chain.command({})
  const quoted = mints.filter((mint) => running.mints.includes(mint) && !mint.startsWith("So1111"))
  for (const wallet of chain.wallets.slice(0, WATCHED)) {
    yield* Effect.promise(() => ask(reader, { path: "/api/v1/tracker/wallets", body: { wallet } }))
  }
  const probe = makeProbe(child)
  const stopping = { isStopping: false }
  const quotes: QuoteRecord = { statuses: {}, samples: { wallMs: [], processorMs: [] } }
  const writes: WriteAnswers = { statuses: {}, unexpected: [] }
  const written = { wallets: nothingWritten(), alerts: nothingWritten() }
  const counts = { tracker: noCounts(), market: noCounts(), quotes: noQuoteCounts() }
  const [mint = ""] = quoted
  const channels = [
    { channel: "trades", minUsd: 0 },
    { channel: "price", mint },
    { channel: "candles", mint, resolution: "1m", denom: "usd" },
    { channel: "freshness" }
  ]
  const fromSlot = yield* chain.newest
  const loops = [
    quoteOn(reader, quoted, probe, quotes, stopping),
    ...writers.map((writer) => writeOn(writer, mint, written, writes, stopping)),
    ...Array.from({ length: READERS }).flatMap((_, n) => [
      readTracker(reader, counts.tracker, stopping),
      readMarket(reader, channels, counts.market, stopping),
      readQuotes(reader, quoteQuery(quoted, n), counts.quotes, stopping)
    ])
  ]

  const restarts = { database: 0, node: 0 }
  const restartNode = Effect.gen(function* () {
    yield* chain.command({ ailing: { http: "503", sockets: "refused" }, dropSockets: true })
    yield* Effect.sleep(NODE_AWAY)
    yield* chain.command({ ailing: { http: "ok", sockets: "ok" } })
    restarts.node++
  })
  const restartDatabase = Effect.gen(function* () {
    const pid = readyPid(database.data)
    if (pid !== null) {
      Processes.signal(pid, restarts.database % 2 === 0 ? "SIGQUIT" : "SIGKILL")
      yield* ready(database.data, pid)
      restarts.database++
    }
  })

  const startedMs = yield* Clock.currentTimeMillis
  const rows: Array<SoakRow> = []
  const samples: Array<QuoteSamples> = []
  let days: ReadonlySet<string> = new Set()
  const scraped = metricsUrl(running.output())
  for (let n = 1; n <= rowCount; n++) {
    const last = rows.length > 0
    const faults = yield* Effect.forkChild(
      Effect.gen(function* () {
        yield* Effect.sleep("2 seconds")
        yield* last && n % nodeEvery === 0 ? restartNode : Effect.void
        yield* last && n % databaseEvery === 0 ? restartDatabase : Effect.void
      })
    )
    const nowMs = yield* Clock.currentTimeMillis
    yield* Effect.sleep(Math.max(0, startedMs + n * rowSeconds * 1000 - nowMs))
    yield* Fiber.join(faults)
    const memory = yield* Effect.promise(probe.memory)
    const scrape = yield* Effect.promise(async () => (await fetch(scraped)).text())
    const taken = takeSamples(quotes)
    const partitions = yield* partitionsOf(database.url)
    samples.push(taken)
    rows.push({
      minute: round(((yield* Clock.currentTimeMillis) - startedMs) / 60_000),
      descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
      heapMb: round(memory?.heapMb ?? Number.NaN),
      workersMb: round(memory?.workersMb ?? Number.NaN),
      externalMb: round(memory?.externalMb ?? Number.NaN),
      residentMb: round(memory?.residentMb ?? Number.NaN),
      quotes: taken.wallMs.length,
      wallP50Ms: msOf(taken.wallMs, 0.5),
      wallP99Ms: msOf(taken.wallMs, 0.99),
      processorP50Ms: msOf(taken.processorMs, 0.5),
      processorP99Ms: msOf(taken.processorMs, 0.99),
      loopP99Ms: round(memory?.loopP99Ms ?? Number.NaN),
      loopMaxMs: round(memory?.loopMaxMs ?? Number.NaN),
      partitions: partitions.size,
      partitionsMade: days.size === 0 ? 0 : partitions.difference(days).size,
      partitionsDropped: days.difference(partitions).size,
      gapsOpen: metric(scrape, "fathom_source_gaps_open"),
      losses: metric(scrape, "fathom_chain_malformed_total") + metric(scrape, "fathom_pool_decode_faults_total"),
      databaseRestarts: restarts.database,
      nodeRestarts: restarts.node
    })
    days = partitions
    progress(JSON.stringify(rows.at(-1)))
  }

  stopping.isStopping = true
  yield* Effect.promise(() => Promise.all(loops))
  const toSlot = yield* chain.newest
  const stored = yield* storedProgress(database.url).pipe(
    Effect.repeat({ until: storedOrStill(toSlot, STILL_LOOKS), schedule: Schedule.spaced("500 millis") })
  )
  const trades = yield* compareChain(database.url, chain.rpcUrl, { from: fromSlot, to: toSlot })
  const wallets = yield* lostWrites(database.url, "tracked_wallets where wallet", written.wallets)
  const alerts = yield* lostWrites(database.url, "alerts where removed_at is null and id", written.alerts)
  const silent = counts.tracker.silentGaps + counts.market.silentGaps + counts.quotes.silentGaps
  const verdicts = {
    descriptorsFlat: descriptorsFlat(rows),
    heapFlat: heapFlat(rows),
    p99ProcessorSteady: p99Steady(samples.map(({ processorMs }) => processorMs)),
    noTradeLost: noneLost(trades.transactions === 0 ? null : trades.missing + trades.unknown + trades.twice),
    noBlockMissing: noneLost(stored.gaps + Math.max(0, toSlot - stored.slot)),
    noWriteLost: noneLost((wallets.missing ?? Number.NaN) + (alerts.missing ?? Number.NaN)),
    noRemovalLost: noneLost((wallets.notRemoved ?? Number.NaN) + (alerts.notRemoved ?? Number.NaN)),
    noSilentGap: noneLost(silent),
    noReaderIdle: noneLost(Object.values(counts).filter(({ frames }) => frames === 0).length),
    noLossCounted: noneLost(rows.at(-1)?.losses ?? null),
    noFault: noneLost(writes.unexpected.length + (quotes.statuses["500"] ?? 0))
  }
  const lines = running.output()
  return {
    isGood: Object.values(verdicts).every(({ holds }) => holds !== false),
    verdicts,
    // The machine may have other work: a figure beside the verdict on processor time, and no verdict of its own.
    p99WallDrift: p99Steady(samples.map(({ wallMs }) => wallMs)).figure,
    restarts,
    partitions: Array.from(days).toSorted(),
    trades,
    writes: {
      ...writes,
      wallets: written.wallets.acknowledged,
      alerts: written.alerts.acknowledged,
      lost: { wallets, alerts }
    },
    quotes: quotes.statuses,
    frames: counts,
    logLines: lines.length,
    stacks: lines.filter((line) => line.includes('"stack"')).length,
    rows
  }
})

const folder = mkdtempSync(join(tmpdir(), "fathom-soak-"))
const fiber = Effect.runFork(Effect.scoped(run(folder)).pipe(Effect.provide(Logger.layer([]))))
// The processes that it started end with it.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => fiber.interruptUnsafe())
}
const result = await Effect.runPromise(Fiber.join(fiber))
report("soak", result)
if (result.isGood) {
  rmSync(folder, { recursive: true, force: true })
} else {
  progress(`Logs of the failed run are in ${folder}`)
}
process.exit(result.isGood ? 0 : 1)
