/**
 * Faults of a service of several processes under load: `npm run chaos -- --json [--faults replica,leader] [--seconds 75]
 * [--seed chaos] [--from DIR]`. Without `--faults` all of them, one after the other. Needs valkey-server or redis-server. Trades are in ClickHouse
 * where its fault is among them and `npm run test:clickhouse` has installed the engine, else in PostgreSQL.
 * With `--from DIR` the first processes run the checkout DIR, and the fault `deploy` replaces them by this one: a rolling deploy
 * of the change between both, under load. DIR needs its packages installed.
 * With `--short` a small service, a killed leader and a process without Valkey; without a server of Valkey it is skipped.
 *
 * In the end the chain halts. Exits with 1 unless every process and the store have every block as the node has it, the views and
 * quotes of the processes are equal, the fullest window held exactly the budget, every acknowledged alert fired once, every socket
 * was resumed or has a gap in words, every quote stream has gone on, only declared statuses were answered, and none of 500 and
 * above while the service was whole. Times to recover are printed and no verdict.
 */
import { Cause, Effect, Fiber, Logger } from "effect"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { SOL } from "../../src/domain/Address.ts"
import { report } from "../bench/report.ts"
import { ENGINE_FOLDER, isInstalled } from "../cluster/engineFolder.ts"
import { valkeyBinary } from "../cluster/parts.ts"
import {
  noCounts,
  noQuoteCounts,
  type QuoteCounts,
  readMarket,
  type ReaderCounts,
  readQuotes,
  readTracker
} from "../soak/sockets.ts"
import {
  type Fault,
  type FaultName,
  FAULTS,
  isFault,
  isSilent,
  losesBudgets,
  losesValkey,
  needsEngine,
  stepsOf
} from "./cluster/faults.ts"
import { readsOf, wholeReads } from "./cluster/clickHouse.ts"
import { lookForGaps } from "./cluster/hiddenGaps.ts"
import { budgetsOf } from "./cluster/budgets.ts"
import {
  type Admitted,
  type CreatedAlert,
  createOn,
  type Current,
  everyRead,
  noAnswers,
  readOn,
  type ReadProgress,
  spendOn,
  track
} from "./cluster/load.ts"
import { alertsOf, judge } from "./cluster/outcome.ts"
import { longest, recovered } from "./cluster/recovery.ts"
import { type BudgetKind, budgetKindOf, FIRST_SPENDER, type Scene, SMALL, startScene, WHOLE } from "./cluster/scene.ts"
import { verdictsOf } from "./cluster/verdicts.ts"
import type { ServiceAccess } from "./repair/answers.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    short: { type: "boolean", default: false },
    faults: { type: "string" },
    from: { type: "string" },
    seconds: { type: "string" },
    seed: { type: "string", default: "chaos" }
  }
})
const given = {
  faults: values.faults ?? (values.from !== undefined ? "deploy" : values.short ? "leader,partition" : FAULTS.join()),
  seconds: values.seconds ?? (values.short ? "0" : "75")
}
const wanted = given.faults.split(",")
const unknown = wanted.filter((name) => !isFault(name))
const leastSeconds = Number(given.seconds)
if (unknown.length > 0 || !(leastSeconds >= 0)) {
  const what = unknown.length > 0 ? `Unknown faults: ${unknown.join()}.` : `--seconds ${given.seconds} is no time.`
  process.stderr.write(`${what} Faults are ${FAULTS.join()}.\n`)
  process.exit(2)
}

const from = values.from === undefined ? undefined : resolve(values.from)
if (from !== undefined && (wanted[0] !== "deploy" || !existsSync(join(from, "src/main.ts")))) {
  const what =
    wanted[0] === "deploy" ? `--from ${values.from} is no checkout.` : "--from wants deploy as the first fault."
  process.stderr.write(`${what}\n`)
  process.exit(2)
}

if (values.short && valkeyBinary() === null) {
  process.stderr.write("No valkey-server or redis-server: the short chaos of a cluster is skipped.\n")
  process.exit(0)
}
const wantsEngine = FAULTS.some((name) => needsEngine(name) && wanted.includes(name))
const engineFolder = wantsEngine && isInstalled(ENGINE_FOLDER) ? ENGINE_FOLDER : null
const chosen = FAULTS.filter((name) => wanted.includes(name) && (!needsEngine(name) || engineFolder !== null))
const leftOut = wanted.filter((name) => isFault(name) && !chosen.includes(name))
if (chosen.length === 0) {
  process.stderr.write("No fault is left: there is no ClickHouse engine. npm run test:clickhouse installs it.\n")
  process.exit(2)
}
if (leftOut.length > 0) {
  process.stderr.write(
    `No ClickHouse engine: ${leftOut.join()} is left out, and trades are in PostgreSQL. npm run test:clickhouse installs it.\n`
  )
}

/** Streams of quotes; every key of the sockets has one socket. */
const STREAMS = 2
/** Time for which a fault is held once the service has recovered, or at all where it cannot. */
const HELD = "3 seconds"
/** Time to recover that is aimed at. */
const TARGET_MS = 5000
/** Time that readers have to get a frame after the last fault, and loads to end. */
const READERS_WITHIN = "90 seconds"

