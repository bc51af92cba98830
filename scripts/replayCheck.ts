/**
 * Records a service on a simulated node, kills it, replays its recording twice, and compares answers: of the two replays to
 * the byte, and of the replay with those that the service gave live at the last slot. Answers with `atSlot` are compared with
 * those that the service gave live at these slots.
 *
 *   npm run replay:check -- [--slots 60] [--json]
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { SOL } from "../src/domain/Address.ts"
import { Simulator } from "../src/simulator/Simulator.ts"
import { report } from "./bench/report.ts"
import { flagNumber } from "./options.ts"

const isJson = process.argv.includes("--json")
const slots = flagNumber("slots", 60, { whole: true })
const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "fathom-replay-check-"))
const recording = join(folder, "recording")
const children = new Set<ChildProcess>()

/** Slots at which answers of the live service are kept. */
const PAST_SLOTS = 3
const WAIT_MS = 180_000
const LOOK_MS = 250

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const say = (text: string) => void (isJson || process.stdout.write(`${text}\n`))

const until = async <A>(what: string, look: () => A | null | Promise<A | null>): Promise<A> => {
  const startedAt = performance.now()
  while (performance.now() - startedAt < WAIT_MS) {
    const seen = await look()
    if (seen !== null) {
      return seen
    }
    await pause(LOOK_MS)
  }
  throw new Error(`${what}: not within ${WAIT_MS / 1000} s`)
}

/** A service of its own in this folder of `folder`, without a search for older blocks. Settings of the caller's environment do not reach it. */
const launch = (name: string, settings: Readonly<Record<string, string>>, args: ReadonlyArray<string> = []) => {
  const ready = join(folder, `${name}.ready`)
  const { HOME = "", PATH = "" } = process.env
  const env = {
    HOME,
    PATH,
    DATA_DIR: join(folder, name),
    RECORD_DIR: recording,
    LOG_LEVEL: "warn",
    HISTORY: "0 seconds",
    ...settings
  }
  const child = spawn(process.execPath, [main, "--port", "0", "--ready-file", ready, ...args], {
    env,
    stdio: ["ignore", "ignore", "inherit"]
  })
  children.add(child)
  return { child, env, ready }
}

interface Ready {
  readonly baseUrl: string
  readonly keys: { readonly all: string } | null
}

const readyOf = (file: string, child: ChildProcess) =>
  until("the start of a service", (): Ready | null => {
    if (child.exitCode !== null) {
      throw new Error(`the service ended with ${child.exitCode}`)
    }
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null
  })

const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.kill(signal)
  await ended
  children.delete(child)
}

/** A key of a service beside a node, which prints none. */
const createKey = async (env: Readonly<Record<string, string>>): Promise<string> => {
  const child = spawn(process.execPath, [main, "keys", "create", "--name", "check"], {
    env,
    stdio: ["ignore", "pipe", "inherit"]
  })
  let text = ""
  child.stdout.on("data", (part: Buffer) => (text += part.toString()))
  await new Promise((resolve) => child.once("exit", resolve))
  const [key] = /svc_\w+/u.exec(text) ?? []
  if (key === undefined) {
    throw new Error(`no key was created: ${text}`)
  }
  return key
}

type Answer = Record<string, unknown>

