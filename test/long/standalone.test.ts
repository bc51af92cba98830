/**
 * The package `fathom-client`, built and installed in an empty project: its readme on Node, and the package in a
 * browser.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { SourceMap, type SourceMapping } from "node:module"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { buildClient } from "../../scripts/client/build.ts"
import { ErrorDetail } from "../../src/api/errors/Problem.ts"
import { SOL, USDC } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { Chromium, isAvailable } from "../support/browser.ts"
import { exampleService } from "../support/exampleService.ts"
import { secretOf } from "../support/http.ts"

const run = promisify(execFile)

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** The package `ws`, which the last example of the readme uses. */
const WS = fileURLToPath(new URL("../../node_modules/ws", import.meta.url))

/** A project with `fathom-client`, and `ws` for the example that needs it. */
class Project extends Context.Service<Project, { readonly folder: string; readonly inside: string }>()(
  "fathom/test/client/Standalone"
) {}

const project = Layer.effect(
  Project,
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = mkdtempSync(join(tmpdir(), "fathom-standalone-"))
      const inside = join(folder, "node_modules/fathom-client")
      await buildClient(inside)
      const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: inside })
      const tarball = join(folder, stdout.trim().split("\n").at(-1) ?? "")
      rmSync(inside, { recursive: true })
      await run("mkdir", ["-p", inside])
      await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", inside])
      symlinkSync(WS, join(folder, "node_modules/ws"))
      return Project.of({ folder, inside })
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
)

/** Environment of the examples, once their trade can be priced. */
const environment = Effect.gen(function* () {
  const { url } = yield* Listening
  const engine = yield* QuoteEngine
  const trade = { inputMint: SOL, outputMint: USDC, amount: 1_000_000_000n, slippageBps: 50 }
  yield* engine.quote(trade).pipe(Effect.eventually, Effect.timeout("10 seconds"))
  return { url, KEY: secretOf("a"), SOL, MINT: USDC }
})

/** Writes the examples of the readme into the project and runs them by their place in it, with options of Node. */
const examples = Effect.gen(function* () {
  const { folder, inside } = yield* Project
  const { url, ...env } = yield* environment
  const texts = Array.from(
    readFileSync(join(inside, "README.md"), "utf8").matchAll(/^```js\n([\s\S]*?)^```/gmu),
    ([, code = ""]) => code.replaceAll("http://127.0.0.1:3000", url)
  )
  assert.lengthOf(texts, 3)
  const runExample = (n: number, ...options: ReadonlyArray<string>) =>
    Effect.promise(async () => {
      const file = join(folder, `example${n}.mjs`)
      writeFileSync(file, texts[n] ?? "")
      const ran = run(process.execPath, [...options, file], { cwd: folder, env, timeout: 30_000, maxBuffer: 8 << 20 })
      return ran.catch((failure: { readonly stdout: string; readonly stderr: string }) => failure)
    })
  return { runExample }
})

/** The program that a page runs with the client. It is text, because it is not part of this module. */
const PROGRAM = `async ({ KEY, MINT, SOL }) => {
  const { createClient, FathomError, watchMarket, watchTracker } = await import("/installed/index.js")
  const client = createClient({ baseUrl: location.origin, key: KEY })
  const query = { inputMint: SOL, outputMint: MINT, amount: 1_000_000_000n }
  const first = async (events) => {
    for await (const { type } of events) return type
  }
  const events = []
  for await (const { event } of client.spot.stream({ query: { ...query, durationSeconds: 1 } })) events.push(event)
  const wrong = createClient({ baseUrl: location.origin, key: "wrong" })
  const failure = await wrong.spot.quote({ query }).catch((cause) => cause)
  return {
    out: typeof (await client.spot.quote({ query })).outAmount,
    events: [events[0], events.at(-1)],
    failure: failure instanceof FathomError && failure.code,
    tracker: await first(watchTracker(client)),
    market: await first(watchMarket(client, [{ channel: "freshness" }]))
  }
}`

