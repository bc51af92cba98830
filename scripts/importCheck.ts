/**
 * Reads a simulated chain live, and imports the same blocks into five other databases: from the node, from files of JSON, from a
 * portal, from a CAR file and from a file of Protobuf. Compares every answer of services on the databases.
 *
 *   npm run import:check -- [--json] [--history 0] [--slots 400] [--speed 4] [--swaps 10] [--kills 3] [--sources node,file,portal,car,protobuf]
 *
 * `--history` is the simulated past in hours. The import from files is killed with `kill -9` several times and started again.
 * Exits with 1 unless no figure differs and every stretch of blocks is whole.
 */
import { Clock, Duration, Effect, Logger, Redacted, Schedule } from "effect"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdCompressSync } from "node:zlib"
import { parseArgs } from "node:util"
import { carOf } from "../test/chain/importing/carFile.ts"
import { placedInfo, protoOf } from "../test/chain/importing/protoFile.ts"
import { infoOf, type JsonTransaction } from "../test/chain/decoding/wireForm.ts"
import { report } from "./bench/report.ts"
import { at, compare, type Difference, questionsOf, type ServiceAccess, sourceState } from "./chaos/repair/answers.ts"
import { startChain } from "./chaos/repair/startChain.ts"
import { embedded, HERE, issueUnlimited, keyStore, service } from "./chaos/service.ts"
import { numberOption } from "./options.ts"
import { type Json, servePortal } from "./importCheck/portalServer.ts"

const SOURCES = ["node", "file", "portal", "car", "protobuf"]

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    history: { type: "string", default: "0" },
    slots: { type: "string", default: "400" },
    speed: { type: "string", default: "4" },
    swaps: { type: "string", default: "10" },
    kills: { type: "string", default: "3" },
    sources: { type: "string", default: SOURCES.join() }
  }
})
const history = numberOption("--history", values.history, { least: 0 })
const slots = numberOption("--slots", values.slots, { whole: true })
const speed = numberOption("--speed", values.speed)
const kills = numberOption("--kills", values.kills, { whole: true, least: 0 })
const swaps = numberOption("--swaps", values.swaps)
const chosen = values.sources.split(",")
const unknown = chosen.find((name) => !SOURCES.includes(name))
if (unknown !== undefined) {
  process.stderr.write(`--sources knows ${SOURCES.join(", ")}, not ${unknown}\n`)
  process.exit(2)
}
const SAMPLE_WALLETS = 20
const PATIENCE = "20 minutes"

const settings = {
  HISTORY: "0 seconds",
  STALE_AFTER: "2 hours",
  SOLANA_WATCHDOG: "2 hours",
  RESTORE_PATIENCE: "5 minutes",
  SOLANA_BLOCK_CATCH_UP: "1000000",
  SOLANA_BLOCK_CONCURRENCY: "6",
  DISCOVERY_RATE: "2000"
}

const until = (what: string, look: Effect.Effect<boolean>) =>
  look.pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("300 millis") }),
    Effect.timeout(PATIENCE),
    Effect.catchTag("TimeoutError", () => Effect.die(new Error(`${what} did not come`))),
    Effect.timed,
    Effect.tap(([took]) => Effect.sync(() => process.stderr.write(`${what}: ${Duration.format(took)}\n`)))
  )

const call = async (rpcUrl: string, method: string, params: ReadonlyArray<unknown>): Promise<Json> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  const response = await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
  const answer: { result: Json } = JSON.parse(await response.text())
  return answer.result
}

/** Every block of the chain. */
const blocksOf = async (rpcUrl: string, encoding = "json"): Promise<ReadonlyMap<number, Json>> => {
  const blocks = new Map<number, Json>()
  const options = { encoding, maxSupportedTransactionVersion: 0, rewards: false }
  let next = 0
  while (true) {
    const listed = (await call(rpcUrl, "getBlocksWithLimit", [next, 1000])) as unknown as ReadonlyArray<number>
    for (const slot of listed) {
      blocks.set(slot, await call(rpcUrl, "getBlock", [slot, options]))
    }
    const last = listed.at(-1)
    if (last === undefined) {
      return blocks
    }
    next = last + 1
  }
}

const transactionsOf = (block: Json | undefined) => (block?.["transactions"] ?? []) as ReadonlyArray<Json>

