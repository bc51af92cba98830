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
/** The least service with two processes of every role. Processes of `api` take its sockets: they are the same as those of `live`. */
export const SMALL: SceneSize = { roles: ["ingest", "ingest", "api", "api", "keeper", "keeper"], sockets: 12 }
/** The first place of a process that spends a budget. */
export const FIRST_SPENDER = 2
/** Processes of `api` that a fault adds under load; they stay. */
export const ADDED = 2
/** Place of the process of `api` that reaches Valkey through a proxy. */
export const BEHIND_PROXY = 3
/** Keys with the default plan, one for each kind of process: what it does about budgets while Valkey is away. */
export const BUDGET_KINDS = ["refuse", "local"] as const
export type BudgetKind = (typeof BUDGET_KINDS)[number]
/** What the process of a place does about budgets while Valkey is away. */
export const budgetKindOf = (place: number): BudgetKind => (place % 2 === 0 ? "refuse" : "local")
/** Slots whose trades show which tokens and wallets trade. */
const OBSERVED_SLOTS = 20

const settings = {
  HISTORY: "0 seconds",
  STALE_AFTER: "1 hour",
  SOLANA_BLOCK_CATCH_UP: "5000",
  SOLANA_WATCHDOG: "1 hour",
  DISCOVERY_RATE: "500",
  DRAIN_QUIET: "0 millis"
}

const OK = 200

/** Times on this machine's monotonic clock, in milliseconds. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** The newest slot of a process; 0 while it does not answer. */
export const slotOf = (baseUrl: string) =>
  Effect.promise(async () => Number(at(await sourceState({ baseUrl, secret: "" }, "blocks"), "slot") ?? 0))

const MANY = 100_000_000
const roomy = { ...DEFAULT_PLAN, name: "roomy", rest: MANY, quote: MANY, streams: 1000, alerts: 100_000 }

/** Secrets of so many keys without bounds, each of an account of its own, and of one with the default plan for each kind. */
const issueKeys = (url: string, count: number) =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    yield* keys.setPlan(roomy, COMMAND_LINE)
    const make = (accountId: string, plan: string) =>
      keys
        .issue({ accountId, name: "chaos", scopes: ApiScope.literals, ipPolicy: null, plan }, COMMAND_LINE)
        .pipe(Effect.map(({ secret }) => Redacted.value(secret)))
    const free = yield* Effect.forEach(Array.from({ length: count }), (_, n) => make(`chaos-${n}`, roomy.name))
    const bounded = {
      refuse: yield* make("bounded-refuse", DEFAULT_PLAN.name),
      local: yield* make("bounded-local", DEFAULT_PLAN.name)
    }
    return { free, bounded }
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

const ofPlace = (place: number) => ({ BUDGET_STORE_DOWN: budgetKindOf(place) })

/**
 * Starts a service of this size; it ends with the scope. Its trades are in the engine of ClickHouse of a folder, where one
 * is given. Its first processes run the checkout `from`.
 */
export const startScene = Effect.fnUntraced(function* (
  seed: string,
  { roles, sockets }: SceneSize,
  engineFolder: string | null,
  from?: string
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
  const parts = yield* startParts(folder, node, roles, BEHIND_PROXY, ofPlace, from)
  const keys = yield* issueKeys(parts.database.url, sockets)
  const running = [...parts.processes]
  const targets = { api: [] as Array<string>, live: [] as Array<string> }
  const route = () => {
    targets.api.splice(0, targets.api.length, ...urlsOf(running, "api"))
    // Every process that answers takes sockets: one that resumes comes to another process.
    targets.live.splice(0, targets.live.length, ...urlsOf(running, "live"), ...urlsOf(running, "api"))
  }
  /** Adds a process of `api` at a new place. */
  const add = (place: number) =>
    Effect.map(parts.start("api", place), (next) => {
      running[place] = next
      route()
    })
  /** Starts the process of a place anew, which has ended. */
  const restart = (place: number) =>
    Effect.gen(function* () {
      const next = yield* parts.start(roles[place] ?? "api", place)
      running.splice(place, 1, next)
      route()
    })
  /** Times at which Valkey began without data, and budgets anew. */
  const emptiedMs: Array<number> = []
  const emptied = Effect.sync(() => emptiedMs.push(performance.now()))
  const emptyValkey = Effect.andThen(emptied, parts.valkey.start)
  const flushValkey = Effect.andThen(parts.valkey.send("FLUSHALL"), emptied)
  /**
   * Times between which some processes may decide about budgets alone, no process can reach Valkey, and what PostgreSQL took is
   * undone.
   */
  const spans = { alone: [] as Array<Span>, away: [] as Array<Span>, undone: [] as Array<Span> }
  /** Requests that each process has answered 200 through the balancer, by its base URL. */
  const taken = new Map<string, number>()
  route()
  const url = yield* balance(
    targets,
    0,
    (target, status) => status === OK && taken.set(target, (taken.get(target) ?? 0) + 1)
  )
  const begun = yield* chain.newest
  const observed = yield* Effect.promise(() => readNode(chain.rpcUrl, begun - OBSERVED_SLOTS, begun))
  /** The tokens and wallets that trade, the most active first. */
  const active = {
    mints: byCount(observed.filter(({ role }) => role !== "wallet").map(({ mint }) => mint)),
    wallets: byCount(observed.filter(({ role }) => role !== "pool").map(({ wallet }) => wallet))
  }
  const valkey = { emptiedMs, emptyValkey, flushValkey }
  const changes = { add, restart, running }
  const facts = { active, ...spans, begun, places: roles.length + ADDED, taken }
  return { ...valkey, ...changes, ...facts, chain, clickHouse, folder, keys, parts, url }
})

/** A service under test. */
export type Scene = Effect.Success<ReturnType<typeof startScene>>