/** Declarations without comments and breaks of lines. */
const inOneLine = (types: string): string => types.replaceAll(/\/\*\*.*?\*\//gu, "").replaceAll(/\s+/gu, " ")

const world = Layer.mergeAll(project, exampleService)

layer(world.pipe(Layer.orDie), { excludeTestServices: true, timeout: "2 minutes" })("fathom-client", (it) => {
  it.effect("has no dependencies, at most 520 kB with its source maps, and declarations that name no package", () =>
    Effect.gen(function* () {
      const { folder, inside } = yield* Project
      const manifest = JSON.parse(readFileSync(join(inside, "package.json"), "utf8"))
      assert.notProperty(manifest, "dependencies")
      const modules = readdirSync(inside).filter((name) => name.endsWith(".js"))
      assert.sameMembers(
        readdirSync(inside).filter((name) => !modules.includes(name.replace(/\.map$/u, ""))),
        ["LICENSE", "README.md", "index.d.ts", "package.json"]
      )
      const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""
      assert.isAtMost(statSync(join(folder, tarball)).size, 520_000)
      const code = modules.map((name) => readFileSync(join(inside, name), "utf8")).join("\n")
      assert.notMatch(code, /^import .*from "(?!\.\/)|\brequire\s*\(/mu)
      assert.notMatch(
        readFileSync(join(inside, "index.d.ts"), "utf8"),
        /\bfrom "|import\(|\bunknown\b.*Promise|: any\b/u
      )
    })
  )

  it.effect("declares each type once, and requires the parts that a call needs", () =>
    Effect.gen(function* () {
      const { inside } = yield* Project
      const types = inOneLine(readFileSync(join(inside, "index.d.ts"), "utf8"))
      const declared = Array.from(
        types.matchAll(/\bexport type (\w+?)(?:_\d+)? = (.*?)(?= export )/gu),
        ([, name, type]) => `${name} ${type}`
      )
      assert.isAbove(declared.length, 100)
      assert.lengthOf(new Set(declared), declared.length)
      assert.include(types, "exitCheck: (call: { readonly payload: ExitCheckRequest | WalletExitRequest }, ")
      assert.include(types, "lighthouse: (call?: ")
    })
  )

  it.effect("describes every field of the contract", () =>
    Effect.gen(function* () {
      const { inside } = yield* Project
      const [contract = ""] = readFileSync(join(inside, "index.d.ts"), "utf8").split("/** Every call of the contract")
      const lines = contract.split("\n")
      const fields = lines.filter((line) => /^ +readonly [\w"]/u.test(line))
      assert.isAbove(fields.length, 2000)
      const bare = lines.filter(
        (line, at) => /^ +readonly [\w"]/u.test(line) && !/^ +\/\*\*/u.test(lines[at - 1] ?? "")
      )
      // The part of an answer that holds everything but `meta`.
      assert.deepStrictEqual(new Set(bare.map((line) => line.trim())), new Set(["readonly data: {"]))
    })
  )

  it.effect("has source maps to the lines of this repository", () =>
    Effect.gen(function* () {
      const { inside } = yield* Project
      for (const [name, text] of [
        ["createClient", "slippageBps: field("],
        ["quotes", "createQuoteClient ="]
      ] as const) {
        const lines = readFileSync(join(inside, `${name}.js`), "utf8").split("\n")
        const line = lines.findIndex((each) => each.includes(text))
        const map = new SourceMap(JSON.parse(readFileSync(join(inside, `${name}.js.map`), "utf8")))
        const found = map.findEntry(line, lines[line]?.indexOf(text) ?? 0)
        assert.property(found, "originalSource")
        const { originalLine, originalSource } = found as SourceMapping
        const source = readFileSync(join(ROOT, originalSource), "utf8")
        assert.include(source.split("\n")[originalLine], text.split(":")[0] ?? "")
        assert.strictEqual(map.payload.sourcesContent[map.payload.sources.indexOf(originalSource)], source)
      }
    })
  )

  it.effect("contains none of the descriptions of the contract", () =>
    Effect.gen(function* () {
      const { inside } = yield* Project
      const code = readdirSync(inside)
        .filter((name) => name.endsWith(".js"))
        .map((name) => readFileSync(join(inside, name), "utf8"))
        .join("\n")
      const { description } = ErrorDetail.ast.annotations ?? {}
      assert.isString(description)
      assert.notInclude(code, String(description))
    })
  )

  it.effect("runs the examples of its readme on Node", () =>
    Effect.gen(function* () {
      const { runExample } = yield* examples
      const [quotes, sockets] = [yield* runExample(0), yield* runExample(1)]
      assert.match(quotes.stdout, /^quote [1-9]\d*$/mu)
      assert.match(sockets.stdout, /^(?:buy|sell) \d+ of \w+\n(?:snapshot|price|trade) of [01]$/mu)
    })
  )

  it.effect("keeps the name and the cause of an error, which prints in a screenful when nobody catches it", () =>
    Effect.gen(function* () {
      const { folder } = yield* Project
      const file = join(folder, "uncaught.mjs")
      writeFileSync(
        file,
        'import { createClient } from "fathom-client"\n' +
          'await createClient({ baseUrl: "http://127.0.0.1:49151", key: "x", retry: { tries: 1 } }).account.key()\n'
      )
      const { stderr } = yield* Effect.promise(() =>
        run(process.execPath, [file], { cwd: folder }).catch((failure: { readonly stderr: string }) => failure)
      )
      assert.match(
        stderr,
        /^FathomError: No response arrived: fetch failed: connect ECONNREFUSED 127\.0\.0\.1:49151\.$/mu
      )
      assert.match(stderr, /\[cause\]: (?:Type)?Error: /u)
      assert.isBelow(stderr.length, 4000)
    })
  )

  it.effect("says what is missing on a platform without WebSocket, and takes the WebSocket of ws", () =>
    Effect.gen(function* () {
      const { runExample } = yield* examples
      const without = yield* runExample(1, "--no-experimental-websocket")
      assert.match(without.stderr, /^TypeError: This platform has no WebSocket\. Use Node 22 or later, or pass one/mu)
      const given = yield* runExample(2, "--no-experimental-websocket")
      assert.match(given.stdout, /^(?:buy|sell) \d+ of \w+$/mu)
    })
  )

  it.effect.runIf(isAvailable)("quotes, streams, listens and reports an error in a browser", () =>
    Effect.gen(function* () {
      const { inside } = yield* Project
      const { url, ...given } = yield* environment
      const browser = yield* Chromium
      const page = yield* Effect.acquireRelease(
        Effect.promise(() => browser.newPage()),
        (opened) => Effect.promise(() => opened.close())
      )
      const said = yield* Effect.promise(async () => {
        await page.route(`${url}/installed/*.js`, (route) =>
          route.fulfill({ path: join(inside, basename(route.request().url())), contentType: "text/javascript" })
        )
        // A page of the service itself: the browser keeps other pages from sockets of a local address.
        await page.goto(`${url}/llms.txt`)
        return page.evaluate<unknown>(`(${PROGRAM})(${JSON.stringify(given)})`)
      })
      assert.deepStrictEqual(said, {
        out: "bigint",
        events: ["open", "close"],
        failure: "invalid_api_key",
        tracker: "snapshot",
        market: "snapshot"
      })
    }).pipe(Effect.provide(Chromium.layer))
  )
})