const note = (line: string) => Effect.sync(() => void process.stderr.write(`${line}\n`))

const provokeStep = Effect.fnUntraced(function* (scene: Scene, fault: Fault, isAway: boolean) {
  const { after, begin, during: look, end, held = HELD, missedWrites, reads, victims, what } = fault
  const before = reads === undefined ? null : yield* wholeReads(scene)
  yield* begin
  const fromMs = performance.now()
  const during = victims === null ? null : yield* recovered(scene, victims)
  yield* Effect.sleep(held)
  const meanwhile = reads === undefined ? null : yield* readsOf(scene)
  const proofs = look === undefined ? [] : [yield* look]
  if (isAway) {
    scene.away.push({ fromMs, toMs: performance.now() })
  }
  yield* end
  const gaps = missedWrites === undefined ? null : { compared: 0, refused: 0, hidden: 0 }
  const looking = missedWrites === undefined || gaps === null ? Effect.never : lookForGaps(scene, missedWrites, gaps)
  const afterwards = yield* Effect.raceFirst(recovered(scene, []), looking)
  const found =
    before === null || meanwhile === null ? null : { before, during: meanwhile, after: yield* wholeReads(scene) }
  if (after !== undefined) {
    proofs.push(yield* after)
  }
  const step = { what, during, afterwards, gaps, reads: found, proofs }
  yield* note(`  ${JSON.stringify(step)}`)
  return step
})

/** Provokes a fault. It recovers by the processes that are left where there are any, else once the fault has ended. */
const provoke = Effect.fnUntraced(function* (scene: Scene, fault: FaultName, current: Current) {
  current.fault = isSilent(fault) ? "none" : fault
  const begunMs = performance.now()
  yield* note(fault)
  const steps = []
  for (const step of stepsOf(scene, fault)) {
    steps.push(yield* provokeStep(scene, step, losesValkey(fault)))
  }
  current.fault = "none"
  if (losesBudgets(fault)) {
    scene.alone.push({ fromMs: begunMs, toMs: performance.now() })
  }
  const recoveredMs = longest(steps.map(({ afterwards, during }) => during ?? afterwards))
  const rejoinedMs = longest(steps.map(({ afterwards }) => afterwards))
  return { fault, recoveredMs, rejoinedMs, isWithinTarget: recoveredMs !== null && recoveredMs <= TARGET_MS, steps }
})

/** A spender of the budget of its kind at each place, also at places that get a process later. */
const spendersOf = ({ keys, places, running }: Scene) =>
  Array.from({ length: places - FIRST_SPENDER }, (_, n) => {
    const place = FIRST_SPENDER + n
    const kind = budgetKindOf(place)
    return {
      kind,
      asked: {
        // Processes are replaced.
        get baseUrl() {
          return running[place]?.baseUrl ?? ""
        },
        secret: keys.bounded[kind]
      }
    }
  })

/** The load, until it is stopped. */
const startLoad = (scene: Scene, current: Current, stopping: { isStopping: boolean }) => {
  const { active, keys, url } = scene
  const { mints, wallets } = active
  const [mint = "", wallet = ""] = [mints.find((each) => each !== SOL), wallets[0]]
  const callers = keys.free.map((secret): ServiceAccess => ({ baseUrl: url, secret }))
  const [first = { baseUrl: url, secret: "" }] = callers
  const answers = noAnswers()
  const questions = everyRead(mint, wallet)
  const reads = callers.slice(1, 3).map((): ReadProgress => ({ answered: 0, round: questions.length }))
  const readers = callers.map((): ReaderCounts => noCounts())
  const streams = Array.from({ length: STREAMS }, () => noQuoteCounts())
  const created: Array<CreatedAlert> = []
  const admitted: { readonly [kind in BudgetKind]: Array<Admitted> } = { refuse: [], local: [] }
  // Each reader follows a token and wallets that trade.
  const socketOf = async (caller: ServiceAccess, n: number) => {
    const counts = readers[n] ?? noCounts()
    if (n % 2 === 0) {
      const followed = mints[n % Math.min(3, mints.length)] ?? mint
      const channels = [
        { channel: "trades", mint: followed },
        { channel: "candles", mint: followed, resolution: "1m" }
      ]
      return readMarket(caller, channels, counts, stopping)
    }
    await track(caller, wallets.slice(0, 5), stopping)
    return readTracker(caller, counts, stopping)
  }
  const query = new URLSearchParams({ inputMint: SOL, outputMint: mint, amount: "1000000" }).toString()
  const streamOf = (counts: QuoteCounts, n: number) => readQuotes(callers[n] ?? first, query, counts, stopping)
  const done = Promise.all([
    ...callers.map(socketOf),
    ...streams.map(streamOf),
    ...reads.map((progress, n) => readOn(callers[n + 1] ?? first, questions, answers, progress, current, stopping)),
    ...spendersOf(scene).map(({ asked, kind }) => spendOn(asked, admitted[kind], answers, current, stopping)),
    createOn(first, SOL, created, answers, current, stopping)
  ])
  return { admitted, answers, created, done, readers, reads, streams }
}

