/**
 * `/spot/quote` through the whole stack beside the same endpoint on Fastify: `node scripts/bench/http.ts [--json]`.
 *
 * Server and load generator run on different cores (`taskset`, where there is one). Rounds alternate between the two
 * servers, so that whatever else the machine does falls on both; the figures are medians over the rounds.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { percentile, report } from "./report.ts"

const ROUNDS = 5
const SECONDS = 5
const WARM_UP_SECONDS = 3
const CONNECTIONS = 64
/** The same as `npm start` passes. */
const FLAGS: ReadonlyArray<string> = []

const pins = spawnSync("taskset", ["-V"]).status === 0

const start = (core: number, args: ReadonlyArray<string>): ChildProcess => {
  const [command = "", ...rest] = pins
    ? ["taskset", "-c", String(core), process.execPath, ...args]
    : [process.execPath, ...args]
  return spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"] })
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

const serve = async (name: string) => {
  const child = start(0, [...FLAGS, file(name)])
  const { port = 0 } = await firstLine(child)
  return { child, port }
}

const load = async (port: number, seconds: number) =>
  firstLine(start(1, [file("load.ts"), String(port), String(seconds), String(CONNECTIONS)]))

const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5) ?? 0

const servers = { fathom: await serve("fathomServer.ts"), fastify: await serve("fastifyServer.ts") }
const samples: Record<keyof typeof servers, Array<Record<string, number>>> = { fathom: [], fastify: [] }
for (const { port } of Object.values(servers)) {
  await load(port, WARM_UP_SECONDS)
}
for (let round = 0; round < ROUNDS; round++) {
  samples.fathom.push(await load(servers.fathom.port, SECONDS))
  samples.fastify.push(await load(servers.fastify.port, SECONDS))
}
for (const { child } of Object.values(servers)) {
  child.kill("SIGKILL")
  await once(child, "exit")
}

const summary = (rounds: ReadonlyArray<Record<string, number>>) => ({
  perSecond: Math.round(median(rounds.map(({ perSecond = 0 }) => perSecond))),
  p50Ms: median(rounds.map(({ p50 = 0 }) => p50)),
  p99Ms: median(rounds.map(({ p99 = 0 }) => p99)),
  failed: rounds.reduce((sum, { errors = 0, non2xx = 0 }) => sum + errors + non2xx, 0)
})
const fathom = summary(samples.fathom)
const fastify = summary(samples.fastify)

report("http", {
  connections: CONNECTIONS,
  rounds: ROUNDS,
  secondsEach: SECONDS,
  pinnedCores: pins,
  flags: FLAGS.join(" "),
  fathom,
  fastify,
  ratio: Number((fathom.perSecond / fastify.perSecond).toFixed(3)),
  ratios: samples.fathom.map(({ perSecond = 0 }, i) =>
    Number((perSecond / (samples.fastify[i]?.["perSecond"] ?? 1)).toFixed(3))
  )
})