/** The blocks as a CAR file: what was sent as bytes, and what became of it. */
const carFile = async (rpcUrl: string, blocks: ReadonlyMap<number, Json>): Promise<Buffer> => {
  const sent = await blocksOf(rpcUrl, "base64")
  return carOf(
    Array.from(blocks, ([slot, block]) => ({
      slot,
      parentSlot: Number(block["parentSlot"]),
      blockTime: Number(block["blockTime"]),
      blockhash: String(block["blockhash"]),
      transactions: transactionsOf(block).map((json, place) => ({
        json: json as unknown as JsonTransaction,
        sent: Buffer.from(String(at(transactionsOf(sent.get(slot))[place], "transaction", "0")), "base64")
      }))
    }))
  )
}

/** The blocks as a Geyser sends them. */
const protoFile = (blocks: ReadonlyMap<number, Json>): Buffer =>
  Buffer.concat(
    Array.from(blocks, ([slot, block]) => {
      const answer = {
        parentSlot: Number(block["parentSlot"]),
        blockTime: Number(block["blockTime"]),
        blockhash: String(block["blockhash"]),
        previousBlockhash: String(block["previousBlockhash"])
      }
      const transactions = transactionsOf(block) as unknown as ReadonlyArray<JsonTransaction>
      return protoOf(
        answer,
        slot,
        transactions.map((json, place) => placedInfo(infoOf(json), place))
      )
    })
  )

interface Imported {
  readonly blocks: number
  readonly trades: number
  readonly holes: number
  readonly days: ReadonlyArray<{ readonly missingSeconds: number }>
}

/** The chain of an import counts as being written for a while. */
const AFTER_IMPORT = "16 seconds"

/** Runs `data import` to its end, or kills it after a while. Null when it was killed. */
const runImport = (folder: string, args: ReadonlyArray<string>, killAfterMs: number | null) =>
  Effect.promise(
    () =>
      new Promise<Imported | null>((resume, reject) => {
        const words = [join(HERE, "src/main.ts"), "data", "import", "--json", ...args]
        const env = { PATH: process.env["PATH"], DATA_DIR: folder, LOG_LEVEL: "error" }
        const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] })
        const timer = killAfterMs === null ? null : setTimeout(() => child.kill("SIGKILL"), killAfterMs)
        let text = ""
        child.stdout.on("data", (part: Buffer) => (text += part.toString()))
        child.once("exit", (code, signal) => {
          clearTimeout(timer ?? undefined)
          const last = text.trim().split("\n").at(-1) ?? ""
          if (signal === "SIGKILL") {
            resume(null)
          } else if (code === 0) {
            resume(JSON.parse(last))
          } else {
            reject(new Error(`data import ended with ${code}`))
          }
        })
      })
  )

/** A service on a database, with a key. */
const serve = Effect.fnUntraced(function* (folder: string, rpcUrl: string) {
  const database = embedded(folder)
  const running = yield* service(folder, { ...database.settings, ...settings, SOLANA_RPC_URL: rpcUrl })
  const { secret } = yield* issueUnlimited("check").pipe(Effect.provide(keyStore(database.url)), Effect.orDie)
  const asked: ServiceAccess = { baseUrl: running.baseUrl, secret: Redacted.value(secret) }
  return { ...running, asked }
})

const hasState = (asked: ServiceAccess, source: string, holds: (state: unknown) => boolean) =>
  Effect.promise(async () => holds(await sourceState(asked, source)))

