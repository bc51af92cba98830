import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { execFile } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { SOL, USDC } from "../src/domain/Address.ts"
import { QuoteEngine } from "../src/quotes/QuoteEngine.ts"
import { Listening } from "../src/http/server/NodeServer.ts"
import * as SimulatedMarket from "../src/testing/SimulatedMarket.ts"
import { exampleService } from "./support/exampleService.ts"
import { secretOf } from "./support/http.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8")
const run = promisify(execFile)

/** Pages with examples. */
const PAGES = ["README.md", "docs/client.md", "docs/embedding.md"]

/** The code of every fence in this language. */
const fences = (language: string): ReadonlyArray<string> =>
  Array.from(
    PAGES.map(read)
      .join("\n")
      .matchAll(/^```(\w*)\n([\s\S]*?)^```/gmu),
    ([, name = "", code = ""]) => ({ name, code })
  )
    .filter(({ name }) => name === language)
    .map(({ code }) => code)

const examples = fences("ts")
/** Each command that asks the service, with the comment above it. */
const commands = fences("")
  .flatMap((code) => code.split("\n\n"))
  .filter((code) => code.includes("curl "))

/** Names shaped like settings that belong to Node, its parser, PostgreSQL, Parquet or another service. */
const NOT_OURS =
  /^(?:ERR|HPE|MODULE|PG)_|^(?:INVALID_REQUEST_PARAMETER|NOT_FOUND|(?:MARKET_)?LOT_SIZE|MIN_NOTIONAL|(?:FIXED_LEN_)?BYTE_ARRAY|TIMESTAMP_MILLIS|COULD_NOT_FIND_ANY_ROUTE|TOKEN_NOT_TRADABLE|ROUTE_PLAN_DOES_NOT_CONSUME_ALL_THE_AMOUNT)$/u

describe("the readme", () => {
  it("names only commands that the package has", () => {
    const named = [...read("README.md").matchAll(/npm run ([\w:-]+)|`(bench:[\w-]+)`/g)].map(
      (found) => found[1] ?? found[2]
    )
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(read("package.json"))
    assert.isAbove(named.length, 5)
    assert.deepStrictEqual(
      named.filter((name) => name === undefined || !(name in scripts)),
      []
    )
  })

  it("fits on 160 lines and links to pages that exist", () => {
    const text = read("README.md")
    assert.isAtMost(text.trimEnd().split("\n").length, 160)
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/gu)].map(([, path]) => path ?? "")
    assert.isAbove(links.length, 8)
    assert.deepStrictEqual(
      links.filter((path) => !existsSync(`${root}${path}`)),
      []
    )
  })

  it("leaves a row for every setting to the page of settings", () => {
    const sources = globSync("src/**/*.ts", { cwd: root, exclude: ["src/simulator/**"] })
    const constants = sources.flatMap((path) =>
      [...read(path).matchAll(/"([A-Z]+(?:_[A-Z]+)+)"/gu)].map(([, name]) => name)
    )
    const rows = read("docs/settings.md")
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .join("\n")
    assert.isAbove(constants.length, 40)
    assert.deepStrictEqual(
      constants.filter((name) => name !== undefined && !NOT_OURS.test(name) && !rows.includes(`\`${name}\``)),
      []
    )
  })

  it("shows how to call the service, and how to embed it", () => {
    assert.isAtLeast(examples.length, 3)
    assert.isAtLeast(commands.length, 3)
  })
})

const SOURCES = { fathom: "index", "fathom/client": "client/index", "fathom/testing": "testing/SimulatedMarket" }

const subpath = (name: string) => name.replace("fathom", ".")

/** A project of its own with the examples in it, whose `fathom` is what is in `src/`. */
class Project extends Context.Service<Project, { readonly folder: string }>()("fathom/test/readme/Project") {}

