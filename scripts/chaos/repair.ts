/**
 * Stops, failing reads and `kill -9` of a service on a simulated chain, against one that nothing disturbs:
 * `npm run repair:check -- --json [--stops 30,120,300] [--speed 4] [--history 25] [--failures 0.05] [--truncated 40] [--rate 60]`.
 *
 * Stops are in seconds of 2.5 slots, `--truncated` in slots, `--history` in hours. Both services start beside a chain with
 * history and read it backwards, one of them killed meanwhile. Then that one is stopped several times, a stretch of blocks is
 * cut in half, and it is killed while it reads missing blocks again. In the end the chain halts. Exits with 1 unless every
 * bar, window, ranking and wallet of both services is equal, and no window of an hour or more was ever null.
 */
import { Clock, Duration, Effect, Fiber, Logger, Redacted, Schedule } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { SLOT_MS } from "../../src/simulator/chain/Bank.ts"
import { report } from "../bench/report.ts"
import {
  type ServiceAccess,
  at,
  compare,
  type Difference,
  nullWindows,
  questionsOf,
  sourceState
} from "./repair/answers.ts"
import { startChain } from "./repair/startChain.ts"
import { embedded, issueUnlimited, keyStore, query, service } from "./service.ts"
import { numberOption } from "../options.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    stops: { type: "string", default: "30,120,300" },
    speed: { type: "string", default: "4" },
    history: { type: "string", default: "25" },
    failures: { type: "string", default: "0.05" },
    truncated: { type: "string", default: "40" },
    rate: { type: "string", default: "60" }
  }
})
const stops = values.stops.split(",").map((text) => numberOption("--stops", text))
const speed = numberOption("--speed", values.speed)
const truncated = numberOption("--truncated", values.truncated, { least: 0, whole: true })
const history = numberOption("--history", values.history, { least: 0 })
const failures = numberOption("--failures", values.failures, { least: 0, most: 1 })
const rate = numberOption("--rate", values.rate, { whole: true })
/** Blocks that a start catches up with: fewer than are made in the shortest stop. */
const CATCH_UP = 40
const SAMPLE_WALLETS = 20
const STEP = "200 millis"
/** The longest time without progress: what is waited for may take an hour on a busy machine. */
const PATIENCE_MS = 20 * 60_000
const LOOK_FOR_PROGRESS = "5 seconds"

const settings = {
  // Longer than the chain: it ends with the first block, at every service the same.
  HISTORY: `${history + 1} hours`,
  REPAIR_RATE: String(rate),
  // Often enough that a killed service begins with one.
  SNAPSHOT_EVERY: "2 seconds",
  // Accounts stay as they are while the chain is halted.
  STALE_AFTER: "1 hour",
  SOLANA_WATCHDOG: "1 hour",
  // Windows are waited for, however long a busy machine takes to restore them.
  RESTORE_PATIENCE: "2 minutes",
  SOLANA_BLOCK_CATCH_UP: String(CATCH_UP),
  SOLANA_BLOCK_CONCURRENCY: "6",
  // Pools of all tokens are found while both are compared: the node is on this machine.
  DISCOVERY_RATE: "2000",
  SOLANA_BLOCK_POLL: `${Math.max(20, Math.round(SLOT_MS / speed))} millis`
}

/** Ends once the figure has not changed for as long as a wait may last. */
const standstill = Effect.fnUntraced(function* (figure: Effect.Effect<unknown>) {
  let [known, sinceMs] = [yield* figure, yield* Clock.currentTimeMillis]
  while ((yield* Clock.currentTimeMillis) - sinceMs < PATIENCE_MS) {
    yield* Effect.sleep(LOOK_FOR_PROGRESS)
    const found = yield* figure
    ;[known, sinceMs] = found === known ? [known, sinceMs] : [found, yield* Clock.currentTimeMillis]
  }
})

/** Repeats a look until it holds. Gives up when `figure`, which says how far the work is, stands still. */
const until = Effect.fnUntraced(function* (
  what: string,
  look: Effect.Effect<boolean>,
  figure: Effect.Effect<unknown> = Effect.succeed(null)
) {
  const holding = Effect.repeat(look, { until: (holds) => holds, schedule: Schedule.spaced("200 millis") })
  const giveUp = Effect.andThen(standstill(figure), Effect.die(new Error(`${what} did not come`)))
  const [took] = yield* Effect.timed(Effect.raceFirst(holding, giveUp))
  process.stderr.write(`${what}: ${Duration.format(took)}\n`)
})

