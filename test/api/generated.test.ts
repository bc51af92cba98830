/** Clients that public generators make of the document, compiled with strict types. Skipped where `test/support/generators` is not installed. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const generators = createRequire(new URL("../support/generators/package.json", import.meta.url))
const document = fileURLToPath(new URL("../../src/api/openapi.json", import.meta.url))

/** Folder of an installed package; null where it is not installed. */
const folderOf = (name: string): string | null => {
  const found = generators.resolve.paths(name)?.map((path) => join(path, name)) ?? []
  for (const folder of found) {
    try {
      readFileSync(join(folder, "package.json"))
      return folder
    } catch {
      // Looked for in the next folder.
    }
  }
  return null
}

const types = folderOf("openapi-typescript")
const client = folderOf("@hey-api/openapi-ts")

/** The compiler that the generators are installed with. */
const compiler = folderOf("typescript")

const isInstalled = types !== null && client !== null && compiler !== null
const suffix = isInstalled ? "" : " (skipped: test/support/generators is not installed)"

const PROGRAM = `
import type { paths } from "./types.d.ts"
import * as sdk from "./client/index.js"

type Quote = paths["/api/v1/spot/quote"]["get"]["parameters"]["query"]
export const query: Quote = { inputMint: "a", outputMint: "b", amount: "1", slippageBps: 50 }
// @ts-expect-error a whole number is a number
export const text: Quote = { inputMint: "a", outputMint: "b", amount: "1", slippageBps: "50" }
// @ts-expect-error closed operations are left out
export type Orders = paths["/api/v1/perps/orders"]["post"]["responses"]
// @ts-expect-error closed operations are left out
export const closed = sdk.closedSpotOrders

export const run = async () => {
  const quote = await sdk.spotQuote({ query })
  const check = await sdk.spotExitCheck({ body: { mint: "a", amount: "1" } })
  const session = await sdk.trackerSession({ query: { control: true } })
  const chart = await sdk.marketChart({ path: { token: "a" }, query: { limit: 10 } })
  return [quote.data?.outAmount, check.data?.summary.verdict, session.data?.wsUrl, chart.data?.data.bars.length]
}
`

const GENERATE = `
import { createClient } from "@hey-api/openapi-ts"
await createClient({
  input: process.argv[2],
  output: { path: process.argv[3], importFileExtension: ".js" },
  logs: { level: "silent" },
  parser: { filters: { deprecated: false } },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"]
})
`

const run = (args: ReadonlyArray<string>, cwd: string): string => {
  try {
    return execFileSync(process.execPath, [...args], { cwd, encoding: "utf8", stdio: "pipe" }) && ""
  } catch (cause) {
    return `${Reflect.get(Object(cause), "stdout")}${Reflect.get(Object(cause), "stderr")}`
  }
}

describe("generated clients", () => {
  it.skipIf(!isInstalled)(`compile with strict types${suffix}`, { timeout: 180_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "fathom-generated-"))
    const script = join(dirname(client ?? ""), "..", `.fathom-generate-${process.pid}.mjs`)
    try {
      mkdirSync(join(folder, "client"))
      const cli = join(types ?? "", "bin/cli.js")
      assert.strictEqual(run([cli, document, "-o", join(folder, "types.d.ts"), "--exclude-deprecated"], folder), "")
      // Beside the generator, so that its package is found.
      writeFileSync(script, GENERATE)
      assert.strictEqual(run([script, document, join(folder, "client")], folder), "")
      writeFileSync(join(folder, "package.json"), `{"type":"module"}`)
      writeFileSync(join(folder, "program.ts"), PROGRAM)
      const tsc = join(compiler ?? "", "bin/tsc")
      const options = [
        "--strict",
        "--noEmit",
        "--allowImportingTsExtensions",
        "--target",
        "esnext",
        "--module",
        "nodenext"
      ]
      assert.strictEqual(run([tsc, ...options, "--lib", "esnext,dom,dom.iterable", "program.ts"], folder), "")
    } finally {
      rmSync(script, { force: true })
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
