/** The packed tarball in another project: type-checked strictly, and run against a service. */
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { SOL } from "../../src/domain/Address.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import * as SimulatedMarket from "../../src/testing/SimulatedMarket.ts"
import { running, secretOf } from "../support/http.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

/** A folder with the example in it, and the package installed. */
class Project extends Context.Service<Project, { readonly folder: string }>()("fathom/test/client/Project") {}

/**
 * Links everything in this repository's `node_modules` next to the package, as an installation would have it. Nothing
 * is downloaded.
 */
const linkDependencies = (folder: string) => {
  const modules = join(root, "node_modules")
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name]
  )
  for (const name of names.filter((each) => !each.startsWith(".") && each !== "fathom")) {
    mkdirSync(join(folder, "node_modules", name, ".."), { recursive: true })
    symlinkSync(join(modules, name), join(folder, "node_modules", name))
  }
}

const install = Effect.promise(async () => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-example-"))
  cpSync(fileURLToPath(new URL("../client/example", import.meta.url)), folder, { recursive: true })
  mkdirSync(join(folder, "node_modules/fathom"), { recursive: true })
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root })
  const tarball = join(folder, packed.stdout.trim().split("\n").at(-1) ?? "")
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", join(folder, "node_modules/fathom")])
  linkDependencies(folder)
  return Project.of({ folder })
})

const project = Layer.effect(
  Project,
  Effect.acquireRelease(install, ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
)

const market = SimulatedMarket.layer({ seed: "package" })

const service = Layer.unwrap(
  Effect.map(Layer.build(market), (built) => {
    const shared = Layer.succeedContext(built)
    return Layer.merge(running({ engine: shared, feed: shared }), shared)
  })
)

/** Output of the program with that name, called with a service, a key and a trade that can be priced. */
const saidBy = Effect.fnUntraced(function* (program: string) {
  const { folder } = yield* Project
  const { url } = yield* Listening
  const engine = yield* QuoteEngine
  const book = yield* PoolBook
  const { mints } = yield* SimulatedMarket.Simulator
  const mint = mints().find(({ address }) => address !== SOL)?.address ?? SOL
  yield* book.warm(mint)
  const request = { inputMint: SOL, outputMint: mint, amount: 1_000_000_000n, slippageBps: 50 }
  yield* engine.quote(request).pipe(Effect.eventually, Effect.timeout("1 minute"))
  const { stdout } = yield* Effect.promise(() =>
    run(process.execPath, [join(folder, program), url, secretOf("a"), SOL, mint], { cwd: folder })
  )
  // On a busy machine the log of a slow start comes first.
  const output: Record<string, unknown> = JSON.parse(stdout.trim().split("\n").at(-1) ?? "")
  return output
})

layer(Layer.merge(project, service).pipe(Layer.provideMerge(NodeServices.layer), Layer.orDie), {
  excludeTestServices: true,
  timeout: "4 minutes"
})("the packed package, in another project", (it) => {
  it.effect("contains the build and nothing else, and starts threads from the build", () =>
    Effect.gen(function* () {
      const { folder } = yield* Project
      const inside = join(folder, "node_modules/fathom")
      assert.sameMembers(readdirSync(inside), [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "dist",
        "package.json",
        "scripts"
      ])
      assert.deepStrictEqual(
        globSync("**/*.ts", { cwd: inside }).filter((file) => !file.endsWith(".d.ts")),
        []
      )
      const wrong = globSync("dist/**/*.js", { cwd: inside }).filter((file) =>
        /new URL\("\.[^"]*\.ts"/u.test(readFileSync(join(inside, file), "utf8"))
      )
      assert.deepStrictEqual(wrong, [])
    })
  )

  it.effect("type-checks strictly, including the declarations of libraries", () =>
    Effect.gen(function* () {
      const { folder } = yield* Project
      const output = yield* Effect.promise(() =>
        run(join(root, "node_modules/.bin/tsc"), ["-p", folder], { cwd: folder }).then(
          () => "",
          (failure: { readonly stdout: string }) => failure.stdout
        )
      )
      assert.strictEqual(output, "")
    })
  )

  it.effect("quotes, streams and reports an error without Effect", () =>
    Effect.gen(function* () {
      const { events, out, pool, refusal, whole } = yield* saidBy("quotes.ts")
      assert.match(String(out), /^[1-9][0-9]*$/u)
      assert.match(String(pool), /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u)
      assert.strictEqual(whole, "1")
      assert.deepStrictEqual(refusal, { status: 404, code: "no_route" })
      assert.include(events, "quote bigint")
      assert.deepStrictEqual(Array.isArray(events) && [events[0], events.at(-1)], ["open", "close"])
    })
  )

  it.effect("calls the service with Effect, and runs the engine without a service", () =>
    Effect.gen(function* () {
      const { embedded, outAmount, refused } = yield* saidBy("effects.ts")
      assert.match(String(outAmount), /^[1-9][0-9]*$/u)
      assert.match(String(embedded), /^[1-9][0-9]*$/u)
      assert.strictEqual(refused, "no_route")
    })
  )
})
