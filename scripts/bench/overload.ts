/**
 * The service under floods, over real sockets with the simulated node: `node scripts/bench/overload.ts [--json]`.
 *
 * 3,000 parallel requests on one key (cached, never used, on the default handler) and on 3,000 unknown keys, with the latency
 * of another key and the processor time of a request meanwhile (the first flood, which compiles the code, is listed beside the
 * others); then 1,000 mints that do not exist, with the time until a real cold mint is quoted beside them.
 * Clients run in processes of their own. It fails when a flood on one key gets another status than 200 and 429.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { checksum } from "../../src/access/keyFormat.ts"
import { addressFromBytes, SOL, USDC } from "../../src/domain/Address.ts"
import type { Job, Outcome } from "./overloadClient.ts"
import { report } from "./report.ts"
import { treeUse } from "./start/processTree.ts"

const FLOOD = 3000
const JUNK = 1000
const START_LIMIT_MS = 120_000
const PROBE_EVERY_MS = 50
const MOST_DELAY_MS = 2000
const MOST_SLOWDOWN = 3

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const file = (name: string) => new URL(name, import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), "fathom-overload-"))
const dataDir = join(folder, "data")

interface Ready {
  readonly baseUrl: string
  readonly pid: number
  readonly keys: { readonly all: string }
  readonly mints: ReadonlyArray<string>
}

const start = async (settings: Record<string, string>) => {
  const ready = join(folder, "ready")
  const child = spawn(
    process.execPath,
    ["--max-semi-space-size=64", file("../start.mjs"), "--port", "0", "--data-dir", dataDir, "--ready-file", ready],
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, SIMULATOR_HISTORY: "0", ...settings } }
  )
  const abort = () => {
    child.kill("SIGTERM")
    process.exit(1)
  }
  process.once("SIGTERM", abort).once("SIGINT", abort)
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  for (let waited = 0; !existsSync(ready); waited += 100) {
    if (waited > START_LIMIT_MS || child.exitCode !== null) {
      child.kill("SIGKILL")
      throw new Error("the service did not start")
    }
    await pause(100)
  }
  const info: Ready = JSON.parse(readFileSync(ready, "utf8"))
  const stop = async () => {
    child.kill("SIGTERM")
    await ended
  }
  return { ...info, port: Number(new URL(info.baseUrl).port), stop }
}

const newKey = async (name: string): Promise<string> => {
  const child = spawn(
    process.execPath,
    [file("../../src/main.ts"), "keys", "create", "--name", name, "--scope", "md.read", "--json"],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, DATA_DIR: dataDir, KEY_ENVIRONMENT: "test" } }
  )
  const made: { readonly secret: string } = JSON.parse(await text(child.stdout))
  return made.secret
}

const unknownKey = (n: number): string => {
  const body = `svc_test_${String(n).padStart(30, "0")}`
  return body + checksum(body)
}

const run = async (job: Job): Promise<Outcome> => {
  const child = spawn(process.execPath, [file("overloadClient.ts")], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  child.stdin.end(JSON.stringify(job))
  return JSON.parse(await text(child.stdout))
}

const quote = (mint: string) => `/api/v1/spot/quote?inputMint=${mint}&outputMint=${SOL}&amount=1000000&slippageBps=50`
const repeat = (count: number, path: string, key: string): Job["calls"] =>
  Array.from({ length: count }, () => ({ path, key }))

const isAllowed = (outcome: Outcome) =>
  Object.keys(outcome.statuses).every((status) => status === "200" || status === "429")

const first = await start({})
const mints = first.mints.filter((mint) => mint !== USDC && mint !== SOL)
await first.stop()
const [warm = "", ...cold] = mints
const service = await start({ PRELOAD_MINTS: `${USDC},${warm}` })
const { pid, port } = service
const names = ["probe", "first", "cached", "fresh", "default", "alone", "junk", "beside"]
const keys: Record<string, string> = {}
for (const name of names) {
  keys[name] = await newKey(name)
}
const key = (name: string) => keys[name] ?? ""

/** The latency of another key while the flood runs, in requests at a steady pace. */
const probe = (count: number) =>
  run({ port, connections: 4, everyMs: PROBE_EVERY_MS, calls: repeat(count, quote(warm), key("probe")) })

const PROBES = 40

/** A flood beside the probes, and the processor time of the service in microseconds for each request of both. */
const flood = async (calls: Job["calls"]) => {
  const before = treeUse(pid).serviceSeconds
  const probing = probe(PROBES)
  await pause(500)
  const flooded = await run({ port, connections: calls.length, calls })
  const other = await probing
  const cpuUs = Math.round(((treeUse(pid).serviceSeconds - before) * 1e6) / (calls.length + PROBES))
  return { flood: flooded, other, cpuUs }
}

/** Milliseconds until the mint is quoted, by a client that asks again after each `Retry-After` or every 100 ms. */
const quotedAfter = async (mint: string, name: string, obeys: boolean) => {
  const startedAt = performance.now()
  for (let tries = 0; tries < 300; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}${quote(mint)}`, {
      headers: { authorization: `Bearer ${key(name)}` }
    })
    await response.arrayBuffer()
    if (response.status === 200) {
      return Math.round(performance.now() - startedAt)
    }
    await pause(obeys ? 1000 * Number(response.headers.get("retry-after") ?? 1) : 100)
  }
  return null
}

try {
  // Most of the code runs for the first time here; the comparison with the quiet service begins afterwards.
  const firstFlood = await flood(repeat(FLOOD, quote(warm), key("first")))
  const quiet = await probe(80)
  await run({ port, connections: 1, calls: repeat(1, quote(warm), key("cached")) })
  const floods = {
    cached: await flood(repeat(FLOOD, quote(warm), key("cached"))),
    neverUsed: await flood(repeat(FLOOD, quote(warm), key("fresh"))),
    defaultHandler: await flood(repeat(FLOOD, `/api/v1/tokens/solana/${warm}`, key("default"))),
    unknownKeys: await flood(Array.from({ length: FLOOD }, (_, n) => ({ path: quote(warm), key: unknownKey(n) })))
  }

  const alone = await quotedAfter(cold[0] ?? "", "alone", false)
  const junk = run({
    port,
    connections: 64,
    calls: Array.from({ length: JUNK }, () => ({ path: quote(addressFromBytes(randomBytes(32))), key: key("junk") }))
  })
  await pause(300)
  const [beside, sameKey, junkOutcome] = await Promise.all([
    quotedAfter(cold[1] ?? "", "beside", false),
    quotedAfter(cold[2] ?? "", "junk", true),
    junk
  ])

  const slowdown = Math.max(...Object.values(floods).map(({ other }) => (other.p99Ms ?? 0) / (quiet.p99Ms ?? 1)))
  const passed = {
    statuses: [firstFlood, floods.cached, floods.neverUsed, floods.defaultHandler].every((each) =>
      isAllowed(each.flood)
    ),
    otherKey: slowdown <= MOST_SLOWDOWN,
    coldMint: alone !== null && beside !== null && beside - alone <= MOST_DELAY_MS
  }
  report("overload", {
    firstFlood,
    quiet,
    ...floods,
    slowdown: Math.round(slowdown * 100) / 100,
    coldMint: { aloneMs: alone, besideFloodMs: beside, onFloodingKeyMs: sameKey, junk: junkOutcome },
    passed
  })
  process.exitCode = passed.statuses ? 0 : 1
} finally {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}
