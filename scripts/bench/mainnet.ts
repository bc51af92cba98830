/**
 * A synthetic mainnet beside the service, on Linux: `npm run bench:mainnet -- --json [--minutes 10] [--warm 60] [--swaps 3000]
 * [--slots 150] [--coins 500] [--pools 3] [--tokens 60000] [--wallets 50000] [--known 500000] [--quotes 50]
 * [--decoders 1] [--nice 19] [--profile]`.
 *
 * The service runs in a process of its own with an embedded PostgreSQL, as beside a real node: blocks and writes of accounts
 * come over gRPC, and all else from an RPC node. In the warm-up every token is seen once; the minutes after it are measured.
 * `lag` is the time from the sending of a slot to its first trade on the trade stream of a reader, in slots of 400 ms and in
 * milliseconds, and at least the time waited for slots that are `missing` at the end; `behindSlots` counts the slots from the market's newest slot to the newest slot sent, at the end. `quotes` are answers over
 * HTTP, in milliseconds; `emptyServer` are the answers of a process that does nothing, asked a fifth as often in the same minutes:
 * no service on this machine is faster. `gaps` are slots that the service missed. `cores` is processor time a second, by thread and process, `slotMs` the processor time of a slot. `--profile` adds the shares of rooms and functions and the longest times without a pause of each thread, and costs some time of its own.
 * Exits with 1 where a target was `missed`: the lag at p99 1.5 slots, quotes at p99 5 ms, 2 GB, and 60 ms of the decoder a slot. Exits with 1,
 * with the reasons as `failures`, where the chain's process ended, fewer than 0.95 of the slots that the time allows
 * were sent, no trade was seen, the market was more than 10 slots behind at the end, more than 1 % of the quotes were not
 * answered 200, or a slot or a reader was lost.
 *
 * What is real: the Geyser interface (HTTP/2, frames, Protobuf), the programs' instructions, events and account layouts as
 * the simulator makes them, the whole service. What is synthetic: `--slots` slots are recorded once and sent again and again
 * by a process of low priority (`--nice`). From round to round slots, times and signatures differ, and from slot to slot the
 * addresses of the further `--coins`, their pools and the wallets, so that `--tokens` tokens and `--wallets` wallets trade; prices repeat with the
 * rounds. Account writes concern the recorded tokens, whose pools the service follows; each round begins with their first state.
 * Other pools are known to the store by name alone, up to `--known`. Most transactions are one swap, so that 3,000 swaps a
 * second are about 2,900 transactions, which is more than the 1,500 of an ordinary second. There are no votes: providers leave them out.
 */
import { Effect, Fiber, Logger, Redacted, Schedule } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { SOL } from "../../src/domain/Address.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { embedded, issue, keyStore, query, service } from "../chaos/service.ts"
import { numberOption } from "../options.ts"
import { answered, type Call, callAtRate } from "./cluster/load.ts"
import { freePort } from "./start/service.ts"
import { watchTrades } from "./mainnet/lag.ts"
import { measureUse } from "./mainnet/use.ts"
import { readProfiles } from "./mainnet/profile.ts"
import { startChain } from "./mainnet/startChain.ts"
import { startEmptyServer } from "./mainnet/startEmptyServer.ts"
import { boundsOf, failuresOf, lagOf, sentOf } from "./mainnet/figures.ts"
import { report } from "./report.ts"
import { START_FLAGS } from "./startFlags.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    profile: { type: "boolean", default: false },
    minutes: { type: "string", default: "10" },
    warm: { type: "string", default: "60" },
    swaps: { type: "string", default: "3000" },
    slots: { type: "string", default: "150" },
    coins: { type: "string", default: "500" },
    pools: { type: "string", default: "3" },
    tokens: { type: "string", default: "60000" },
    wallets: { type: "string", default: "50000" },
    known: { type: "string", default: "500000" },
    quotes: { type: "string", default: "50" },
    decoders: { type: "string", default: "1" },
    nice: { type: "string", default: "19" }
  }
})
const whole = { whole: true }
const settings = {
  minutes: numberOption("--minutes", values.minutes),
  warm: numberOption("--warm", values.warm),
  swaps: numberOption("--swaps", values.swaps),
  slots: numberOption("--slots", values.slots, whole),
  coins: numberOption("--coins", values.coins, whole),
  pools: numberOption("--pools", values.pools, { ...whole, most: 7 }),
  tokens: numberOption("--tokens", values.tokens, whole),
  wallets: numberOption("--wallets", values.wallets, whole),
  known: numberOption("--known", values.known, { ...whole, least: 0 }),
  quotes: numberOption("--quotes", values.quotes),
  nice: numberOption("--nice", values.nice, { ...whole, least: 0, most: 19 })
}

