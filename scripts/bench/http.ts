/**
 * Answers of the whole stack beside the same answers on Fastify: `node scripts/bench/http.ts [--json]`.
 *
 * The figure that counts is processor time per request, user and system of the serving process, because it moves less than
 * the rate when the machine does something else. A quote is measured three times: `fathom` takes the fast path,
 * `defaultHandler` is the same server asked so that it cannot, `fastify` the endpoint written by hand. A chart, a token, a
 * wallet summary and a tracker snapshot follow, after a check that both servers answer them alike. Each server has a
 * process of its own on one core and the load generator another (`taskset`, where there is one). Rounds alternate between
 * the servers; `cpuPaired` is the median of the ratios of neighbouring rounds.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { deepStrictEqual } from "node:assert"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { wallets } from "./http/trades.ts"
import { type Asked, PAST_FAST_PATH, requestOf } from "./http/world.ts"
import { atMost, percentile, report } from "./report.ts"
import { START_FLAGS } from "./startFlags.ts"

const ROUNDS = 9
const SECONDS = 3
const WARM_UP_SECONDS = 4
const CONNECTIONS = 64
/** Rounds and seconds of each answer that is not a quote. */
const READ_ROUNDS = 5
const READ_SECONDS = 2
/** The most processor time of a quote beside Fastify's. */
const BOUNDS = { fathom: 1, defaultHandler: 1.5 }

const pins = spawnSync("taskset", ["-V"]).status === 0

const start = (core: number, args: ReadonlyArray<string>): ChildProcess => {
  const [command = "", ...rest] = pins
    ? ["taskset", "-c", String(core), process.execPath, ...args]
    : [process.execPath, ...args]
  return spawn(command, rest, { stdio: ["ignore", "pipe", "inherit", "ipc"] })
}

const file = (name: string) => new URL(`http/${name}`, import.meta.url).pathname

const firstLine = async (child: ChildProcess): Promise<Record<string, number>> => {
  if (child.stdout === null) {
    throw new Error("no output to read")
  }
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith("{")) {
      return JSON.parse(line)
    }
  }
  throw new Error("the process ended without a word")
}

interface Contender {
  readonly child: ChildProcess
  readonly port: number
  readonly headers: Record<string, string>
}

const serve = async (name: string, headers: Record<string, string> = {}): Promise<Contender> => {
  const child = start(0, [...START_FLAGS, file(name)])
  const { port = 0 } = await firstLine(child)
  return { child, port, headers }
}

const load = async ({ headers, port }: Contender, seconds: number, asked: Asked) =>
  firstLine(
    start(1, [file("load.ts"), String(port), String(seconds), String(CONNECTIONS), JSON.stringify(headers), asked])
  )

/** Processor time of the server so far, in microseconds. */
const processorTime = async ({ child }: Contender): Promise<number> => {
  child.send("cpu")
  const [{ system, user }] = await once(child, "message")
  return Number(user) + Number(system)
}

const measure = async (contender: Contender, seconds = SECONDS, asked: Asked = "quote") => {
  const before = await processorTime(contender)
  const { errors = 0, non2xx = 0, ok = 0, p50 = 0, p99 = 0, perSecond = 0 } = await load(contender, seconds, asked)
  const cpu = (await processorTime(contender)) - before
  return { cpuUs: cpu / (ok + non2xx), perSecond, p50, p99, failed: errors + non2xx }
}

/** When the servers started, in milliseconds since the Unix epoch. Later times are of the request. */
const OPENED_MS = Date.now() - 600_000

type Sample = Awaited<ReturnType<typeof measure>>

const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5) ?? 0
const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

const contenders = {
  fathom: await serve("fathomServer.ts"),
  defaultHandler: await serve("fathomServer.ts", PAST_FAST_PATH),
  fastify: await serve("fastifyServer.ts")
}
const samples: Record<keyof typeof contenders, Array<Sample>> = { fathom: [], defaultHandler: [], fastify: [] }
for (const contender of Object.values(contenders)) {
  await load(contender, WARM_UP_SECONDS, "quote")
}
for (let round = 0; round < ROUNDS; round++) {
  samples.fathom.push(await measure(contenders.fathom))
  samples.defaultHandler.push(await measure(contenders.defaultHandler))
  samples.fastify.push(await measure(contenders.fastify))
}
/** An answer without ids, times and ages, which differ from one request to the next. */
const steady = (text: string): unknown =>
  JSON.parse(text, (name, value: unknown) => {
    const isTime = /(?:requestId|[a-z]Ms|asOf)$/u.test(name) && (typeof value === "string" || Number(value) > OPENED_MS)
    return isTime || name === "ingestLagMs" ? "" : value
  })