/** Waits until every read has been answered since now; false where one was not. */
const wholeRounds = (reads: ReadonlyArray<ReadProgress>) => {
  const before = reads.map(({ answered }) => answered)
  const areDone = () => reads.every(({ answered, round }, n) => answered - (before[n] ?? 0) > round)
  return Effect.sleep("200 millis").pipe(
    Effect.repeat({ until: areDone }),
    Effect.timeoutOption(READERS_WITHIN),
    Effect.map(areDone)
  )
}

/** Waits until each reader has received one more item. Returns the places and counts of readers that have not. */
const silentOf = Effect.fnUntraced(function* <A extends ReaderCounts>(
  readers: ReadonlyArray<A>,
  read: (counts: A) => number
) {
  const before = readers.map(read)
  const silent = () =>
    readers.flatMap((counts, reader) => {
      const { connections, gaps } = counts
      return read(counts) === before[reader] ? [{ reader, connections, gaps, read: read(counts) }] : []
    })
  yield* Effect.sleep("200 millis").pipe(
    Effect.repeat({ until: () => silent().length === 0 }),
    Effect.timeoutOption(READERS_WITHIN)
  )
  return silent()
})

const sumOf = <A extends ReaderCounts>(sum: A, readers: ReadonlyArray<A>): A => {
  for (const { closeCodes, ...counts } of readers) {
    for (const [name, count] of Object.entries(counts)) {
      Object.assign(sum, { [name]: Reflect.get(sum, name) + count })
    }
    for (const [code, count] of Object.entries(closeCodes)) {
      sum.closeCodes[code] = (sum.closeCodes[code] ?? 0) + count
    }
  }
  return sum
}

const run = Effect.gen(function* () {
  const scene = yield* startScene(values.seed, values.short ? SMALL : WHOLE, engineFolder, from)
  yield* note("The service runs.")
  const [stopping, current] = [{ isStopping: false }, { fault: "start" }]
  const begunMs = performance.now()
  const load = startLoad(scene, current, stopping)
  const loading = yield* Effect.forkChild(Effect.promise(() => load.done))
  // The first answers come while the service is still loading.
  yield* recovered(scene, [])
  const whole = yield* recovered(scene, [])
  current.fault = "none"
  yield* note(JSON.stringify({ whole }))
  const faults = []
  for (const name of chosen) {
    faults.push(yield* provoke(scene, name, current))
  }
  yield* Effect.sleep(Math.max(0, begunMs + 1000 * leastSeconds - performance.now()))
  yield* note("Waiting for the readers and the alerts.")
  const [silentReaders, silentStreams, areReadsWhole] = yield* Effect.all(
    [
      silentOf(load.readers, ({ numbered }) => numbered),
      silentOf(load.streams, ({ priced }) => priced),
      wholeRounds(load.reads)
    ],
    { concurrency: "unbounded" }
  )
  const alerts = yield* alertsOf(scene, [...load.created])
  stopping.isStopping = true
  const stopped = yield* Effect.timeoutOption(Fiber.join(loading), READERS_WITHIN)
  if (stopped._tag === "None") {
    return yield* Effect.die(new Error("a request or a stream has no end"))
  }
  yield* note("Comparing every block.")
  const judged = yield* judge(scene, note)
  // The load has ended: no process has to drain.
  yield* Effect.forEach(scene.running, ({ kill }) => kill, { concurrency: "unbounded", discard: true })
  const budgets = budgetsOf(load.admitted, scene)
  const answers = { ...load.answers, areReadsWhole }
  const readers = { sockets: sumOf(noCounts(), load.readers), streams: sumOf(noQuoteCounts(), load.streams) }
  const silent = { silentReaders: silentReaders.length, silentStreams: silentStreams.length }
  const times = faults.flatMap(({ fault, steps }) => steps.map((step) => ({ fault, ...step })))
  const verdicts = verdictsOf({ ...judged, times, alerts, ...budgets, ...readers, ...silent, answers })
  return {
    seed: values.seed,
    store: scene.clickHouse === null ? "postgres" : "clickhouse",
    leftOut,
    verdicts,
    whole,
    faults,
    ...judged,
    alerts,
    ...budgets,
    silentReaders,
    silentStreams,
    ...readers,
    answers
  }
})

const fiber = Effect.runFork(Effect.scoped(run).pipe(Effect.provide(Logger.layer([]))))
// The processes that it started end with it, after an error of a socket or a stream too.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) {
  process.on(signal, () => fiber.interruptUnsafe())
}
process.on("uncaughtException", (cause) => {
  process.stderr.write(`${cause.stack ?? cause.message}\n`)
  fiber.interruptUnsafe()
})
const exit = await Effect.runPromiseExit(Fiber.join(fiber))
if (exit._tag === "Failure") {
  process.stderr.write(`${Cause.hasInterruptsOnly(exit.cause) ? "Interrupted." : Cause.pretty(exit.cause)}\n`)
  process.exit(1)
}
report("chaos", exit.value)
process.exit(Object.values(exit.value.verdicts).every(Boolean) ? 0 : 1)
