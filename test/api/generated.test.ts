/** Clients that public generators make of the document, compiled with strict types and run against a service. Skipped where `test/support/generators` is not installed. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { SOL, USDC } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { exampleService } from "../support/exampleService.ts"
import { secretOf } from "../support/http.ts"

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

/** Requests of both clients: those of the readme, and one that is refused. */
const REQUESTS = `
const { BASE = "", KEY = "", MINT = "", SOL = "" } = process.env
const query = { inputMint: SOL, outputMint: MINT, amount: "1000000000", outputDecimals: 6 }
const body = { mint: MINT, amount: "1000000000" }
`

const SDK_PROGRAM = `
import * as sdk from "./client/index.js"
import { client } from "./client/client.gen.js"
${REQUESTS}
// @ts-expect-error closed operations are left out
export const closed = sdk.closedSpotOrders

client.setConfig({ baseUrl: BASE, auth: KEY })
const quote = await sdk.spotQuote({ query })
const { stream } = await sdk.spotStream({ query: { ...query, intervalMs: 500, durationSeconds: 1 } })
const frames: Array<string> = []
for await (const frame of stream) frames.push(JSON.stringify(frame))
const check = await sdk.spotExitCheck({ body })
const ticket = await sdk.trackerSession()
const refused = await sdk.spotQuote({ query: { ...query, pools: SOL } })
console.log(JSON.stringify({
  quote: quote.data?.outAmount,
  frames: frames.filter((frame) => frame.includes("outAmount")).length,
  rungs: check.data?.ladder.length,
  ticket: ticket.data?.wsUrl,
  refused: refused.error?.error.code
}))
`

const TYPES_PROGRAM = `
import type { paths } from "./types.js"
import createClient from "openapi-fetch"
${REQUESTS}
type Quote = paths["/api/v1/spot/quote"]["get"]["parameters"]["query"]
export const number: Quote = { ...query, slippageBps: 50 }
// @ts-expect-error a whole number is a number
export const text: Quote = { ...query, slippageBps: "50" }
// @ts-expect-error closed operations are left out
export type Orders = paths["/api/v1/perps/orders"]["post"]["responses"]

const client = createClient<paths>({ baseUrl: BASE, headers: { authorization: "Bearer " + KEY } })
const quote = await client.GET("/api/v1/spot/quote", { params: { query } })
const stream = await client.GET("/api/v1/spot/quote/stream", {
  params: { query: { ...query, intervalMs: 500, durationSeconds: 1 } },
  parseAs: "text"
})
const check = await client.POST("/api/v1/spot/exit-check", { body })
const ticket = await client.GET("/api/v1/tracker/realtime/session")
const refused = await client.GET("/api/v1/spot/quote", { params: { query: { ...query, pools: SOL } } })
console.log(JSON.stringify({
  quote: quote.data?.outAmount,
  frames: String(stream.data).split("event: quote").length - 1,
  rungs: check.data?.ladder.length,
  ticket: ticket.data?.wsUrl,
  refused: refused.error?.error.code
}))
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

const execute = promisify(execFile)

const environment = (extra: Record<string, string>) => ({ ...process.env, ...extra })

/** Output of a program; with both of its streams in the failure where it fails. */
const run = (args: ReadonlyArray<string>, cwd: string, extra: Record<string, string> = {}) =>
  Effect.promise(() =>
    execute(process.execPath, [...args], { cwd, env: environment(extra), maxBuffer: 64 << 20, timeout: 60_000 }).then(
      ({ stdout }) => stdout,
      (failure: { readonly stdout: string; readonly stderr: string }) =>
        Promise.reject(new Error(`${failure.stdout}${failure.stderr}`.slice(0, 4000)))
    )
  )

const OPTIONS = ["--strict", "--target", "esnext", "--module", "nodenext", "--outDir", "made", "--types", "node"]

/** A folder with both clients and their programs, compiled. */
const compiled = Effect.acquireRelease(
  Effect.gen(function* () {
    const folder = mkdtempSync(join(tmpdir(), "fathom-generated-"))
    const script = join(dirname(client ?? ""), "..", `.fathom-generate-${process.pid}.mjs`)
    mkdirSync(join(folder, "client"))
    const cli = join(types ?? "", "bin/cli.js")
    yield* run([cli, document, "-o", join(folder, "types.d.ts"), "--exclude-deprecated"], folder)
    // Beside the generator, so that its package is found.
    writeFileSync(script, GENERATE)
    yield* run([script, document, join(folder, "client")], folder).pipe(
      Effect.ensuring(Effect.sync(() => rmSync(script, { force: true })))
    )
    writeFileSync(join(folder, "package.json"), `{"type":"module"}`)
    writeFileSync(join(folder, "sdk.ts"), SDK_PROGRAM)
    writeFileSync(join(folder, "types-program.ts"), TYPES_PROGRAM)
    symlinkSync(
      fileURLToPath(new URL("../support/generators/node_modules", import.meta.url)),
      join(folder, "node_modules")
    )
    const roots = ["--typeRoots", fileURLToPath(new URL("../../node_modules/@types", import.meta.url))]
    yield* run([join(compiler ?? "", "bin/tsc"), ...OPTIONS, ...roots, "sdk.ts", "types-program.ts"], folder)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

layer(exampleService, { excludeTestServices: true, timeout: "60 seconds" })("generated clients", (it) => {
  it.effect.skipIf(!isInstalled)(
    `compile with strict types and run the requests of the readme${suffix}`,
    () =>
      Effect.gen(function* () {
        const folder = yield* compiled
        const { url } = yield* Listening
        const engine = yield* QuoteEngine
        const trade = { inputMint: SOL, outputMint: USDC, amount: 1_000_000_000n, slippageBps: 50 }
        yield* engine.quote(trade).pipe(Effect.eventually, Effect.timeout("2 minutes"))
        for (const program of ["sdk", "types-program"]) {
          const env = { KEY: secretOf("a"), BASE: url, SOL, MINT: USDC }
          const said = JSON.parse(yield* run([join(folder, "made", `${program}.js`)], folder, env))
          assert.match(said.quote, /^[1-9][0-9]*$/u, program)
          assert.isAtLeast(said.frames, 1, program)
          assert.isAtLeast(said.rungs, 1, program)
          assert.match(said.ticket, /^wss?:/u, program)
          assert.strictEqual(said.refused, "no_route", program)
        }
      }),
    120_000
  )
})