const run = Effect.fnUntraced(function* (folder: string) {
  const chain = yield* startChain({ seed: "import", speed, swapsPerSecond: swaps, history })
  const folderOf = (name: string) => {
    const path = join(folder, name)
    mkdirSync(path)
    return path
  }
  yield* until(
    "the chain is live",
    Effect.zipWith(chain.newestMs, Clock.currentTimeMillis, (madeMs, nowMs) => madeMs > nowMs - 10_000)
  )
  const live = yield* serve(folderOf("live"), chain.rpcUrl)
  const begun = yield* chain.newest
  yield* until(
    "the live service reads the chain",
    hasState(live.asked, "blocks", (state) => Number(at(state, "slot")) > 0)
  )
  yield* until(
    "the chain goes on",
    Effect.map(chain.newest, (slot) => slot > begun + slots)
  )
  const mints = yield* chain.command({ healthy: { halted: true } })
  const last = yield* chain.newest
  const reads = (name: string, { asked }: typeof live, slot: number) =>
    until(
      `the ${name} service has the block of slot ${slot}`,
      hasState(asked, "blocks", (state) => at(state, "slot") === slot)
    )
  yield* reads("live", live, last)

  const blocks = yield* Effect.promise(() => blocksOf(chain.rpcUrl))
  const [first = 0] = blocks.keys()
  const genesis = String(yield* Effect.promise(() => call(chain.rpcUrl, "getGenesisHash", [])))
  const file = join(folder, "blocks.ndjson.zst")
  const lines = Array.from(blocks, ([slot, block]) => JSON.stringify({ slot, block }))
  writeFileSync(file, zstdCompressSync(`${lines.join("\n")}\n`))
  const car = join(folder, "epoch-0.car")
  writeFileSync(car, yield* Effect.promise(() => carFile(chain.rpcUrl, blocks)))
  const proto = join(folder, "blocks.pb.zst")
  writeFileSync(proto, zstdCompressSync(protoFile(blocks)))
  const portal = yield* Effect.acquireRelease(
    Effect.promise(() => servePortal(blocks)),
    ({ close }) => Effect.sync(close)
  )
  const range = ["--from", String(first), "--to", String(last)]
  const sources = {
    node: ["--source", "rpc", "--url", chain.rpcUrl, ...range],
    file: ["--source", "file", "--path", file, "--genesis", genesis, ...range],
    portal: ["--source", "portal", "--url", portal.url, "--genesis", genesis, ...range],
    car: ["--source", "file", "--path", car, "--genesis", genesis, ...range],
    protobuf: ["--source", "file", "--path", proto, "--genesis", genesis, ...range]
  }
  const wallets = chain.wallets.slice(0, SAMPLE_WALLETS)
  const results: Record<string, unknown> = {}
  let differences = 0
  let isWhole = true
  for (const [name, args] of Object.entries(sources)) {
    if (!chosen.includes(name)) {
      continue
    }
    const own = folderOf(name)
    let killed = 0
    if (name === "file") {
      // The newest part comes first, so that the rest is stored before and between stored blocks.
      const middle = Array.from(blocks.keys())[Math.floor(blocks.size / 2)] ?? first
      yield* runImport(own, [...args.slice(0, -4), "--from", String(middle), "--to", String(middle + 200)], null)
      for (let n = 1; n <= kills; n++) {
        yield* Effect.sleep(AFTER_IMPORT)
        const ended = yield* runImport(own, [...args, "--rate", "400"], 1500 + 700 * n)
        killed += ended === null ? 1 : 0
      }
      yield* Effect.sleep(AFTER_IMPORT)
    }
    const [took, imported] = yield* Effect.timed(runImport(own, args, null))
    const other = yield* serve(own, chain.rpcUrl)
    const newest = yield* chain.newest
    yield* reads("live", live, newest)
    yield* reads(name, other, newest)
    yield* until(
      `the ${name} service misses nothing`,
      hasState(other.asked, "blocks", (state) => at(state, "gapsOpen") === 0)
    )
    const compared: Record<string, { compared: number; differences: number; first: ReadonlyArray<Difference> }> = {}
    for (const [kind, questions] of Object.entries(questionsOf(mints, wallets))) {
      const { compared: length, found } = yield* Effect.promise(() =>
        compare([live.asked, other.asked], questions)
      ).pipe(
        Effect.repeat({
          until: ({ found: left }) => left.length === 0,
          times: 15,
          schedule: Schedule.spaced("2 seconds")
        })
      )
      compared[kind] = { compared: length, differences: found.length, first: found.slice(0, 4) }
      differences += found.length
      process.stderr.write(`${name}, ${kind}: ${length} characters compared, ${found.length} figures differ\n`)
    }
    isWhole &&= imported !== null && imported.holes === 0
    results[name] = { ...imported, days: undefined, killed, tookMs: Math.round(Duration.toMillis(took)), ...compared }
    yield* other.stop
  }
  return {
    isGood: differences === 0 && isWhole,
    chainBlocks: blocks.size,
    mints: mints.length,
    wallets: wallets.length,
    differences,
    portalRefused: portal.counts.refused,
    portalCut: portal.counts.cut,
    ...results
  }
})

const folder = mkdtempSync(join(tmpdir(), "fathom-import-check-"))
const result = await Effect.runPromise(Effect.scoped(run(folder)).pipe(Effect.provide(Logger.layer([]))))
report("import:check", result)
if (result.isGood) {
  rmSync(folder, { recursive: true, force: true })
} else {
  process.stderr.write(`Logs of the failed run are in ${folder}\n`)
}
process.exit(result.isGood ? 0 : 1)