const ask = async (base: string, key: string, path: string): Promise<Answer> => {
  const response = await fetch(`${base}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
  if (response.status === 429) {
    await pause(1000)
    return ask(base, key, path)
  }
  return { status: response.status, body: await response.json() }
}

/** Random in every answer. */
const RANDOM = new Set(["requestId", "engineTimeMs"])
/**
 * Times of the process, and how far a source was: they differ between a service that waits for its node and a replay that
 * stands at its last slot. Every other figure has to be equal.
 */
const OF_PROCESS = new Set([
  ...RANDOM,
  "expiresAtMs",
  "quotedAtMs",
  "stateAgeMs",
  "meta",
  "ageMs",
  "asOfMs",
  "observedAtMs"
])

/** What a past market does not know, beside times of the process. A live answer also names the slot that has begun. */
const OF_PRESENT = new Set([...OF_PROCESS, "contextSlot", "volume24hUsd", "createdAtMs", "imageUrl", "provenAtSlot"])

const without = (value: unknown, left: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) {
    return value.map((each) => without(each, left))
  }
  return value !== null && typeof value === "object"
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, each]) => (left.has(name) ? [] : [[name, without(each, left)]]))
      )
    : value
}

/**
 * The slots of a service: of its accounts, which includes the slot that has begun, and of its newest block. Also
 * whether it has looked for everything from before its start, which the reasons of missing figures tell.
 */
const slotsOf = async (base: string, key: string) => {
  const { body } = await ask(base, key, "freshness")
  const { data } = body as {
    readonly data: ReadonlyArray<{ readonly source: string; readonly slot?: number; readonly share?: number }>
  }
  const slotOf = (name: string) => data.find(({ source }) => source === name)?.slot ?? 0
  const share = data.find(({ source }) => source === "backfill")?.share ?? 1
  return { chain: slotOf("chain"), blocks: slotOf("blocks"), hasHistory: share === 1 }
}

/** The answers by path, once the service has this block and this slot of the chain. */
const answersAt = async (
  base: string,
  key: string,
  { block, chain }: { readonly block: number; readonly chain: number },
  mints: ReadonlyArray<string>
) => {
  await until("the last slot", async () => {
    const slots = await slotsOf(base, key)
    return slots.chain >= chain && slots.blocks >= block && slots.hasHistory ? true : null
  })
  await pause(2000)
  return answersTo(base, key, mints.flatMap(pathsOf))
}

const quotesOf = (mint: string) =>
  ["1000000", "1000000000"].flatMap((amount) => [
    `spot/quote?inputMint=${SOL}&outputMint=${mint}&amount=${amount}`,
    `spot/quote?inputMint=${mint}&outputMint=${SOL}&amount=${amount}`
  ])

const pathsOf = (mint: string) => [
  ...quotesOf(mint),
  `tokens/solana/${mint}/trades?limit=100`,
  `tokens/solana/${mint}/stats`,
  `tokens/solana/${mint}/liquidity`,
  `market/chart/${mint}?resolution=15s&limit=100`
]

/** Paths that can also be asked of a past slot. */
const pastPathsOf = (mint: string) => [...quotesOf(mint), `tokens/solana/${mint}/liquidity?limit=20`]

const answersTo = async (base: string, key: string, paths: ReadonlyArray<string>) => {
  const answers = new Map<string, Answer>()
  for (const path of paths) {
    // The first request of a mint may find it cold.
    const answer = await until(path, async () => {
      const each = await ask(base, key, path)
      return each["status"] === 503 && JSON.stringify(each).includes("cold") ? null : each
    })
    answers.set(path, answer)
  }
  return answers
}

/** The later answers under the paths of the earlier ones. */
const inOrderOf = (earlier: ReadonlyMap<string, Answer>, later: ReadonlyMap<string, Answer> = new Map()) =>
  new Map(Array.from(earlier.keys(), (path, i) => [path, Array.from(later.values())[i] ?? {}]))

const record = Effect.gen(function* () {
  const { advance, mints, rpcUrl, wsUrl } = yield* Simulator
  const chosen = mints().map(({ address }) => address as string)
  const asked = chosen.filter((mint) => mint !== SOL)
  const live = launch("live", {
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    RECORD: "on",
    STALE_AFTER: "10 minutes",
    SOLANA_WATCHDOG: "10 minutes",
    PRELOAD_MINTS: chosen.join(",")
  })
  const { baseUrl } = yield* Effect.promise(() => readyOf(live.ready, live.child))
  const key = yield* Effect.promise(() => createKey(live.env))
  // The service hears of the chain with its first slots.
  yield* advance(2)
  // The first answers of each mint read its accounts, which are followed from here on.
  yield* Effect.promise(() => answersAt(baseUrl, key, { block: 0, chain: 1 }, asked))
  const begun = yield* Effect.promise(() => slotsOf(baseUrl, key))
  say(`The service records at ${baseUrl}`)
  /** Live answers at slots on the way. */
  const past: Array<{ readonly slot: number; readonly answers: ReadonlyMap<string, Answer> }> = []
  for (let at = 1; at <= slots; at++) {
    yield* advance(1)
    yield* Effect.sleep("200 millis")
    if (at % Math.ceil(slots / PAST_SLOTS) === 0) {
      yield* Effect.sleep("2 seconds")
      // The slot after it has begun, and has no writes yet.
      const { blocks: slot } = yield* Effect.promise(() => slotsOf(baseUrl, key))
      past.push({ slot, answers: yield* Effect.promise(() => answersTo(baseUrl, key, asked.flatMap(pastPathsOf))) })
    }
  }
  const last = yield* Effect.promise(() =>
    fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getSlot", params: [] })
    }).then(async (answer) => ((await answer.json()) as { readonly result: number }).result)
  )
  const answers = yield* Effect.promise(() => answersAt(baseUrl, key, { block: last, chain: last }, asked))
  const { chain } = yield* Effect.promise(() => slotsOf(baseUrl, key))
  // The recorder writes once a second.
  yield* Effect.sleep("3 seconds")
  const again: Array<ReadonlyMap<string, Answer>> = []
  for (const { slot } of past) {
    const paths = asked.flatMap(pastPathsOf).map((path) => `${path}&atSlot=${slot}`)
    again.push(yield* Effect.promise(() => answersTo(baseUrl, key, paths)))
  }
  const pastDiffers = past.flatMap(({ answers }, i) => differing(answers, inOrderOf(answers, again[i]), OF_PRESENT))
  yield* Effect.promise(() => end(live.child, "SIGKILL"))
  const pastAsked = past.reduce((sum, each) => sum + each.answers.size, 0)
  return { range: { from: begun.chain + 2, block: last, chain }, answers, asked, pastAsked, pastDiffers }
}).pipe(Effect.provide(Simulator.layer({ seed: "replay", speed: 0, swapsPerSecond: 40, history: 0 })))

const replay = async (
  name: string,
  range: { readonly from: number; readonly block: number; readonly chain: number },
  mints: ReadonlyArray<string>
) => {
  const { child, ready } = launch(name, {}, [
    "--source",
    "replay",
    "--speed",
    "max",
    "--from",
    String(range.from),
    "--to",
    String(range.chain)
  ])
  const { baseUrl, keys } = await readyOf(ready, child)
  const answers = await answersAt(baseUrl, keys?.all ?? "", range, mints)
  await end(child, "SIGTERM")
  say(`${name}: ${answers.size} answers at slot ${range.chain}`)
  return answers
}

/** Paths whose answers differ, without the members that are left out. */
const differing = (a: ReadonlyMap<string, Answer>, b: ReadonlyMap<string, Answer>, left: ReadonlySet<string>) =>
  Array.from(a).flatMap(([path, answer]) => {
    const [one, other] = [answer, b.get(path)].map((each) => JSON.stringify(without(each, left)))
    if (one === other) {
      return []
    }
    // What lies around the first difference.
    const at = Array.from(one ?? "").findIndex((letter, place) => letter !== other?.[place])
    const [from, to] = [Math.max(0, at - 80), at + 80]
    return [{ path, one: one?.slice(from, to), other: other?.slice(from, to) }]
  })

try {
  const { answers, asked, pastAsked, pastDiffers, range } = await Effect.runPromise(Effect.scoped(record))
  const first = await replay("first", range, asked)
  const second = await replay("second", range, asked)
  const bytes = differing(first, second, RANDOM)
  const figures = differing(answers, first, OF_PROCESS)
  const answered = Array.from(answers.values()).filter(({ status }) => status === 200).length
  const digest = createHash("sha256")
    .update(JSON.stringify(without(Array.from(first), RANDOM)))
    .digest("hex")
  const verdict = {
    slots,
    last: range.chain,
    asked: answers.size,
    answered,
    replaysDiffer: bytes.length,
    liveDiffers: figures.length,
    pastAsked,
    pastDiffers: pastDiffers.length,
    digest
  }
  const refused = Array.from(answers).flatMap(([path, { body, status }]) =>
    status === 200 ? [] : [`${path}: ${String(status)} ${JSON.stringify(body).slice(0, 200)}`]
  )
  if (!isJson) {
    refused.slice(0, 5).forEach((line) => say(`  ${line}`))
    for (const { one, other, path } of [...pastDiffers, ...bytes, ...figures].slice(0, 10)) {
      say(`  ${path}\n    ${one}\n    ${other}`)
    }
  }
  report(
    "replay:check",
    isJson ? { ...verdict, differences: [...bytes, ...figures, ...pastDiffers].slice(0, 20) } : verdict
  )
  process.exitCode = bytes.length + figures.length + pastDiffers.length === 0 && pastAsked > 0 && answered > 0 ? 0 : 1
} finally {
  children.forEach((child) => child.kill("SIGKILL"))
  rmSync(folder, { recursive: true, force: true })
}
