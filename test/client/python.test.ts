/** The Python client, built into an empty folder and run by the system's Python against the service. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { buildPython } from "../../scripts/client/python.ts"
import { SOL, USDC } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { exampleService } from "../support/exampleService.ts"
import { call, secretOf } from "../support/http.ts"

const run = promisify(execFile)

/** Debian's Python, unless `PYTHON` names another one. */
const PYTHON = process.env["PYTHON"] ?? "/usr/bin/python3"

const isAvailable = existsSync(PYTHON)
if (!isAvailable) {
  process.stdout.write(`No Python at ${PYTHON}: tests of the Python client are skipped. PYTHON says where it is.\n`)
}

const script = (name: string) => fileURLToPath(new URL(`python/${name}`, import.meta.url))

/** The folder of the built package. */
class Package extends Context.Service<Package, { readonly folder: string }>()("fathom/test/client/Python") {}

const built = Layer.effect(
  Package,
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "fathom-python-"))
      buildPython(folder)
      return Package.of({ folder })
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
)

/** Runs Python with the package and no other one. Returns what it prints. */
const python = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) {
  const { folder } = yield* Package
  const options = { cwd: folder, env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1", ...env }, timeout: 60_000 }
  return yield* Effect.promise(() => run(PYTHON, ["-S", "-W", "error", ...args], options).then(({ stdout }) => stdout))
})

const environment = Effect.gen(function* () {
  const { url } = yield* Listening
  const engine = yield* QuoteEngine
  const trade = { inputMint: SOL, outputMint: USDC, amount: 1_000_000_000n, slippageBps: 50 }
  yield* engine.quote(trade).pipe(Effect.eventually, Effect.timeout("2 minutes"))
  return { URL: url, KEY: secretOf("a"), SOL, MINT: USDC }
})

const world = Layer.mergeAll(built, exampleService).pipe(Layer.orDie)

layer(world, { excludeTestServices: true, timeout: "2 minutes" })("the Python client", (it) => {
  it.effect.runIf(isAvailable)("has types that every recorded answer fits, with exact numbers", () =>
    Effect.gen(function* () {
      const document = fileURLToPath(new URL("../../src/api/openapi.json", import.meta.url))
      const [last = "", ...faults] = (yield* python([script("conform.py"), document])).trim().split("\n").toReversed()
      assert.deepStrictEqual(faults, [])
      const [calls = 0, examples = 0] = Array.from(last.matchAll(/\d+/gu), ([count]) => Number(count))
      assert.isAbove(examples, 70)
      assert.isAtLeast(calls, examples)
    })
  )

  it.effect.runIf(isAvailable)("quotes, streams, listens across a lost connection, and names what is refused", () =>
    Effect.gen(function* () {
      const given = yield* environment
      const said = JSON.parse(yield* python([script("walk.py")], given))
      assert.match(said.outAmount, /^[1-9]\d*$/u)
      assert.deepInclude(said, {
        types: ["int", "int"],
        exit: "int",
        stream: ["open", "close"],
        lost: ["connection_lost", "ConnectionRefusedError"],
        tracker: ["snapshot", "trade"]
      })
      assert.deepStrictEqual(said.refusals, [
        ["invalid_api_key", 401, []],
        ["invalid_request", 400, ["amount"]],
        ["unsupported_chain", 400, ["chain"]]
      ])
      assert.isAtLeast(said.connections, 2)
      const freshness: ReadonlyArray<readonly [string, string, number]> = said.market.filter(
        ([id]: [string]) => id === "1"
      )
      assert.deepStrictEqual(freshness[0], ["1", "snapshot", 0])
      const frames = freshness.filter(([, type]) => type === "freshness").map(([, , seq]) => seq)
      assert.deepStrictEqual(
        frames,
        frames.map((_, n) => n + 1),
        "the frame after the last one follows, without a gap"
      )
    })
  )

  it.effect.runIf(isAvailable)("runs the examples of its readme", () =>
    Effect.gen(function* () {
      const { folder } = yield* Package
      const { URL: url, ...env } = yield* environment
      const examples = Array.from(
        readFileSync(join(folder, "README.md"), "utf8").matchAll(/^```python\n([\s\S]*?)^```/gmu),
        ([, code = ""]) => code.replaceAll("http://127.0.0.1:3000", url)
      )
      assert.lengthOf(examples, 2)
      const printed: Array<string> = []
      for (const [n, code] of examples.entries()) {
        const file = join(folder, `example${n}.py`)
        writeFileSync(file, code)
        printed.push(yield* python([file], env))
      }
      assert.match(printed[0] ?? "", /^pays [1-9]\d* \[.*\]\n(?:quote \d+\n)+$/u)
      assert.match(printed[1] ?? "", /^(?:buy|sell) \d+ of \w+\n(?:snapshot|price|trade) of [01]\n$/u)
    })
  )

  it.effect("is complete without anything to install", () =>
    Effect.gen(function* () {
      const { folder } = yield* Package
      const modules = readdirSync(join(folder, "fathom_client"))
      assert.includeMembers(modules, ["__init__.py", "_client.py", "types.py", "py.typed"])
      assert.notMatch(readFileSync(join(folder, "pyproject.toml"), "utf8"), /^dependencies/mu)
      assert.strictEqual((yield* call("/llms.txt", { key: null })).status, 200)
    })
  )
})