/** Wallets of retail traders that are recorded. */
const RETAIL = 120
const PROFILE_INTERVAL_US = 2_000
/** Steady tokens whose trades are read for the lag: one of them trades in nearly every slot. */
const WATCHED = 5
const QUOTED = 200
const LOAD_LIMIT = "5 minutes"
const WHOLE_LIMIT = "60 minutes"
/** The empty server gets one request for so many quotes. */
const QUOTES_FOR_EMPTY = 5

const profileFlags = (folder: string) => [
  "--cpu-prof",
  `--cpu-prof-dir=${folder}`,
  `--cpu-prof-interval=${PROFILE_INTERVAL_US}`
]

/** Names of pools that the store knows beside those that trade. */
const nameKnownPools = (url: string, count: number) =>
  query(
    url,
    `insert into trade_names (name)
     select rpad(translate(encode(sha256(n::text::bytea), 'hex'), '0', 'k'), 44, 'x') from generate_series(1, $1::int) as n
     on conflict do nothing`,
    [count]
  )

/** A key with room for the load. */
const newKey = (url: string) =>
  KeyStore.use((store) =>
    Effect.andThen(
      store.setPlan(
        { ...DEFAULT_PLAN, name: "bench", rest: 100_000_000, quote: 100_000_000, streams: 100 },
        COMMAND_LINE
      ),
      issue("bench", "bench")
    )
  ).pipe(
    Effect.provide(keyStore(url)),
    Effect.orDie,
    Effect.map(({ secret }) => Redacted.value(secret))
  )

const quote = (mint: string, lamports: number): Call => ({
  path: `/api/v1/spot/quote?inputMint=${SOL}&outputMint=${mint}&amount=${lamports}&slippageBps=50`
})

const start = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-bench-mainnet-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const variants = {
    tokens: Math.max(1, Math.ceil(settings.tokens / settings.coins)),
    wallets: Math.max(1, Math.ceil(settings.wallets / RETAIL))
  }
  const chain = yield* Effect.acquireRelease(
    Effect.promise(() =>
      startChain({
        slots: settings.slots,
        swapsPerSecond: settings.swaps,
        coins: settings.coins,
        poolsPerCoin: settings.pools,
        variants,
        nice: settings.nice
      })
    ),
    ({ stop }) => Effect.sync(stop)
  )
  const profiles = join(folder, "profiles")
  mkdirSync(profiles)
  const database = embedded(join(folder, "data"))
  const adminPort = yield* Effect.promise(freePort)
  const running = yield* service(
    folder,
    {
      ...database.settings,
      SOLANA_RPC_URL: chain.rpcUrl,
      SOLANA_WS_URL: chain.wsUrl,
      GEYSER_URL: chain.geyserUrl,
      GEYSER_DECODERS: values.decoders,
      PRELOAD_MINTS: chain.mints.join(),
      HISTORY: "0 seconds",
      // The node is on this machine.
      DISCOVERY_RATE: "2000",
      ADMIN_PORT: String(adminPort),
      KEY_ENVIRONMENT: "test"
    },
    { flags: values.profile ? [...START_FLAGS, ...profileFlags(profiles)] : START_FLAGS }
  )
  return { chain, database, running, profiles, variants, metricsUrl: `http://127.0.0.1:${adminPort}/metrics` }
})

