/**
 * The cost of what a service of several processes answers, on Linux: `npm run bench:cluster -- --json [--seconds 8] [--rate 60]
 * [--keys 60] [--streams 60] [--sockets 60] [--swaps 20]`. One process of `ingest` and one of `keeper`, and in turn 1 and 2 of `api` and
 * 1 and 2 of `live`, behind the balancer, beside a simulated chain, PostgreSQL over TCP, and `valkey-server` or `redis-server`.
 *
 * Figures are processor time of each process for an answer or a frame, less what the same process uses without callers
 * (`quiet`), so that they do not depend on the number of cores. Each part runs for `--seconds`, with `--rate` requests a second.
 * Callers and balancer are in the process of the benchmark, which is not counted. It exits with 1 where an answer was not 200 or a reader was lost, and ends every process that it started.
 */
import { Effect, Fiber, Logger, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { SOL } from "../../src/domain/Address.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { startChain } from "../chaos/repair/startChain.ts"
import { issue, keyStore, query, readyPid } from "../chaos/service.ts"
import { balance } from "../cluster/balancer.ts"
import { startParts } from "../cluster/parts.ts"
import { type Access, answered, type Call, callAtRate, openSockets, openStreams, type Readers } from "./cluster/load.ts"
import { assumed, capacityOf } from "./cluster/capacity.ts"
import { childrenOf, type Cores, coresOf, costOf, type Part, useOf } from "./cluster/processes.ts"
import { report } from "./report.ts"
import { numberOption } from "../options.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    seconds: { type: "string", default: "8" },
    rate: { type: "string", default: "60" },
    keys: { type: "string", default: "60" },
    streams: { type: "string", default: "60" },
    sockets: { type: "string", default: "60" },
    swaps: { type: "string", default: "20" }
  }
})
const amount = (name: Exclude<keyof typeof values, "json">): number => numberOption(`--${name}`, values[name])
const settings = {
  seconds: amount("seconds"),
  rate: amount("rate"),
  keys: amount("keys"),
  streams: amount("streams"),
  sockets: amount("sockets"),
  swaps: amount("swaps")
}
const { seconds } = settings

const ROLES = ["ingest", "api", "api", "live", "live", "keeper"] as const
/** Requests of a kind to each process before the first measured one: code is compiled by then. */
const WARM_CALLS = 100
/** Time for the drain of a process before it is killed. */
const STOP_LIMIT = "30 seconds"
const WHOLE_LIMIT = "20 minutes"
/** Longest stream that a request can ask for. */
const STREAM_SECONDS = 240

/** Keys with room for the load: limits are measured elsewhere. */
const newKeys = Effect.fnUntraced(function* (databaseUrl: string) {
  const plan = { ...DEFAULT_PLAN, name: "bench", rest: 1_000_000, quote: 1_000_000, streams: 1000, sockets: 1000 }
  const keys = yield* KeyStore.use((store) =>
    Effect.andThen(
      store.setPlan(plan, COMMAND_LINE),
      // An account has at most ten keys.
      Effect.forEach(Array.from({ length: settings.keys }), (_, n) => issue(`bench-${n}`, "bench"))
    )
  ).pipe(Effect.provide(keyStore(databaseUrl)), Effect.orDie)
  return keys.map(({ secret }) => Redacted.value(secret))
})

const quote = (mint: string, lamports: number): Call => ({
  path: `/api/v1/spot/quote?inputMint=${SOL}&outputMint=${mint}&amount=${lamports}&slippageBps=50`
})

const callsOf = (mints: ReadonlyArray<string>, wallets: ReadonlyArray<string>) => {
  const quoted = mints.filter((mint) => mint !== SOL)
  return {
    quotes: quoted.flatMap((mint) => [1_000_000, 50_000_000].map((lamports) => quote(mint, lamports))),
    market: [
      { path: "/api/v1/market/lighthouse" },
      { path: "/api/v1/market/movement?window=5m&rank=volume&limit=50&minLiquidityUsd=0" },
      ...quoted.flatMap((mint) => [
        { path: `/api/v1/market/chart/${mint}?resolution=1m&denom=usd&limit=300` },
        { path: `/api/v1/tokens/solana/${mint}/top-traders?window=1h&limit=50` }
      ])
    ],
    wallets: wallets.flatMap((wallet) => [
      { path: `/api/v1/wallets/${wallet}/positions?limit=50` },
      { path: `/api/v1/wallets/${wallet}/pnl/history` }
    ])
  } satisfies Record<string, ReadonlyArray<Call>>
}

const streamPath = (mint: string) =>
  `/api/v1/spot/quote/stream?inputMint=${SOL}&outputMint=${mint}&amount=1000000&intervalMs=1000&durationSeconds=${STREAM_SECONDS}`

/** The cores that each part uses while the work goes on, the result of the work, and its time in seconds. */
const measured = Effect.fnUntraced(function* <A>(parts: ReadonlyArray<Part>, work: Effect.Effect<A>) {
  const before = parts.map(useOf)
  const begunMs = performance.now()
  const value = yield* work
  const tookSeconds = (performance.now() - begunMs) / 1000
  return { value, seconds: tookSeconds, cores: coresOf(before, parts.map(useOf), tookSeconds) }
})

/** Frames of readers for the measured time; they are closed in every case. */
const readFrames = Effect.fnUntraced(function* (parts: ReadonlyArray<Part>, open: () => Promise<Readers>) {
  const readers = yield* Effect.acquireRelease(Effect.promise(open), (each) => Effect.sync(each.close))
  // The ticks and snapshots of the start are another cost.
  yield* Effect.sleep("2 seconds")
  const before = readers.frames()
  const { cores, seconds: took } = yield* measured(parts, Effect.sleep(seconds * 1000))
  const frames = readers.frames() - before
  return { lost: readers.lost(), count: frames, seconds: took, cores }
}, Effect.scoped)

