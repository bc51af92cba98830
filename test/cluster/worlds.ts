/**
 * A service in one process, and one in several processes behind a balancer. Both read the same simulated chain, which
 * stands still.
 */
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ask, at, sourceState, type ServiceAccess } from "../../scripts/chaos/repair/answers.ts"
import { startChain } from "../../scripts/chaos/repair/startChain.ts"
import { embedded, keyStore, query, service } from "../../scripts/chaos/service.ts"
import { balance } from "../../scripts/cluster/balancer.ts"
import { startParts } from "../../scripts/cluster/parts.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { hashOf } from "../../src/access/accounts/secrets.ts"
import { ApiScope } from "../../src/api/schemas/ApiKey.ts"
import { SOL } from "../../src/domain/Address.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import {
  ENDING_SESSION,
  FULL_SESSION,
  type Offer,
  ORIGIN,
  ROTATING_SESSION,
  SESSION,
  SIGN_IN_TOKEN
} from "../api/walkRequests.ts"

/** A service to walk, and the secret of each key by its letter. */
export interface Walked {
  readonly url: string
  readonly secretOf: (letter: string) => string
  readonly offer: Offer
}

/** One process of the cluster. */
export interface Part {
  readonly role: string
  readonly baseUrl: string
}

/** Both services. */
export class Worlds extends Context.Service<
  Worlds,
  {
    readonly alone: Walked
    readonly cluster: Walked
    readonly parts: ReadonlyArray<Part>
    /** Lets the chain go on, or stops it. */
    readonly halt: (isHalted: boolean) => Effect.Effect<void>
  }
>()("fathom/test/cluster/Worlds") {}

const BLOCKS = 40

const settings = {
  HISTORY: "0 seconds",
  STALE_AFTER: "1 hour",
  SOLANA_WATCHDOG: "1 hour",
  DISCOVERY_RATE: "500",
  PUBLIC_URL: ORIGIN,
  KEY_ENVIRONMENT: "test",
  DRAIN_QUIET: "0 millis"
}

const scopes = ApiScope.literals
const roomy = { ...DEFAULT_PLAN, rest: 100_000_000, quote: 100_000_000, streams: 1000 }
/** Plans of keys: one without bounds, one with a budget of a single unit, and one whose account is full at once. */
const plans = [
  { ...roomy, name: "roomy" },
  { ...DEFAULT_PLAN, name: "narrow", rest: 1, quote: 1, windowSeconds: 3600 },
  { ...roomy, name: "full", trackedWallets: 0, alerts: 0 }
]
const letters = [
  { letter: "a", accountId: "a", plan: "roomy" },
  { letter: "d", accountId: "d", plan: "roomy" },
  { letter: "q", accountId: "q", plan: "narrow" },
  { letter: "w", accountId: "walker", plan: "roomy" },
  { letter: "b", accountId: "b", plan: DEFAULT_PLAN.name },
  { letter: "f", accountId: "full", plan: "full" }
]

const issueKeys = Effect.gen(function* () {
  const keys = yield* KeyStore
  yield* Effect.forEach(plans, (plan) => keys.setPlan(plan, COMMAND_LINE))
  const issued = yield* Effect.forEach(letters, ({ accountId, letter, plan }) =>
    keys
      .issue({ accountId, name: letter, scopes, ipPolicy: null, plan }, COMMAND_LINE)
      .pipe(Effect.map((made) => [letter, made] as const))
  )
  const byLetter = new Map(issued)
  yield* keys.disable(byLetter.get("d")?.key.id ?? "", COMMAND_LINE)
  return (letter: string) => Redacted.value(byLetter.get(letter)?.secret ?? Redacted.make(""))
})

const sessions = [
  { id: "walker", session: SESSION, link: SIGN_IN_TOKEN },
  { id: "crowded", session: FULL_SESSION, link: "v".repeat(43) },
  { id: "rotator", session: ROTATING_SESSION, link: "x".repeat(43) },
  { id: "leaver", session: ENDING_SESSION, link: "u".repeat(43) }
]

/** The accounts of the walk, with sessions and links whose secrets are known. */
const openSessions = (url: string) =>
  Effect.forEach(sessions, ({ id, link, session }) =>
    Effect.gen(function* () {
      yield* query(url, "insert into accounts values ($1, $1, 'member', now(), null)", [id])
      const secret = hashOf(Redacted.make(session))
      yield* query(url, "insert into sessions values ($1, $2, now(), now(), now() + interval '1 day')", [secret, id])
      const token = hashOf(Redacted.make(link))
      yield* query(url, "insert into sign_in_links values ($1, $2, now() + interval '1 day', null)", [token, id])
    })
  )

