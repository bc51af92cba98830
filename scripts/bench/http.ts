/**
 * `/spot/quote` through the whole stack beside the same endpoint on Fastify: `node scripts/bench/http.ts [--json]`.
 *
 * The figure that counts is processor time per request, user and system of the serving process, because it moves less than
 * the rate when the machine does something else. `fathom` takes the fast path, `defaultHandler` is the same server asked so
 * that it cannot, `fastify` the endpoint written by hand. Each has a process of its own on one core and the load generator
 * another (`taskset`, where there is one). Rounds alternate between the servers.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { PAST_FAST_PATH } from "./http/world.ts"
import { percentile, report } from "./report.ts"

const ROUNDS = 9
const SECONDS = 3
const WARM_UP_SECONDS = 4
const CONNECTIONS = 64
/** The same as `npm start` passes. */
const FLAGS: ReadonlyArray<string> = []

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
  const child = start(0, [...FLAGS, file(name)])
  const { port = 0 } = await firstLine(child)
  return { child, port, headers }
}

const load = async ({ headers, port }: Contender, seconds: number) =>
  firstLine(start(1, [file("load.ts"), String(port), String(seconds), String(CONNECTIONS), JSON.stringify(headers)]))

/** Processor time of the server so far, in microseconds. */
const processorTime = async ({ child }: Contender): Promise<number> => {
  child.send("cpu")
  const [{ system, user }] = await once(child, "message")
  return Number(user) + Number(system)
}

const measure = async (contender: Contender) => {
  const before = await processorTime(contender)
  const { errors = 0, non2xx = 0, ok = 0, p50 = 0, p99 = 0, perSecond = 0 } = await load(contender, SECONDS)
  const cpu = (await processorTime(contender)) - before
  return { cpuUs: cpu / (ok + non2xx), perSecond, p50, p99, failed: errors + non2xx }
}

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
  await load(contender, WARM_UP_SECONDS)
}
for (let round = 0; round < ROUNDS; round++) {
  samples.fathom.push(await measure(contenders.fathom))
  samples.defaultHandler.push(await measure(contenders.defaultHandler))
  samples.fastify.push(await measure(contenders.fastify))
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

const fastify = summary(samples.fastify)

/** Processor time per request, and requests a second, beside Fastify's. */
const beside = (figures: ReturnType<typeof summary>) => ({
  cpu: rounded(figures.cpuUs / fastify.cpuUs, 3),
  cpuLeast: rounded(figures.cpuUsLeast / fastify.cpuUsLeast, 3),
  perSecond: rounded(figures.perSecond / fastify.perSecond, 3)
})

const fathom = summary(samples.fathom)
const defaultHandler = summary(samples.defaultHandler)

report("http", {
  connections: CONNECTIONS,
  rounds: ROUNDS,
  secondsEach: SECONDS,
  pinnedCores: pins,
  flags: FLAGS.join(" "),
  fathom,
  defaultHandler,
  fastify,
  ratio: beside(fathom),
  ratioDefaultHandler: beside(defaultHandler)
})
