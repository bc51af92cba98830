/**
 * Latency of quotes with and without blocks being read: `node scripts/bench/beside.ts [--json]`.
 *
 * The service of `http/fathomServer.ts` receives quote requests at a steady pace, in turns with and without blocks of 5 MB
 * arriving every 400 ms, which it decodes, prices and puts on its tape. Latencies in milliseconds, from when a request was
 * due until its last byte; `delay` is how late timers of this process fire, which is part of them. Exits with 1 where p99 is more than
 * twice the quiet one, or a quote failed.
 */
import { spawn } from "node:child_process"
import { Agent, get } from "node:http"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { createInterface } from "node:readline"
import { startBlockServer } from "./blocks/startBlockServer.ts"
import { requestOf } from "./http/world.ts"
import { atMost, percentile, report } from "./report.ts"
import { START_FLAGS } from "./startFlags.ts"

const PER_SECOND = 250
const SECONDS = 6
const ROUNDS = 4
const SLOT_MS = 400
/** The most that p99 may be beside blocks, of what it is without. */
const MOST_RATIO = 2

const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const sleep = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms))

const serviceOver = async (rpcUrl: string) => {
  const file = new URL("http/fathomServer.ts", import.meta.url).pathname
  const child = spawn(process.execPath, [...START_FLAGS, file, rpcUrl], { stdio: ["ignore", "pipe", "inherit"] })
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith("{")) {
      const { port }: { readonly port: number } = JSON.parse(line)
      return { port, stop: () => child.kill("SIGKILL") }
    }
  }
  throw new Error("the service ended without a word")
}

const counted = { sent: 0, failed: 0 }

const ask = (port: number): Promise<void> =>
  new Promise((resume, fail) => {
    get({ port, agent, ...requestOf(counted.sent++) }, (response) => {
      counted.failed += response.statusCode === 200 ? 0 : 1
      response.resume().on("end", resume)
    }).on("error", fail)
  })

/** Latencies of requests sent at a steady pace, independent of the answers. */
const paced = async (port: number, seconds: number): Promise<ReadonlyArray<number>> => {
  const startedAt = performance.now()
  const asked: Array<Promise<number>> = []
  while (asked.length < seconds * PER_SECOND) {
    const dueAt = startedAt + (asked.length * 1000) / PER_SECOND
    if (dueAt > performance.now()) {
      await sleep(1)
    } else {
      asked.push(ask(port).then(() => performance.now() - dueAt))
    }
  }
  return Promise.all(asked)
}

const chain = await startBlockServer()
const { port, stop } = await serviceOver(`http://127.0.0.1:${chain.port}`)
// The feed starts at the newest block, because the chain has no earlier ones.
const state = { head: 0, moving: false }
chain.reach(state.head)
const clock = setInterval(() => {
  state.head += state.moving ? 1 : 0
  chain.reach(state.head)
}, SLOT_MS)

const samples = { quiet: new Array<number>(), beside: new Array<number>() }
const delay = monitorEventLoopDelay({ resolution: 1 })
// Threads start and code warms up, with blocks as without.
state.moving = true
await paced(port, SECONDS)
delay.enable()
for (let round = 0; round < ROUNDS; round++) {
  for (const kind of ["quiet", "beside"] as const) {
    state.moving = kind === "beside"
    await sleep(2 * SLOT_MS)
    samples[kind].push(...(await paced(port, SECONDS)))
  }
}
delay.disable()
clearInterval(clock)
stop()
chain.stop()
agent.destroy()

const summary = (taken: ReadonlyArray<number>) => {
  const at = (p: number) => Number((percentile(taken, p) ?? 0).toFixed(2))
  return { requests: taken.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}
const [quiet, beside] = [summary(samples.quiet), summary(samples.beside)]

const figures = {
  blockMegabytes: Number((chain.bytes / 1e6).toFixed(2)),
  quotesPerSecond: PER_SECOND,
  quiet,
  beside,
  failed: counted.failed,
  ratioP99: Number((beside.p99 / quiet.p99).toFixed(2)),
  delayP99: Number((delay.percentile(99) / 1e6 - 1).toFixed(2))
}

report("beside", figures, [
  atMost("p99 beside blocks, of the quiet one", figures.ratioP99, MOST_RATIO),
  atMost("Failed quotes", counted.failed, 0)
])