const project = Layer.effect(
  Project,
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "fathom-readme-" })
    const entries = Object.entries(SOURCES).map(([name, file]) => [name, `${root}src/${file}.ts`] as const)
    yield* files.makeDirectory(`${folder}/package`)
    // Reached by a link, so that Node finds sources outside of node_modules and strips their types.
    for (const [name, path] of entries) {
      yield* files.writeFileString(`${folder}/package/${name.replace("/", "-")}.ts`, `export * from "${path}"\n`)
    }
    const exported = entries.map(([name]) => [subpath(name), `./${name.replace("/", "-")}.ts`])
    const manifest = { name: "fathom", type: "module", exports: Object.fromEntries(exported) }
    yield* files.writeFileString(`${folder}/package/package.json`, JSON.stringify(manifest))
    yield* files.makeDirectory(`${folder}/node_modules`)
    yield* files.symlink(`${folder}/package`, `${folder}/node_modules/fathom`)
    for (const name of ["effect", "@effect", "@types", "bs58"]) {
      yield* files.symlink(`${root}node_modules/${name}`, `${folder}/node_modules/${name}`)
    }
    yield* files.writeFileString(`${folder}/package.json`, JSON.stringify({ type: "module" }))
    const settings = { extends: `${root}tsconfig.json`, compilerOptions: { types: ["node"] }, include: ["*.ts"] }
    yield* files.writeFileString(`${folder}/tsconfig.json`, JSON.stringify(settings))
    const { url } = yield* Listening
    for (const [n, code] of examples.entries()) {
      yield* files.writeFileString(`${folder}/example${n}.ts`, code.replaceAll("http://127.0.0.1:3000", url))
    }
    return Project.of({ folder })
  })
)

/** Output of a command that runs with the environment of the readme. */
const said = Effect.fnUntraced(function* (command: string, args: ReadonlyArray<string>) {
  const { url } = yield* Listening
  const { rpcUrl, wsUrl } = yield* SimulatedMarket.Simulator
  const engine = yield* QuoteEngine
  const trade = { inputMint: SOL, outputMint: USDC, amount: 1_000_000_000n, slippageBps: 50 }
  yield* engine.quote(trade).pipe(Effect.eventually, Effect.timeout("10 seconds"))
  const env = {
    ...process.env,
    KEY: secretOf("a"),
    BASE: url,
    SOL,
    MINT: USDC,
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl
  }
  return yield* Effect.promise(() => run(command, args, { env }).then(({ stdout }) => stdout))
})

const world = project.pipe(Layer.provideMerge(exampleService), Layer.provideMerge(NodeServices.layer), Layer.orDie)

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("the readme's examples", (it) => {
  // The compiler reads all of Effect, which takes minutes on a busy machine.
  it.effect(
    "type-check",
    () =>
      Effect.gen(function* () {
        const { folder } = yield* Project
        const wrong = yield* Effect.promise(() =>
          run(`${root}node_modules/.bin/tsc`, ["-p", folder]).then(
            () => "",
            (failure: { readonly stdout: string }) => failure.stdout
          )
        )
        assert.strictEqual(wrong, "")
      }),
    240_000
  )

  for (const [n, code] of examples.entries()) {
    it.effect(`run: ${code.split("\n").find((line) => line.includes('"fathom')) ?? n}`, () =>
      Effect.gen(function* () {
        const { folder } = yield* Project
        const printed = (yield* said(process.execPath, [`${folder}/example${n}.ts`])).trim().split("\n")
        // Lines of the log begin with a time: on a loaded machine the chain may be lost for a moment.
        const lines = printed.filter((line) => !line.startsWith("["))
        assert.isAtLeast(lines.length, 1)
        assert.match(lines[0] ?? "", /^(?:one SOL is [0-9]+\.[0-9]+ USDC|(?:buy|sell) [0-9]+ of \w+|snapshot of \w+)$/u)
      })
    )
  }

  for (const command of commands) {
    it.effect(`answer: ${command.split("\n")[0]?.slice(0, 60) ?? ""}`, () =>
      Effect.gen(function* () {
        const { url } = yield* Listening
        // A shorter stream proves the same.
        const here = command.replaceAll("http://127.0.0.1:3000", url).replace("durationSeconds=10", "durationSeconds=1")
        const text = yield* said("sh", ["-c", here])
        if (command.includes("/stream?")) {
          assert.include(text, "event: quote\n")
          assert.include(text, "event: close\n")
        } else {
          const answer: Record<string, unknown> = JSON.parse(text)
          assert.notProperty(answer, "error", text)
        }
      })
    )
  }
})
