/** A service in a process of its own, started as `npm start` starts it. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { get } from "node:http"
import { createServer } from "node:net"
import { join } from "node:path"
import { percentile } from "../report.ts"
import { threadSeconds, treeUse } from "./processTree.ts"

const SOL = "So11111111111111111111111111111111111111112"
const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
const QUOTE = `/api/v1/spot/quote?inputMint=${SOL}&outputMint=${USDC}&amount=1000000000`
const PATIENCE_MS = 300_000
/** Pause between two looks at the market. */
const LOOK_MS = 200
/** How long the simulated chain gets after the day to make its own past. It takes six seconds on a quiet machine. */
const CHAIN_MS = 20_000
/** How old the newest stored trade may be. The simulated chain has a trade every few seconds. */
const BEHIND_MS = 30_000

export const sleep = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms))

/** The arguments of a script of package.json, for the Node that runs this. */
export const scriptArguments = (tree: string, name: string): ReadonlyArray<string> => {
  const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(tree, "package.json"), "utf8")
  )
  return scripts[name]?.split(" ").slice(1) ?? []
}

/** A port of 127.0.0.1 that nothing listens on. */
export const freePort = (): Promise<number> =>
  new Promise((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resume(port))
    })
  })

const statusOf = (port: number, path: string, key = ""): Promise<number> =>
  new Promise((resume) => {
    get({ port, path, agent: false, headers: { Authorization: `Bearer ${key}` } }, (response) => {
      response.resume().on("end", () => resume(response.statusCode ?? 0))
    }).on("error", () => resume(0))
  })

const until = async <A>(condition: () => Promise<A | null>, what: string): Promise<A> => {
  const limit = performance.now() + PATIENCE_MS
  while (performance.now() < limit) {
    const reached = await condition()
    if (reached !== null) {
      return reached
    }
    await sleep(5)
  }
  throw new Error(`${what} did not come within ${PATIENCE_MS / 1000} seconds`)
}

/** Milliseconds from the spawn to each step of a start, and processor time until the first quote. */
export interface StartTimes {
  readonly listening: number
  readonly readyFile: number
  readonly firstQuote: number
}

/** A running service. */
export interface Service {
  readonly pid: number
  readonly port: number
  /** Secret of a key with every scope. */
  readonly key: string
  readonly times: StartTimes
  /** Milliseconds since the spawn. */
  readonly sinceMs: () => number
  readonly stop: () => Promise<void>
}

const ended = (child: ChildProcess) => new Promise<void>((resume) => child.once("exit", () => resume()))

/** Starts the service of a tree on a data folder, and waits until a quote over HTTP is answered with 200. */
export const startService = async (tree: string, folder: string, settings: NodeJS.ProcessEnv): Promise<Service> => {
  const port = await freePort()
  const ready = join(folder, "ready.json")
  const flags = ["--port", String(port), "--data-dir", join(folder, "data"), "--ready-file", ready]
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...scriptArguments(tree, "start"), ...flags], {
    cwd: tree,
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "inherit"]
  })
  const gone = ended(child)
  const stop = async () => {
    child.kill("SIGTERM")
    const late = setTimeout(() => child.kill("SIGKILL"), 15_000)
    await gone
    clearTimeout(late)
  }
  const since = () => Math.round(performance.now() - startedAt)
  const step = async (condition: () => Promise<boolean>, what: string) =>
    until(async () => {
      if (child.exitCode !== null) {
        throw new Error(`the service ended with ${child.exitCode}`)
      }
      return (await condition()) ? since() : null
    }, what)
  try {
    const listening = await step(async () => (await statusOf(port, "/livez")) === 200, "the listener")
    const readyFile = await step(() => Promise.resolve(existsSync(ready)), "the ready file")
    const { keys }: { readonly keys: { readonly all: string } | null } = JSON.parse(readFileSync(ready, "utf8"))
    const key = settings["BENCH_KEY"] ?? keys?.all ?? ""
    const firstQuote = await step(async () => (await statusOf(port, QUOTE, key)) === 200, "the first quote")
    return { pid: child.pid ?? 0, port, key, times: { listening, readyFile, firstQuote }, sinceMs: since, stop }
  } catch (cause) {
    await stop()
    throw cause
  }
}

interface Source {
  readonly source: string
  readonly status: string
  readonly lagMs: number | null
}

/** When a simulated market was whole, in milliseconds from the spawn, and how long quotes took until then. */
export interface WholeTimes {
  readonly newestHour: number
  readonly day: number
  /** Processor seconds of the service until the newest hour, and until the day was whole. */
  readonly newestHourSeconds: number
  readonly daySeconds: number
  /** The processor seconds until the day, by thread. */
  readonly daySecondsByThread: Readonly<Record<string, number>>
  /** Processor seconds 20 seconds after the day. On a quiet machine the simulated chain has made its own past by then. */
  readonly chainSeconds: number
  /** Milliseconds of the quotes meanwhile; null without one. */
  readonly quoteP50: number | null
  readonly quoteP99: number | null
}

/**
 * Waits until the market of a service is whole, and asks for quotes meanwhile. The newest hour is whole once the newest
 * blocks are read and stored, and the day once the earlier ones are too.
 */
export const untilWhole = async ({ key, pid, port, sinceMs }: Service): Promise<WholeTimes> => {
  const quotes: Array<number> = []
  let newestHour: { readonly ms: number; readonly seconds: number } | null = null
  await until(async () => {
    const askedAt = performance.now()
    await statusOf(port, QUOTE, key)
    quotes.push(performance.now() - askedAt)
    await sleep(LOOK_MS)
    const response = await fetch(`http://127.0.0.1:${port}/freshness`)
    const { data }: { readonly data: ReadonlyArray<Source> } = await response.json()
    const isKnown = (name: string) => data.some(({ source, status }) => source === name && status === "known")
    const isCurrent = data.some(({ lagMs, source }) => source === "trades" && lagMs !== null && lagMs < BEHIND_MS)
    if (isKnown("block_feed") && isCurrent) {
      newestHour ??= { ms: sinceMs(), seconds: treeUse(pid).serviceSeconds }
    }
    return newestHour !== null && isKnown("backfill") ? true : null
  }, "the whole market")
  const [day, daySeconds, threads] = [sinceMs(), treeUse(pid).serviceSeconds, threadSeconds(pid)]
  const hour = newestHour ?? { ms: day, seconds: daySeconds }
  await sleep(CHAIN_MS)
  const [quoteP50, quoteP99] = [0.5, 0.99].map((share) => percentile(quotes, share))
  return {
    newestHour: hour.ms,
    newestHourSeconds: Number(hour.seconds.toFixed(1)),
    day,
    daySeconds: Number(daySeconds.toFixed(1)),
    daySecondsByThread: Object.fromEntries(Object.entries(threads).filter(([, seconds]) => seconds >= 0.1)),
    chainSeconds: Number(treeUse(pid).serviceSeconds.toFixed(1)),
    quoteP50: quoteP50 ?? null,
    quoteP99: quoteP99 ?? null
  }
}

/** Runs a command of a tree to its end, as milliseconds and its output. */
export const timeCommand = async (
  tree: string,
  name: string,
  more: ReadonlyArray<string>,
  settings: NodeJS.ProcessEnv
): Promise<{ readonly ms: number; readonly output: string }> => {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...scriptArguments(tree, name), ...more], {
    cwd: tree,
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let output = ""
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
  await ended(child)
  if (child.exitCode !== 0) {
    throw new Error(`${name} ended with ${child.exitCode}`)
  }
  return { ms: Math.round(performance.now() - startedAt), output }
}