const run = Effect.gen(function* () {
  const { chain, database, metricsUrl, profiles, running, variants } = yield* start
  const secret = yield* newKey(database.url)
  const active = chain.coins * variants.tokens * settings.pools
  yield* nameKnownPools(database.url, Math.max(0, settings.known - active))
  const access = { baseUrl: running.baseUrl, secrets: [secret] }
  const wanted = chain.mints.slice(0, QUOTED).flatMap((mint) => [quote(mint, 1_000_000), quote(mint, 50_000_000)])
  // Pools are loaded after the start, and a busy machine may keep the chain from being heard.
  const calls = yield* Effect.promise(() => answered(access, wanted)).pipe(
    Effect.repeat({
      until: ({ length }) => length > wanted.length / 2,
      schedule: Schedule.spaced("2 seconds")
    }),
    Effect.timeout(LOAD_LIMIT)
  )
  yield* Effect.sync(chain.begin)
  const trades = yield* Effect.acquireRelease(
    Effect.sync(() =>
      watchTrades(running.baseUrl, secret, chain.steady.filter((mint) => mint !== SOL).slice(0, WATCHED))
    ),
    ({ close }) => Effect.sync(close)
  )
  // Code of the quotes is compiled by the time of the measured ones.
  yield* Effect.promise(() => callAtRate(access, calls, settings.quotes, settings.warm))
  const seconds = 60 * settings.minutes
  const first = chain.head() + 1
  const emptyUrl = yield* startEmptyServer
  const load = Effect.promise(() =>
    Promise.all([
      callAtRate(access, calls, settings.quotes, seconds),
      callAtRate({ baseUrl: emptyUrl, secrets: [""] }, [{ path: "/" }], settings.quotes / QUOTES_FOR_EMPTY, seconds)
    ])
  )
  const {
    use,
    value: [quotes, emptyServer]
  } = yield* measureUse({ pid: running.child.pid ?? 0, metricsUrl }, load)
  const last = chain.head()
  const { marketSlot, ...used } = use
  const slots = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  // The last slots may still be on their way.
  yield* Effect.sleep("2 seconds")
  const endedMs = performance.timeOrigin + performance.now()
  const [gaps] = yield* query<{ count: number }>(database.url, "select count(*)::int as count from block_gaps")
  const [rows] = yield* query<{ count: number }>(database.url, "select count(*)::int as count from trade_rows")
  const figures = {
    settings,
    recorded: { megabytes: Math.round(chain.bytes / 1e6), transactions: chain.transactions, swaps: chain.swaps },
    sent: sentOf(slots.flatMap((slot) => chain.sent.get(slot) ?? [])),
    lag: lagOf(slots, chain.sent, trades.arrivedMs, endedMs),
    chainEnded: chain.ended(),
    // Slots without a trade that was seen may have been applied all the same.
    behindSlots: marketSlot === null ? null : last - marketSlot,
    lostReaders: trades.lost(),
    quotes: { ...quotes, asked: calls.length },
    emptyServer,
    gaps: gaps?.count ?? null,
    storedTrades: rows?.count ?? null,
    pools: chain.pools,
    ...used
  }
  yield* running.stop
  return {
    bounds: boundsOf(figures),
    figures: {
      failures: failuresOf(figures),
      ...figures,
      ...(values.profile && { profiles: readProfiles(profiles) })
    }
  }
})

if (process.platform !== "linux") {
  process.stderr.write("bench:mainnet reads /proc, which only Linux has.\n")
  process.exit(1)
}
const fiber = Effect.runFork(Effect.scoped(run).pipe(Effect.timeout(WHOLE_LIMIT), Effect.provide(Logger.layer([]))))
// The processes that it started end with it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => fiber.interruptUnsafe())
}
const { bounds, figures } = await Effect.runPromise(Fiber.join(fiber))
report("mainnet", figures, bounds)
if (figures.failures.length > 0) {
  process.exitCode = 1
}
// Without an argument, which keeps the code of missed targets.
process.exit()
