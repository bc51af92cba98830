/** A service of several processes on a simulated chain, behind a balancer. */
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { ApiScope } from "../../../src/api/schemas/ApiKey.ts"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { startEngine } from "../../../test/support/clickhouse/engineProcess.ts"
import { balance } from "../../cluster/balancer.ts"
import { type PartRole, startParts } from "../../cluster/parts.ts"
import { at, sourceState } from "../repair/answers.ts"
import { startChain } from "../repair/startChain.ts"
import { keyStore } from "../service.ts"
import { readNode } from "./blockHashes.ts"
import { watchChildren } from "./reaper.ts"

/** The number of processes and of readers. */
export interface SceneSize {
  /** Roles of the processes by place. */
  readonly roles: ReadonlyArray<PartRole>
  /** Readers over sockets, each with a key of its own. */
  readonly sockets: number
}

/** A service with two processes of every role, and one for sockets. */
export const WHOLE: SceneSize = {
  roles: ["ingest", "ingest", "api", "api", "live", "keeper", "keeper"],
  sockets: 20
}
/** The least service that goes on without any one of its processes that a short run kills or cuts off. */
export const SMALL: SceneSize = { roles: WHOLE.roles.slice(0, -1), sockets: 12 }
/** Places of the four processes that spend one budget. */
export const SPENDERS: ReadonlyArray<number> = [2, 3, 4, 5]
/** Place of the process of `api` that reaches Valkey through a proxy. */
export const BEHIND_PROXY = 3
/** Slots whose trades show which tokens and wallets trade. */
const OBSERVED_SLOTS = 20

const settings = {
  HISTORY: "0 seconds",
  STALE_AFTER: "1 hour",
  SOLANA_BLOCK_CATCH_UP: "5000",
  SOLANA_WATCHDOG: "1 hour",
  DISCOVERY_RATE: "500",
  // Every window is exact then.
  BUDGET_STORE_DOWN: "refuse",
  DRAIN_QUIET: "0 millis"
}

/** The newest slot of a process; 0 while it does not answer. */
export const slotOf = (baseUrl: string) =>
  Effect.promise(async () => Number(at(await sourceState({ baseUrl, secret: "" }, "blocks"), "slot") ?? 0))

const MANY = 100_000_000
const roomy = { ...DEFAULT_PLAN, name: "roomy", rest: MANY, quote: MANY, streams: 1000, alerts: 100_000 }

/** Secrets of so many keys without bounds, each of an account of its own, and of one with the default plan. */
const issueKeys = (url: string, count: number) =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    yield* keys.setPlan(roomy, COMMAND_LINE)
    const make = (accountId: string, plan: string) =>
      keys
        .issue({ accountId, name: "chaos", scopes: ApiScope.literals, ipPolicy: null, plan }, COMMAND_LINE)
        .pipe(Effect.map(({ secret }) => Redacted.value(secret)))
    const free = yield* Effect.forEach(Array.from({ length: count }), (_, n) => make(`chaos-${n}`, roomy.name))
    return { free, bounded: yield* make("bounded", DEFAULT_PLAN.name) }
  }).pipe(Effect.provide(keyStore(url)), Effect.orDie)

const urlsOf = (processes: ReadonlyArray<{ readonly role: PartRole; readonly baseUrl: string }>, wanted: PartRole) =>
  processes.filter(({ role }) => role === wanted).map(({ baseUrl }) => baseUrl)

const byCount = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(
    Map.groupBy(names, (name) => name),
    ([name, all]) => ({ name, count: all.length })
  )
    .toSorted((a, b) => b.count - a.count)
    .map(({ name }) => name)

/** Starts a service of this size; it ends with the scope. Its trades are in the engine of ClickHouse of a folder, where one is given. */
export const startScene = Effect.fnUntraced(function* (
  seed: string,
  { roles, sockets }: SceneSize,
  engineFolder: string | null
) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-chaos-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  yield* watchChildren(folder)
  const chain = yield* startChain({ seed, history: 0, swapsPerSecond: 20 })
  const mints = yield* chain.command({})
  // Every process but the first, and each that is started anew, has the code compiled.
  const compiled = { NODE_COMPILE_CACHE: join(folder, "compiled") }
  const clickHouse = engineFolder === null ? null : yield* startEngine(engineFolder)
  const store = clickHouse === null ? {} : { CLICKHOUSE_URL: clickHouse.url }
  const node = { ...settings, ...compiled, ...store, SOLANA_RPC_URL: chain.rpcUrl, PRELOAD_MINTS: mints.join() }
  const parts = yield* startParts(folder, node, roles, BEHIND_PROXY)
  const keys = yield* issueKeys(parts.database.url, sockets)
  const running = [...parts.processes]
  const targets = { api: [] as Array<string>, live: [] as Array<string> }
  const route = () => {
    targets.api.splice(0, targets.api.length, ...urlsOf(running, "api"))
    // Every process that answers takes sockets: one that resumes comes to another process.
    targets.live.splice(0, targets.live.length, ...urlsOf(running, "live"), ...urlsOf(running, "api"))
  }
  /** Starts the process of a place anew, which has ended. */
  const restart = (place: number) =>
    Effect.gen(function* () {
      const next = yield* parts.start(roles[place] ?? "api", place)
      running.splice(place, 1, next)
      route()
    })
  /** Times at which Valkey began without data, and budgets anew. */
  const emptiedMs: Array<number> = []
  const emptyValkey = Effect.andThen(
    Effect.sync(() => emptiedMs.push(performance.now())),
    parts.valkey.start
  )
  route()
  const url = yield* balance(targets, 0)
  const begun = yield* chain.newest
  const observed = yield* Effect.promise(() => readNode(chain.rpcUrl, begun - OBSERVED_SLOTS, begun))
  /** The tokens and wallets that trade, the most active first. */
  const active = {
    mints: byCount(observed.filter(({ role }) => role !== "wallet").map(({ mint }) => mint)),
    wallets: byCount(observed.filter(({ role }) => role !== "pool").map(({ wallet }) => wallet))
  }
  return { active, begun, chain, clickHouse, emptiedMs, emptyValkey, keys, parts, restart, running, url }
})

/** A service under test. */
export type Scene = Effect.Success<ReturnType<typeof startScene>>