/** True once a source of the service has such a member. */
const hasState = (asked: ServiceAccess, source: string, member: string, holds: (value: unknown) => boolean) =>
  Effect.promise(async () => holds(at(await sourceState(asked, source), member)))

/** The share of the history that was read. */
const shareOf = (asked: ServiceAccess) => Effect.promise(async () => at(await sourceState(asked, "backfill"), "share"))

const isRepaired = (asked: ServiceAccess) => hasState(asked, "blocks", "gapsOpen", (open) => open === 0)
const isRead = (asked: ServiceAccess) => hasState(asked, "backfill", "status", (status) => status === "known")

/** A service with a database of its own, which is started again on the same one. */
const lives = (name: string, rpcUrl: string, folder: string) => {
  const database = embedded(join(folder, name))
  // Null while the server is away.
  const missing = query<{ slots: number }>(
    database.url,
    "select coalesce(sum(to_slot - from_slot + 1), 0)::float8 as slots from block_gaps"
  ).pipe(
    Effect.map(([row]) => row?.slots ?? null),
    Effect.catchCause(() => Effect.succeed(null))
  )
  const life: { asked: ServiceAccess | null; secret: string | null; down: { ms: number; since: number | null } } = {
    asked: null,
    secret: null,
    down: { ms: 0, since: null }
  }
  mkdirSync(join(folder, name))
  const start = Effect.gen(function* () {
    const running = yield* service(join(folder, name), { ...database.settings, ...settings, SOLANA_RPC_URL: rpcUrl })
    if (life.secret === null) {
      const { secret } = yield* issueUnlimited("chaos").pipe(Effect.provide(keyStore(database.url)), Effect.orDie)
      life.secret = Redacted.value(secret)
    }
    const asked: ServiceAccess = { baseUrl: running.baseUrl, secret: life.secret }
    life.asked = asked
    const end = (effect: Effect.Effect<void>) =>
      Effect.andThen(
        Effect.sync(() => (life.asked = null)),
        effect
      )
    return { ...running, asked, stop: end(Effect.asVoid(running.stop)), kill: end(Effect.asVoid(running.kill)) }
  })
  return {
    life,
    start,
    /** The number of slots that are missing in the database. */
    missing
  }
}

/** Notes windows that are null at the disturbed service and not at the other one. */
const watchWindows = (
  disturbed: { readonly asked: ServiceAccess | null },
  undisturbed: ServiceAccess,
  seen: Map<string, number>
) =>
  Effect.gen(function* () {
    const { asked } = disturbed
    if (asked !== null) {
      const missing = yield* Effect.promise(() => nullWindows(asked))
      const expected =
        missing === null || missing.length === 0 ? [] : yield* Effect.promise(() => nullWindows(undisturbed))
      seen.set("answers", (seen.get("answers") ?? 0) + (missing === null ? 0 : 1))
      seen.set("no answer", (seen.get("no answer") ?? 0) + (missing === null ? 1 : 0))
      for (const window of (missing ?? []).filter((each) => expected?.includes(each) !== true)) {
        seen.set(window, (seen.get(window) ?? 0) + 1)
      }
    }
    yield* Effect.sleep(STEP)
  }).pipe(Effect.forever)

/** Compares until nothing differs, for a minute or more: after a start the names and supplies of tokens in a ranking are read by and by. */
const compareAll = Effect.fnUntraced(function* (
  both: readonly [ServiceAccess, ServiceAccess],
  mints: ReadonlyArray<string>,
  wallets: ReadonlyArray<string>
) {
  const result: Record<
    string,
    { questions: number; compared: number; differences: number; first: ReadonlyArray<Difference> }
  > = {}
  for (const [name, questions] of Object.entries(questionsOf(mints, wallets))) {
    const { compared, found } = yield* Effect.promise(() => compare(both, questions)).pipe(
      Effect.repeat({
        until: ({ found: left }) => left.length === 0,
        times: 30,
        schedule: Schedule.spaced("2 seconds")
      })
    )
    result[name] = { questions: questions.length, compared, differences: found.length, first: found.slice(0, 8) }
  }
  return result
})

