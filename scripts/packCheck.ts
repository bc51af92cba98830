/**
 * Packs the package, has publint and are-the-types-wrong look at the tarball, installs it into an empty folder and starts
 * it there with `npx fathom`: a quote must be answered and the pages served. Prints sizes and times as JSON. The
 * dependencies come from the cache of npm or from its registry.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { VERSION } from "../src/app/version.ts"
import { type Ready, startSandbox } from "./compat/sandbox.ts"
import { packageFaults } from "./release/packageFaults.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const SOL = "So11111111111111111111111111111111111111112"

const pack = (folder: string): string => {
  const told = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, encoding: "utf8" })
  return join(folder, told.trim().split("\n").at(-1) ?? "")
}

const secondsSince = (start: number): number => Math.round((performance.now() - start) / 100) / 10

const pages = ["/", "/docs", "/changelog", "/openapi.json"]

/** What a service that has just started does not do. */
const serviceFaults = async ({ baseUrl, keys, mints }: Ready): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  const trade = `inputMint=${SOL}&outputMint=${mints[0]}&amount=1000000000`
  const quote = await fetch(`${baseUrl}/api/v1/spot/quote?${trade}`, { headers: { "x-api-key": keys.all } })
  const body = await quote.text()
  if (quote.status !== 200 || !/"outAmount":"[1-9]/u.test(body)) {
    faults.push(`The quote was answered ${quote.status}: ${body}`)
  }
  for (const path of pages) {
    const { status } = await fetch(baseUrl + path, { headers: { accept: "text/html" } })
    if (status !== 200) {
      faults.push(`${path} was answered ${status}.`)
    }
  }
  const home = await (await fetch(baseUrl, { headers: { accept: "text/html" } })).text()
  const [, script] = /<script[^>]* src="(?<path>[^"]+)"/u.exec(home) ?? []
  if (script === undefined || (await fetch(baseUrl + script)).status !== 200) {
    faults.push("The app has no script.")
  }
  return faults
}

/** Starts an installed package as a user would, and looks at what it serves. */
const startFaults = async (folder: string) => {
  const begun = performance.now()
  // As `npx fathom` does, but without a process between this one and the service, which would keep its signals.
  const { ready, stop } = await startSandbox(folder, join(folder, "node_modules/fathom/scripts/start.mjs"))
  try {
    const startSeconds = secondsSince(begun)
    return { startSeconds, faults: await serviceFaults(ready) }
  } finally {
    await stop()
  }
}

const folder = mkdtempSync(join(tmpdir(), "fathom-pack-"))
const empty = join(folder, "empty")
try {
  const tarball = pack(folder)
  const bytes = new Uint8Array(readFileSync(tarball))
  const faults = await packageFaults(bytes)
  mkdirSync(empty)
  const begun = performance.now()
  execFileSync("npm", ["install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", tarball], { cwd: empty })
  const installSeconds = secondsSince(begun)
  const version = execFileSync("npx", ["fathom", "--version"], { cwd: empty, encoding: "utf8" }).trim()
  if (!version.endsWith(VERSION)) {
    faults.push(`npx fathom --version says ${version}, not ${VERSION}.`)
  }
  const started = await startFaults(empty)
  faults.push(...started.faults)
  const { startSeconds } = started
  process.stdout.write(`${JSON.stringify({ version, size: bytes.length, installSeconds, startSeconds })}\n`)
  process.stdout.write(
    faults.length === 0 ? "The package is sound, and starts in an empty folder.\n" : `${faults.join("\n")}\n`
  )
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