const start = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-bench-cluster-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const chain = yield* startChain({ history: 0, swapsPerSecond: settings.swaps })
  const mints = yield* chain.command({})
  const node = { SOLANA_RPC_URL: chain.rpcUrl, PRELOAD_MINTS: mints.join(), HISTORY: "0 seconds" }
  const { database, processes } = yield* startParts(folder, node, ROLES)
  yield* Effect.addFinalizer(() =>
    Effect.forEach(processes, ({ kill, stop }) => Effect.andThen(Effect.timeoutOption(stop, STOP_LIMIT), kill), {
      concurrency: "unbounded",
      discard: true
    })
  )
  const parts: ReadonlyArray<Part> = [
    ...processes.map(({ child, role }, n): Part => ({ name: `${role}-${n}`, role, pids: () => [child.pid ?? 0] })),
    {
      name: "postgresql",
      role: "postgresql",
      pids: () => {
        const pid = readyPid(database.data)
        return pid === null ? [] : [pid, ...childrenOf(pid).map((child) => child.pid)]
      }
    },
    {
      name: "valkey",
      role: "valkey",
      pids: () =>
        childrenOf(process.pid)
          .filter(({ name }) => /^(?:redis|valkey)-server/u.test(name))
          .map(({ pid }) => pid)
    }
  ]
  const urls = (role: string) => processes.filter((each) => each.role === role).map(({ baseUrl }) => baseUrl)
  const secrets = yield* newKeys(database.url)
  return { chain, database, mints, parts, secrets, api: urls("api"), live: urls("live") }
})

const run = Effect.gen(function* () {
  const { api, chain, database, live, mints, parts, secrets } = yield* start
  // The balancer reads these lists at each request.
  const targets = { api, live }
  const access: Access = { baseUrl: yield* balance(targets, 0), secrets }
  const every = callsOf(mints, chain.wallets)
  const kinds = yield* Effect.forEach(["quotes", "market", "wallets"] as const, (kind) =>
    Effect.map(
      Effect.promise(() => answered(access, every[kind])),
      (calls) => ({ kind, calls })
    )
  )
  const empty = kinds.find(({ calls }) => calls.length === 0)
  if (empty !== undefined) {
    return yield* Effect.die(new Error(`no request of the kind ${empty.kind} is answered`))
  }
  const quoted = (kinds[0]?.calls ?? []).flatMap(({ path }) => /outputMint=(\w+)/u.exec(path)?.[1] ?? [])
  const tokens = Array.from(new Set(quoted))
  const warmSeconds = (WARM_CALLS * api.length) / settings.rate
  yield* Effect.forEach(kinds, ({ calls }) =>
    Effect.promise(() => callAtRate(access, calls, settings.rate, warmSeconds))
  )

  const stored = Effect.map(
    query<{ trades: number }>(database.url, "select count(*)::int as trades from trade_rows"),
    ([row]) => row?.trades ?? 0
  )
  const requests = []
  for (let serving = 1; serving <= api.length; serving++) {
    targets.api = api.slice(0, serving)
    for (const { calls, kind } of kinds) {
      const load = Effect.promise(() => callAtRate(access, calls, settings.rate, seconds))
      const { cores, seconds: took, value } = yield* measured(parts, load)
      requests.push({ serving, kind, ...value, seconds: took, cores })
    }
  }
  targets.api = api
  const frames = []
  for (let serving = 1; serving <= live.length; serving++) {
    targets.live = live.slice(0, serving)
    const paths = Array.from({ length: settings.streams }, (_, n) => streamPath(tokens[n % tokens.length] ?? ""))
    const streams = yield* readFrames(parts, () => openStreams(access, paths))
    frames.push({ serving, kind: "streams", readers: settings.streams, ...streams })
    const sockets = yield* readFrames(parts, () => openSockets(access, tokens, settings.sockets))
    frames.push({ serving, kind: "sockets", readers: settings.sockets, ...sockets })
  }
  // Runs last, so that neither the start nor compilation is in the figures, and the code is as warm as under load.
  const tradesBefore = yield* stored
  const still = yield* measured(parts, Effect.sleep(2 * seconds * 1000))
  const trades = (yield* stored) - tradesBefore
  const costed = <
    A extends { readonly count: number; readonly seconds: number; readonly serving: number; readonly cores: Cores }
  >(
    role: string,
    { cores, ...each }: A
  ) => ({ ...each, ...costOf({ role, ...each }, still.cores, cores) })
  const figures = {
    settings,
    quiet: {
      seconds: still.seconds,
      tradesPerSecond: Math.round((10 * trades) / still.seconds) / 10,
      processes: still.cores
    },
    api: requests.map((each) => costed("api", each)),
    live: frames.map((each) => costed("live", each))
  }
  return { ...figures, assumed, capacity: [1, 10, 100].map((times) => capacityOf(figures, times)) }
})

const fiber = Effect.runFork(Effect.scoped(run).pipe(Effect.timeout(WHOLE_LIMIT), Effect.provide(Logger.layer([]))))
// The processes that it started end with it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => fiber.interruptUnsafe())
}
process.on("uncaughtException", (cause) => {
  process.stderr.write(`${String(cause)}\n`)
  fiber.interruptUnsafe()
})
const result = await Effect.runPromise(Fiber.join(fiber))
report("cluster", result)
const isWhole =
  result.api.every(
    ({ statuses, unsent }) => unsent === 0 && Object.keys(statuses).every((status) => status === "200")
  ) && result.live.every(({ count, lost }) => lost === 0 && count > 0)
process.exit(isWhole ? 0 : 1)
