/**
 * Compares a service of several processes with a single process on the same simulated chain:
 * `npm run cluster:check -- --json [--blocks 60] [--replicas api,live,keeper]`. Kills the process that reads the chain, halts
 * the chain, and then compares every answer of a process of each role. Exits with 1 unless all are equal.
 */
import { Effect, Fiber, Logger, Redacted, Schedule } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { report } from "./bench/report.ts"
import {
  type ServiceAccess,
  at,
  compare,
  type Difference,
  type Question,
  questionsOf,
  sourceState
} from "./chaos/repair/answers.ts"
import { startChain } from "./chaos/repair/startChain.ts"
import { embedded, issueUnlimited, keyStore, query, service } from "./chaos/service.ts"
import { PROCESSES, startParts } from "./cluster/parts.ts"
import { numberOption } from "./options.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    blocks: { type: "string", default: "60" },
    replicas: { type: "string", default: "api,live,keeper" }
  }
})
const blocks = numberOption("--blocks", values.blocks, { whole: true })
const roles = PROCESSES.filter((role) => role === "ingest" || values.replicas.split(",").includes(role))
const SAMPLE_WALLETS = 10
/** Time without a new block after which a process stands still, however busy the machine is. */
const STALLED_MS = 120_000

const settings = {
  HISTORY: "0 seconds",
  STALE_AFTER: "1 hour",
  SOLANA_BLOCK_CATCH_UP: "5000",
  SOLANA_WATCHDOG: "1 hour"
}

const slotOf = (asked: ServiceAccess) =>
  Effect.promise(async () => Number(at(await sourceState(asked, "blocks"), "slot") ?? 0))

/** Waits until a process has a slot, for as long as it goes on, and returns the time that it took in milliseconds. */
const reaches = Effect.fnUntraced(function* (what: string, asked: ServiceAccess, slot: number) {
  const begunMs = performance.now()
  const last = { slot: 0, atMs: begunMs }
  yield* Effect.catchCause(slotOf(asked), () => Effect.succeed(0)).pipe(
    Effect.tap((newest) => {
      const nowMs = performance.now()
      if (newest > last.slot) {
        Object.assign(last, { slot: newest, atMs: nowMs })
      }
      return nowMs - last.atMs > STALLED_MS
        ? Effect.die(new Error(`${what} stands still at slot ${last.slot} before slot ${slot}`))
        : Effect.void
    }),
    Effect.repeat({ until: (newest) => newest >= slot, schedule: Schedule.spaced("100 millis") })
  )
  return Math.round(performance.now() - begunMs)
})

/** Compares the answers of two processes, up to six times: between two answers a window may move on. */
const compareWith = Effect.fnUntraced(function* (
  pair: readonly [ServiceAccess, ServiceAccess],
  questions: ReadonlyArray<Question>
) {
  const { compared, found } = yield* Effect.promise(() => compare(pair, questions)).pipe(
    Effect.repeat({ until: (each) => each.found.length === 0, times: 5, schedule: Schedule.spaced("2 seconds") })
  )
  return { compared, differences: found.length, first: found.slice(0, 4) }
})

/** A process with a key of its own: the wallet reads of a key are limited in a minute. */
const freshKey = (baseUrl: string, databaseUrl: string) =>
  issueUnlimited("cluster").pipe(
    Effect.provide(keyStore(databaseUrl)),
    Effect.orDie,
    Effect.map((key): ServiceAccess => ({ baseUrl, secret: Redacted.value(key.secret) }))
  )

const run = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-cluster-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const chain = yield* startChain({ history: 0, swapsPerSecond: 20 })
  const first = yield* chain.newest
  const mints = yield* chain.command({})
  const node = { ...settings, DISCOVERY_RATE: "500", SOLANA_RPC_URL: chain.rpcUrl, PRELOAD_MINTS: mints.join() }

  mkdirSync(join(folder, "all"))
  const alone = embedded(join(folder, "all"))
  const one = yield* service(join(folder, "all"), { ...node, ...alone.settings })
  const { secret } = yield* issueUnlimited("cluster").pipe(Effect.provide(keyStore(alone.url)), Effect.orDie)
  const all: ServiceAccess = { baseUrl: one.baseUrl, secret: Redacted.value(secret) }
  const parts = yield* startParts(folder, node, roles)
  const askedOf = ({ baseUrl }: { readonly baseUrl: string }): ServiceAccess => ({ baseUrl, secret: parts.secret })
  const replicas = parts.processes.filter(({ role }) => role !== "ingest")
  const [leader, standby] = parts.processes.filter(({ role }) => role === "ingest")
  const [api] = replicas
  if (leader === undefined || standby === undefined || api === undefined) {
    return yield* Effect.die(new Error("a process is missing"))
  }

  yield* reaches("the first process of api", askedOf(api), first + blocks)
  const killedAt = yield* slotOf(askedOf(api))
  yield* leader.kill
  const recoveredMs = yield* reaches("api after the leader was killed", askedOf(api), killedAt + 2)
  yield* reaches("one process", all, killedAt + 10)

  yield* chain.command({ healthy: { halted: true } })
  const last = yield* chain.newest
  yield* Effect.forEach([...replicas, standby], (part) => reaches(part.role, askedOf(part), last))
  yield* reaches("one process", all, last)
  const wallets = chain.wallets.slice(0, SAMPLE_WALLETS)
  const answers: Record<string, { compared: number; differences: number; first: ReadonlyArray<Difference> }> = {}
  for (const part of [...replicas, standby]) {
    const pair = [yield* freshKey(one.baseUrl, alone.url), yield* freshKey(part.baseUrl, parts.database.url)] as const
    for (const [name, questions] of Object.entries(questionsOf(mints, wallets))) {
      answers[`${part.role} ${name}`] = yield* compareWith(pair, questions)
    }
  }
  const rows = "select count(*)::int as rows, count(distinct (slot, place))::int as places from trade_rows"
  const [stored] = yield* query<{ rows: number; places: number }>(parts.database.url, rows)
  const [expected] = yield* query<{ rows: number; places: number }>(alone.url, rows)
  const compared = Object.values(answers).reduce((sum, each) => sum + each.compared, 0)
  const differences = Object.values(answers).reduce((sum, each) => sum + each.differences, 0)
  return { blocks: last - first, recoveredMs, compared, differences, stored, expected, answers }
})

const fiber = Effect.runFork(Effect.scoped(run).pipe(Effect.provide(Logger.layer([]))))
// The processes that it started end with it.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => fiber.interruptUnsafe())
}
const result = await Effect.runPromise(Fiber.join(fiber))
report("cluster:check", result)
process.exit(result.differences === 0 && result.compared > 0 ? 0 : 1)