const answerOf = async ({ port }: Contender, asked: Asked): Promise<string> => {
  const { path, ...request } = requestOf(0, asked, wallets)
  const response = await fetch(`http://127.0.0.1:${port}${path}`, request)
  return response.text()
}

const { fastify: byHand, fathom: served } = contenders
const measureReads = async (asked: Asked) => {
  const [one, other] = [await answerOf(served, asked), await answerOf(byHand, asked)]
  deepStrictEqual(steady(one), steady(other), `both servers answer a ${asked} alike`)
  const rounds: Record<"fathom" | "fastify", Array<Sample>> = { fathom: [], fastify: [] }
  await load(served, READ_SECONDS, asked)
  await load(byHand, READ_SECONDS, asked)
  for (let round = 0; round < READ_ROUNDS; round++) {
    rounds.fathom.push(await measure(served, READ_SECONDS, asked))
    rounds.fastify.push(await measure(byHand, READ_SECONDS, asked))
  }
  return rounds
}

const reads = {
  chart: await measureReads("chart"),
  token: await measureReads("token"),
  wallet: await measureReads("wallet"),
  tracker: await measureReads("tracker")
}

for (const { child } of Object.values(contenders)) {
  child.kill("SIGKILL")
  await once(child, "exit")
}

const summary = (rounds: ReadonlyArray<Sample>) => ({
  cpuUs: rounded(median(rounds.map(({ cpuUs }) => cpuUs)), 1),
  cpuUsLeast: rounded(Math.min(...rounds.map(({ cpuUs }) => cpuUs)), 1),
  perSecond: Math.round(median(rounds.map(({ perSecond }) => perSecond))),
  p50Ms: median(rounds.map(({ p50 }) => p50)),
  p99Ms: median(rounds.map(({ p99 }) => p99)),
  failed: rounds.reduce((sum, { failed }) => sum + failed, 0)
})

/** Processor time per request, and requests a second, beside Fastify's. */
const beside = (rounds: ReadonlyArray<Sample>, base: ReadonlyArray<Sample>) => {
  const [figures, fastify] = [summary(rounds), summary(base)]
  return {
    cpu: rounded(figures.cpuUs / fastify.cpuUs, 3),
    cpuPaired: rounded(median(rounds.map(({ cpuUs }, i) => cpuUs / (base[i]?.cpuUs ?? cpuUs))), 3),
    cpuLeast: rounded(figures.cpuUsLeast / fastify.cpuUsLeast, 3),
    perSecond: rounded(figures.perSecond / fastify.perSecond, 3)
  }
}

const compared = ({ fastify, fathom }: (typeof reads)["chart"]) => ({
  fathom: summary(fathom),
  fastify: summary(fastify),
  ratio: beside(fathom, fastify)
})

const ratio = beside(samples.fathom, samples.fastify)
const ratioDefaultHandler = beside(samples.defaultHandler, samples.fastify)

const figures = {
  connections: CONNECTIONS,
  rounds: ROUNDS,
  secondsEach: SECONDS,
  pinnedCores: pins,
  flags: START_FLAGS.join(" "),
  fathom: summary(samples.fathom),
  defaultHandler: summary(samples.defaultHandler),
  fastify: summary(samples.fastify),
  ratio,
  ratioDefaultHandler,
  chart: compared(reads.chart),
  token: compared(reads.token),
  wallet: compared(reads.wallet),
  tracker: compared(reads.tracker)
}

report("http", figures, [
  atMost("A quote, of Fastify's processor time", ratio.cpuPaired, BOUNDS.fathom),
  atMost("The default handler, of Fastify's", ratioDefaultHandler.cpuPaired, BOUNDS.defaultHandler)
])
