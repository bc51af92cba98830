/** A sandbox of its own for checks from outside: started, and waited for until it has read its history. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** Seconds until the sandbox has read its history. */
const PATIENCE = 400

/** What the service writes once it can answer. */
export interface Ready {
  readonly baseUrl: string
  readonly keys: { readonly all: string }
  /** Tokens that can be quoted. */
  readonly mints: ReadonlyArray<string>
}

const endOf = (service: ChildProcess) => async (): Promise<void> => {
  if (service.exitCode === null && service.signalCode === null) {
    const ended = once(service, "exit")
    service.kill("SIGTERM")
    await ended
  }
}

/** Starts a sandbox with its data in the folder, by default the one of this repository. `stop` ends it. */
export const startSandbox = async (
  folder: string,
  script: string = fileURLToPath(new URL("../start.mjs", import.meta.url))
): Promise<{ readonly ready: Ready; readonly stop: () => Promise<void> }> => {
  const readyFile = join(folder, "ready.json")
  const service = spawn(process.execPath, [script], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      DATA_DIR: join(folder, "data"),
      PORT: "0",
      READY_FILE: readyFile
    },
    stdio: ["ignore", "ignore", "inherit"]
  })
  const stop = endOf(service)
  for (let waited = 0; waited < PATIENCE && service.exitCode === null; waited++) {
    try {
      return { ready: JSON.parse(readFileSync(readyFile, "utf8")), stop }
    } catch {
      await sleep(1000)
    }
  }
  await stop()
  throw new Error("The sandbox did not start.")
}

/** A token with whole windows, its deepest pool, and a wallet that traded it. */
export interface Subjects {
  readonly mint: string
  readonly pool: string
  readonly wallet: string
}

/** Waits until the history is read. */
export const subjectsOf = async ({ baseUrl, keys }: Ready): Promise<Subjects> => {
  const ask = async (path: string) => {
    const response = await fetch(baseUrl + path, { headers: { "x-api-key": keys.all } })
    return { status: response.status, body: await response.json() }
  }
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
