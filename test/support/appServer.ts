/** The service beside a simulated market, as its own process, for tests of pages. It starts when the first test asks for it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the socket that answers with a `RunningApp` as JSON, or with `{failure}`. */
    readonly appServer: string
  }
}

/** The service that answers a run's tests of pages. */
export interface RunningApp {
  readonly url: string
  /** Mints of the market that can be quoted. */
  readonly mints: ReadonlyArray<string>
  /** Folder of its database: `DATA_DIR` of the command line. */
  readonly dataDir: string
}

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The script of `npm start` and of the command line. */
export const startScript = pathOf("../../scripts/start.mjs")

/** True when the built pages are newer than each of their sources. */
const isBuilt = (): boolean => {
  const built = statSync(pathOf("../../dist/web/index.html"), { throwIfNoEntry: false })
  const sources = globSync(`${pathOf("../../src/web")}/**/*`)
  return built !== undefined && sources.every((file) => statSync(file).mtimeMs < built.mtimeMs)
}

const READY_WITHIN_MS = 110_000

const environment = (dataDir: string, readyFile: string): NodeJS.ProcessEnv => ({
  ...process.env,
  DATA_DIR: dataDir,
  DRAIN_QUIET: "0 millis",
  // Every test opens pages from this address.
  PAGE_REQUESTS: "100000",
  PORT: "0",
  READY_FILE: readyFile
})

/** The content of the ready file once it is there. Fails when the process ends before, or after `READY_WITHIN_MS`. */
const readyOf = async (service: ChildProcess, readyFile: string) => {
  const deadline = performance.now() + READY_WITHIN_MS
  while (performance.now() < deadline && service.exitCode === null) {
    try {
      return JSON.parse(readFileSync(readyFile, "utf8")) as { baseUrl: string; mints: ReadonlyArray<string> }
    } catch {
      await sleep(100)
    }
  }
  throw new Error("The service did not become ready.")
}

/** Called by vitest before the first test file; what it returns is called after the last. */
export const setup = async (project: TestProject) => {
  if (!isBuilt()) {
    execFileSync(process.execPath, [pathOf("../../scripts/web.mjs")])
  }
  const folder = mkdtempSync(join(tmpdir(), "fathom-app-"))
  let service: ChildProcess | undefined
  let started: Promise<RunningApp> | undefined
  const start = async (): Promise<RunningApp> => {
    const dataDir = join(folder, "data")
    const readyFile = join(folder, "ready.json")
    service = spawn(process.execPath, [startScript], {
      env: environment(dataDir, readyFile),
      stdio: ["ignore", "ignore", "inherit"]
    })
    const { baseUrl, mints } = await readyOf(service, readyFile)
    return { url: baseUrl, mints, dataDir }
  }
  const door = createServer((socket) => {
    started ??= start()
    started.then(
      (app) => socket.end(JSON.stringify(app)),
      (cause: unknown) => socket.end(JSON.stringify({ failure: String(cause) }))
    )
  })
  const path = join(folder, "ask.sock")
  await new Promise<void>((resolve) => door.listen(path, resolve))
  project.provide("appServer", path)
  return async () => {
    door.close()
    if (service !== undefined && service.exitCode === null) {
      const ended = once(service, "exit")
      service.kill("SIGTERM")
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  }
}