const slotOf = (asked: ServiceAccess) =>
  Effect.promise(async () => Number(at(await sourceState(asked, "blocks"), "slot") ?? 0))

const has = (asked: ServiceAccess, slot: number) =>
  Effect.repeat(slotOf(asked), { until: (newest) => newest >= slot, schedule: Schedule.spaced("100 millis") })

const pathAt = async (asked: ServiceAccess, path: string, ...names: ReadonlyArray<string | number>) =>
  String(at((await ask(asked, { path })).content, "data", ...names) ?? "")

const offerOf = async (asked: ServiceAccess, mint: string): Promise<Offer> => ({
  mint,
  launched: await pathAt(asked, "/api/v1/launches?limit=1", 0, "token", "address"),
  trader: await pathAt(asked, `/api/v1/tokens/solana/${mint}/top-traders`, 0, "wallet"),
  pool: await pathAt(asked, `/api/v1/tokens/solana/${mint}/liquidity`, "pools", 0, "pool"),
  // A node has neither linked wallets nor follows.
  wallet: "w_1",
  network: "n",
  asset: "a",
  follow: "cf_none"
})

const secretsOf = (databaseUrl: string) =>
  issueKeys.pipe(Effect.provide(keyStore(databaseUrl)), Effect.tap(openSessions(databaseUrl)), Effect.orDie)

const makeWorlds = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-cluster-walk-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const chain = yield* startChain({ history: 0, swapsPerSecond: 20 })
  const begun = yield* chain.newest
  const mints = yield* chain.command({})
  const node = { ...settings, SOLANA_RPC_URL: chain.rpcUrl, PRELOAD_MINTS: mints.join() }
  mkdirSync(join(folder, "all"))
  const own = embedded(join(folder, "all"))
  const one = yield* service(join(folder, "all"), { ...node, ...own.settings })
  const parts = yield* startParts(folder, node)
  const of = (role: string) => parts.processes.filter((each) => each.role === role).map(({ baseUrl }) => baseUrl)
  const url = yield* balance({ api: of("api"), live: of("live") }, 0)

  const secretAlone = yield* secretsOf(own.url)
  const secretOf = yield* secretsOf(parts.database.url)
  const alone: ServiceAccess = { baseUrl: one.baseUrl, secret: secretAlone("a") }
  const cluster: ServiceAccess = { baseUrl: url, secret: secretOf("a") }
  const everyone = [alone, ...parts.processes.map(({ baseUrl }) => ({ baseUrl, secret: secretOf("a") }))]
  const halt = (isHalted: boolean) =>
    Effect.gen(function* () {
      yield* chain.command({ healthy: { halted: isHalted } })
      const last = isHalted ? yield* chain.newest : 0
      yield* Effect.forEach(everyone, (asked) => has(asked, last), { concurrency: "unbounded" })
    })
  yield* has(alone, begun + BLOCKS)
  yield* halt(true)
  // Not every mint has traded by then.
  const offers = yield* Effect.forEach(
    mints.filter((each) => !each.startsWith("So1111")),
    (mint) => Effect.promise(() => offerOf(cluster, mint))
  ).pipe(
    Effect.map((all) => all.filter(({ pool, trader }) => pool !== "" && trader !== "")),
    Effect.repeat({ until: (all) => all.length > 0, schedule: Schedule.spaced("1 second") })
  )
  const offer = offers.at(-1)
  if (offer === undefined) {
    return yield* Effect.die(new Error("no mint has a pool and a trader"))
  }
  // Spends the budgets of the key that has almost none.
  for (const [baseUrl, secret] of [
    [one.baseUrl, secretAlone("q")],
    [url, secretOf("q")]
  ] as const) {
    const quote = `/api/v1/spot/quote?inputMint=${SOL}&outputMint=${offer.mint}&amount=1000000000`
    yield* Effect.forEach([quote, "/api/v1/alerts"], (path) => Effect.promise(() => ask({ baseUrl, secret }, { path })))
  }
  return Worlds.of({
    alone: { url: one.baseUrl, secretOf: secretAlone, offer },
    cluster: { url, secretOf, offer },
    parts: parts.processes,
    halt
  })
})

/** Both, until the scope closes. */
export const layer: Layer.Layer<Worlds> = Layer.effect(Worlds, makeWorlds).pipe(Layer.orDie)
