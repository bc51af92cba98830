/**
 * Time, memory and processor share of a start: `node scripts/bench/start.ts [--json] [--minutes N] [--restarts N] [--tree DIR]`.
 *
 * The service runs as `npm start` runs it, once on an empty data folder and then again on the same one; milliseconds count
 * from the spawn until `/livez` answers, the ready file exists and a quote is answered with 200. `market` says when the newest
 * hour and the day of the simulated market are whole, after how many seconds of processor time, and how long quotes take
 * meanwhile. `recordedPast` and `bundle` say whether the past that the build records was there and whether the service ran from
 * its bundle: without them a start takes several times as long (`npm run bundle` makes both).
 *
 * Processor time is what all threads and processes of the service have used since the spawn, without PostgreSQL. With a
 * recorded past, the simulated chain makes its own past only after the day is whole, because nobody waits for it. So
 * `daySeconds` does not contain that work, and `chainSeconds` does: it counts until 20 seconds after the day.
 *
 * Then the default market and a real-node configuration over a simulated node in another process each run for
 * N minutes (2; with 0 they do not run): resident memory of the service and of PostgreSQL apart, and the share of a core
 * over the second minute. `--tree` measures another checkout.
 * Reads /proc, so it needs Linux.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { percentile, report } from "./report.ts"
import { threadSeconds, treeUse } from "./start/processTree.ts"
import { type Service, sleep, startService, timeCommand, untilWhole } from "./start/service.ts"
import { numberOption } from "../options.ts"

/** What `scripts/bundle.mjs` of the measured tree exports. */
interface Bundle {
  readonly freshBundle: () => URL | null
  /** Absent in an older checkout. */
  readonly recordedPast?: () => string | null
}

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    minutes: { type: "string", default: "2" },
    restarts: { type: "string", default: "5" },
    tree: { type: "string", default: join(import.meta.dirname, "../..") }
  }
})
const minutes = numberOption("--minutes", values.minutes, { least: 0 })
const restarts = numberOption("--restarts", values.restarts, { whole: true })
const tree = resolve(values.tree)

const median = (samples: ReadonlyArray<number>): number | null => percentile(samples, 0.5)
const round = (value: number, digits = 0): number => Number(value.toFixed(digits))

/** Memory after the given minutes, and shares of a core over the second minute. */
const observe = async ({ pid }: Service) => {
  await sleep(60_000)
  const [before, threadsBefore] = [treeUse(pid), threadSeconds(pid)]
  await sleep(60_000)
  const [after, threads] = [treeUse(pid), threadSeconds(pid)]
  const share = (seconds: number) => round((seconds / 60) * 100, 1)
  const byThread = Object.entries(threads).map(
    ([name, seconds]) => [name, share(seconds - (threadsBefore[name] ?? 0))] as const
  )
  await sleep(Math.max(0, minutes - 2) * 60_000)
  const { databaseMb, databaseProcesses, peakMb, serviceMb } = treeUse(pid)
  return {
    minutes,
    serviceMb: round(serviceMb),
    peakMb: round(peakMb),
    databaseMb: round(databaseMb),
    databaseProcesses,
    idlePercent: share(after.serviceSeconds - before.serviceSeconds),
    databaseIdlePercent: share(after.databaseSeconds - before.databaseSeconds),
    idlePercentByThread: Object.fromEntries(byThread.filter(([, percent]) => percent >= 0.1))
  }
}

/** Calls `use` with a new folder, which is removed afterwards. */
const withFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-start-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const startedOnce = async (folder: string, settings: NodeJS.ProcessEnv) => {
  const service = await startService(tree, folder, settings)
  const processorSeconds = treeUse(service.pid).serviceSeconds
  return { service, times: { ...service.times, processorSeconds } }
}

const simulated = () =>
  withFolder(async (folder) => {
    const first = await startedOnce(folder, {})
    const market = await untilWhole(first.service)
    // A command beside the running service, as an operator runs it.
    const keys = async () => (await timeCommand(tree, "keys", ["list"], { DATA_DIR: join(folder, "data") })).ms
    const keysFirst = await keys()
    const keysAgain = [await keys(), await keys(), await keys()]
    await first.service.stop()
    const again: Array<typeof first.times> = []
    for (let i = 0; i < restarts; i++) {
      const { service, times } = await startedOnce(folder, {})
      again.push(times)
      await service.stop()
    }
    const middle = (value: (times: typeof first.times) => number) => median(again.map(value))
    return {
      first: first.times,
      market,
      again: {
        starts: restarts,
        listening: middle(({ listening }) => listening),
        readyFile: middle(({ readyFile }) => readyFile),
        firstQuote: middle(({ firstQuote }) => firstQuote),
        fastestQuote: Math.min(...again.map(({ firstQuote }) => firstQuote)),
        processorSeconds: middle(({ processorSeconds }) => processorSeconds)
      },
      keysList: { first: keysFirst, again: median(keysAgain) }
    }
  })

const simulatedUse = () =>
  withFolder(async (folder) => {
    const service = await startService(tree, folder, {})
    return observe(service).finally(service.stop)
  })

const startChain = async () => {
  const file = new URL("start/chain.ts", import.meta.url).pathname
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] })
  for await (const line of createInterface(child.stdout)) {
    const { rpcUrl, wsUrl }: { readonly rpcUrl: string; readonly wsUrl: string } = JSON.parse(line)
    return { settings: { SOLANA_RPC_URL: rpcUrl, SOLANA_WS_URL: wsUrl }, stop: () => child.kill("SIGKILL") }
  }
  throw new Error("the simulated node did not start")
}

const realUse = () =>
  withFolder(async (folder) => {
    const chain = await startChain()
    try {
      const settings = { ...chain.settings, DATA_DIR: join(folder, "data") }
      const created = await timeCommand(tree, "keys", ["create", "--json"], settings)
      const { secret }: { readonly secret: string } = JSON.parse(created.output)
      const service = await startService(tree, folder, { ...settings, BENCH_KEY: secret })
      return await observe(service)
        .then((use) => ({ ...service.times, ...use }))
        .finally(service.stop)
    } finally {
      chain.stop()
    }
  })

if (process.platform !== "linux") {
  process.stderr.write("bench:start reads /proc, which only Linux has.\n")
  process.exit(1)
}

const { freshBundle, recordedPast }: Bundle = await import(pathToFileURL(join(tree, "scripts/bundle.mjs")).href)
const built = { recordedPast: (recordedPast?.() ?? null) !== null, bundle: freshBundle() !== null }
const starts = { ...built, ...(await simulated()) }
const observed = minutes === 0 ? {} : { defaultMarket: await simulatedUse(), realNode: await realUse() }
report("start", { ...starts, ...observed })
