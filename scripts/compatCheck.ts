/**
 * Runs the public TypeScript clients of other services against a sandbox of its own, and compiles the answers against
 * the types that their packages publish. Installs the packages into a temporary folder, so it needs a registry.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { clients, type PublicClient, types } from "./compat/clients.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Seconds until the sandbox has read its history. */
const PATIENCE = 400

interface Ready {
  readonly baseUrl: string
  readonly keys: { readonly all: string }
}

const startSandbox = async (folder: string) => {
  const readyFile = join(folder, "ready.json")
  const service = spawn(process.execPath, [pathOf("start.mjs")], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      DATA_DIR: join(folder, "data"),
      PORT: "0",
      READY_FILE: readyFile
    },
    stdio: ["ignore", "ignore", "inherit"]
  })
  for (let waited = 0; waited < PATIENCE && service.exitCode === null; waited++) {
    try {
      return { service, ready: JSON.parse(readFileSync(readyFile, "utf8")) as Ready }
    } catch {
      await sleep(1000)
    }
  }
  throw new Error("The sandbox did not start.")
}

const asker =
  ({ baseUrl, keys }: Ready) =>
  async (path: string) => {
    const response = await fetch(baseUrl + path, { headers: { "x-api-key": keys.all } })
    return { status: response.status, body: await response.json() }
  }

/** A token with whole windows, its deepest pool, and a wallet that traded it. */
const subjects = async (ready: Ready) => {
  const ask = asker(ready)
  for (let waited = 0; waited < PATIENCE; waited += 5) {
    const { body } = await ask("/api/v1/search?q=otter&limit=1")
    const mint = body.data?.[0]?.token.address
    const windows = mint && (await ask(`/api/v1/tokens/solana/${mint}/stats`)).body.data?.windows
    if (windows?.every(({ trades }: { trades: { status: string } }) => trades.status === "known")) {
      const { pools } = (await ask(`/api/v1/tokens/solana/${mint}/liquidity`)).body.data
      const trades = (await ask(`/api/v1/tokens/solana/${mint}/trades?limit=1`)).body.data
      return { mint, pool: pools[0].pool, wallet: trades[0].wallet }
    }
    await sleep(5000)
  }
  throw new Error("The sandbox did not read its history.")
}

type Subjects = Awaited<ReturnType<typeof subjects>>

/** Asks every question of one client in a process of its own. Returns the answers as JSON by name. */
const askAll = (folder: string, client: PublicClient, ready: Ready, subjects: Subjects): Record<string, unknown> => {
  const { mint, pool, wallet } = subjects
  const values = { base: ready.baseUrl, key: ready.keys.all, mint, pool, wallet }
  const questions = client.questions.map(({ ask, name }) => `  ${JSON.stringify(name)}: await (${ask})`).join(",\n")
  const file = join(folder, "ask.mjs")
  writeFileSync(
    file,
    `${client.imports}\nconst { base, key, mint, pool, wallet } = ${JSON.stringify(values)}\n${client.setup}\n` +
      `process.stdout.write(JSON.stringify({\n${questions}\n}))\n`
  )
  return JSON.parse(execFileSync(process.execPath, [file], { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 }))
}

/** Puts the value into the field at the path where an answer does not know it. `*` stands for every element. */
const fillIn = (answer: unknown, [name = "", ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (typeof answer !== "object" || answer === null) {
    return
  }
  for (const each of name === "*" ? Object.keys(answer) : [name]) {
    if (rest.length > 0) {
      fillIn(Reflect.get(answer, each), rest, value)
    } else if (Reflect.get(answer, each) === null || Reflect.get(answer, each) === undefined) {
      Reflect.set(answer, each, value)
    }
  }
}

/** Compiler messages about answers that do not have the published types. */
const typeFaults = (folder: string, typed: ReadonlyArray<readonly [type: string, answer: unknown]>): string => {
  // Behind a call, fields that the type does not have are no error: services add fields to their answers too.
  const lines = typed.map(
    ([type, answer], place) => `export const answer${place}: ${type} = given(${JSON.stringify(answer)})`
  )
  writeFileSync(
    join(folder, "answers.ts"),
    `${types}\nconst given = <A>(answer: A): A => answer\n${lines.join("\n")}\n`
  )
  const compilerOptions = {
    module: "nodenext",
    moduleResolution: "nodenext",
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    target: "esnext",
    types: []
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["answers.ts"] }))
  try {
    execFileSync(pathOf("../node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" })
    return ""
  } catch (failure) {
    return String((failure as { stdout?: unknown }).stdout)
  }
}

const folder = mkdtempSync(join(tmpdir(), "fathom-compat-"))
let stop = async (): Promise<void> => undefined
try {
  const { ready, service } = await startSandbox(folder)
  stop = async () => {
    if (service.exitCode === null) {
      const ended = once(service, "exit")
      service.kill("SIGTERM")
      await ended
    }
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }))
  const wanted = clients.map(({ package: name, version }) => `${name}@${version}`)
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...wanted], { cwd: folder })
  const chosen = await subjects(ready)
  const typed: Array<readonly [string, unknown]> = []
  for (const client of clients) {
    const answers = askAll(folder, client, ready, chosen)
    for (const { name, type, unknown = {} } of client.questions) {
      for (const [path, value] of Object.entries(unknown)) {
        fillIn(answers[name], path.split("."), value)
      }
      typed.push([type, answers[name]])
      process.stdout.write(
        `${client.package}@${client.version}  ${name}: ${JSON.stringify(answers[name]).length} bytes\n`
      )
    }
  }
  const faults = typeFaults(folder, typed)
  process.stdout.write(faults === "" ? "All answers have the published types.\n" : faults)
  process.exitCode = faults === "" ? 0 : 1
} finally {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}