const run = Effect.fnUntraced(function* (folder: string) {
  const chain = yield* startChain({ seed: "repair", speed, swapsPerSecond: 0.2, history })
  yield* until(
    "the chain is live",
    Effect.zipWith(chain.newestMs, Clock.currentTimeMillis, (atMs, nowMs) => atMs > nowMs - 3000),
    chain.newestMs
  )
  const wallets = chain.wallets.slice(0, SAMPLE_WALLETS)
  const calm = lives("undisturbed", chain.rpcUrl, folder)
  const undisturbed = yield* calm.start
  const other = lives("disturbed", chain.ailingUrl, folder)
  yield* chain.command({ ailing: { blockFailures: failures } })

  const first = yield* other.start
  const share = hasState(first.asked, "backfill", "share", (value) => typeof value === "number" && value > 0.1)
  yield* until("a part of the history is read", share, shareOf(first.asked))
  yield* first.kill
  let disturbed = yield* other.start
  yield* until(
    "the history is read",
    Effect.zipWith(isRead(disturbed.asked), isRead(undisturbed.asked), (a, b) => a && b),
    Effect.zipWith(shareOf(disturbed.asked), shareOf(undisturbed.asked), (a, b) => `${a} ${b}`)
  )
  // In turn: on a busy machine both are rarely without a gap at once.
  yield* until("nothing is missing", isRepaired(disturbed.asked), other.missing)
  yield* until("the other service misses nothing", isRepaired(undisturbed.asked), calm.missing)

  const nulls = new Map<string, number>()
  const isThere = Effect.promise(async () => {
    const [missing, expected] = [await nullWindows(disturbed.asked), await nullWindows(undisturbed.asked)]
    return missing !== null && !missing.includes("1h") && missing.every((window) => expected?.includes(window))
  })
  yield* until("the windows are there", isThere)
  const watcher = yield* Effect.forkChild(watchWindows(other.life, undisturbed.asked, nulls))
  const from = (yield* chain.newest) + 5
  yield* chain.command({ ailing: { truncatedBlocks: { from, to: from + truncated } } })
  yield* until(
    "truncated blocks are passed",
    Effect.map(chain.newest, (slot) => slot > from + truncated + 60)
  )
  yield* chain.command({ ailing: { truncatedBlocks: null } })
  for (const seconds of stops) {
    yield* disturbed.stop
    yield* Effect.sleep((seconds * 1000) / speed)
    disturbed = yield* other.start
    yield* until(
      `missing blocks after a stop of ${seconds} s`,
      hasState(disturbed.asked, "blocks", "gapsOpen", (open) => typeof open === "number" && open > 0)
    )
  }
  yield* Effect.sleep("1 second")
  const open = yield* Effect.promise(() => sourceState(disturbed.asked, "blocks"))
  yield* disturbed.kill
  disturbed = yield* other.start
  // A slow machine reads missing blocks again, but may never keep up with the chain as well.
  const mints = yield* chain.command({ healthy: { halted: true } })
  yield* until("everything is read again", isRepaired(disturbed.asked), other.missing)
  yield* chain.command({ ailing: { blockFailures: 0 } })
  const last = yield* chain.newest
  const isAtEnd = (asked: ServiceAccess) => hasState(asked, "blocks", "slot", (slot) => slot === last)
  for (const [{ asked }, { missing }] of [
    [disturbed, other],
    [undisturbed, calm]
  ] as const) {
    yield* until("the last block", isAtEnd(asked))
    yield* until("the last gap is closed", isRepaired(asked), missing)
  }
  const results = yield* compareAll([undisturbed.asked, disturbed.asked], mints, wallets)
  yield* Fiber.interrupt(watcher)
  const nullAnswers = Object.fromEntries(nulls)
  const isGood =
    Object.values(results).every(({ differences }) => differences === 0) &&
    ["1h", "6h", "24h"].every((window) => !nulls.has(window)) &&
    Number(at(open, "gapsOpen") ?? 0) > 0
  return {
    isGood,
    stops,
    mints: mints.length,
    gapsOpenAtKill: at(open, "gapsOpen"),
    nullWindows: nullAnswers,
    ...results
  }
})

const folder = mkdtempSync(join(tmpdir(), "fathom-repair-"))
const fiber = Effect.runFork(Effect.scoped(run(folder)).pipe(Effect.provide(Logger.layer([]))))
// The processes that it started end with it.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => fiber.interruptUnsafe())
}
const result = await Effect.runPromise(Fiber.join(fiber))
report("repair:check", result)
if (result.isGood) {
  rmSync(folder, { recursive: true, force: true })
} else {
  process.stderr.write(`Logs of the failed run are in ${folder}\n`)
}
process.exit(result.isGood ? 0 : 1)
