/** The package `fathom-client`, built and installed in an empty project: its readme on Node 20, and in a browser. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { type WebSocket as ServerSocket, WebSocketServer } from "ws"
import { buildClient } from "../../scripts/client/build.ts"
import { ErrorDetail } from "../../src/api/Problem.ts"
import { FrameReader, maskedFrame, OP } from "../../src/client/standalone/frameReader.ts"
import { nodeSocket } from "../../src/client/standalone/nodeSocket.ts"
import { SOL, USDC } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/NodeServer.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { Chromium, isAvailable } from "../support/browser.ts"
import { exampleService } from "../support/exampleService.ts"
import { secretOf } from "../support/http.ts"

const run = promisify(execFile)

/** An older Node where there is one: `CLIENT_NODE`, or the one of the system. */
const usual = process.env["CLIENT_NODE"] ?? "/usr/bin/node"
const node = existsSync(usual) ? usual : process.execPath

/** A project with nothing but the package. */
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
      return Project.of({ folder, inside })
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
)

/** Environment of the examples, once the trade in them can be priced. */
const environment = Effect.gen(function* () {
  const { url } = yield* Listening
  const engine = yield* QuoteEngine
  const trade = { inputMint: SOL, outputMint: USDC, amount: 1_000_000_000n, slippageBps: 50 }
  yield* engine.quote(trade).pipe(Effect.eventually, Effect.timeout("10 seconds"))
  return { url, KEY: secretOf("a"), SOL, MINT: USDC }
})

/** The program of a page with the client, as text: it is no part of this module. */
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

const world = Layer.mergeAll(project, exampleService)

layer(world.pipe(Layer.orDie), { excludeTestServices: true, timeout: "2 minutes" })("fathom-client", (it) => {
  it.effect("has no dependencies, at most 300 kB, and declarations that name no package", () =>
    Effect.gen(function* () {
      const { folder, inside } = yield* Project
      const manifest = JSON.parse(readFileSync(join(inside, "package.json"), "utf8"))
      assert.notProperty(manifest, "dependencies")
      assert.sameMembers(readdirSync(inside), ["LICENSE", "README.md", "index.d.ts", "index.js", "package.json"])
      const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""
      assert.isAtMost(statSync(join(folder, tarball)).size, 300_000)
      const [code, types] = ["index.js", "index.d.ts"].map((name) => readFileSync(join(inside, name), "utf8"))
      assert.notMatch(code ?? "", /(?:^|[;}])import\b|\brequire\s*\(/u)
      assert.notMatch(types ?? "", /\bfrom "|import\(|\bunknown\b.*Promise|: any\b/u)
    })
  )

  it.effect("names each type once, and takes no call without the parts that it needs", () =>
    Effect.gen(function* () {
      const { inside } = yield* Project
      const types = readFileSync(join(inside, "index.d.ts"), "utf8")
      const declared = Array.from(
        types.matchAll(/^export type (\w+?)(?:_\d+)? = (.*)$/gmu),
        ([, name, type]) => `${name} ${type}`
      )
      assert.isAbove(declared.length, 100)
      assert.lengthOf(new Set(declared), declared.length)
      assert.include(types, "exitCheck: (call: { readonly payload: ExitCheckRequest | WalletExitRequest }, ")
      assert.include(types, "lighthouse: (call?: ")
    })
  )

  it.effect("has none of the texts of the documents in its code", () =>
    Effect.gen(function* () {
      const { inside } = yield* Project
      const code = readFileSync(join(inside, "index.js"), "utf8")
      const { description } = ErrorDetail.ast.annotations ?? {}
      assert.isString(description)
      assert.notInclude(code, String(description))
    })
  )

  it.effect("runs the examples of its readme on the Node of the system", () =>
    Effect.gen(function* () {
      const { folder, inside } = yield* Project
      const { url, ...env } = yield* environment
      const examples = Array.from(
        readFileSync(join(inside, "README.md"), "utf8").matchAll(/^```js\n([\s\S]*?)^```/gmu),
        ([, code = ""]) => code.replaceAll("http://127.0.0.1:3000", url)
      )
      assert.lengthOf(examples, 2)
      const said: Array<string> = []
      for (const [n, code] of examples.entries()) {
        const file = join(folder, `example${n}.mjs`)
        writeFileSync(file, code)
        const { stdout } = yield* Effect.promise(() => run(node, [file], { cwd: folder, env, timeout: 30_000 }))
        said.push(stdout)
      }
      assert.match(said[0] ?? "", /^quote [1-9]\d*$/mu)
      assert.match(said[1] ?? "", /^(?:buy|sell) \d+ of \w+\n(?:snapshot|price|trade) of [01]$/mu)
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
        await page.route(`${url}/installed/index.js`, (route) =>
          route.fulfill({ path: join(inside, "index.js"), contentType: "text/javascript" })
        )
        // A document of the service itself: the browser keeps others from the sockets of a local address.
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

/** Messages and close code that a socket over the HTTP client of Node receives from a server with this behaviour. */
const heardFrom = (
  talk: (socket: ServerSocket) => void,
  answer: (data: unknown, socket: ReturnType<typeof nodeSocket>) => void
) =>
  new Promise<{ readonly code: number | undefined; readonly data: ReadonlyArray<unknown> }>((resolve, reject) => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
    server.on("connection", talk)
    server.on("error", reject)
    server.on("listening", () => {
      const bound = server.address()
      const socket = nodeSocket(`ws://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}/a?b=c`)
      const data: Array<unknown> = []
      socket.addEventListener("message", (event) => {
        data.push(event.data)
        answer(event.data, socket)
      })
      socket.addEventListener("close", ({ code }) => server.close(() => resolve({ code, data })))
    })
  })

describe("the socket for Node without one", () => {
  it("reads texts of every length and in parts, answers pings, and has the code of a close", async () => {
    const texts = ["", "é", "x".repeat(125), "y".repeat(126), "z".repeat(70_000)]
    const heard = await heardFrom(
      (socket) => {
        socket.on("pong", () => {
          texts.forEach((text) => socket.send(text))
          socket.send("in ", { fin: false })
          socket.send("parts", { fin: true })
          socket.close(4409)
        })
        socket.ping("a")
      },
      () => undefined
    )
    assert.deepStrictEqual(heard, { code: 4409, data: [...texts, "in parts"] })
  })

  it("sends masked texts of every length, and closes", async () => {
    const lengths: Array<number> = []
    const heard = await heardFrom(
      (socket) => {
        socket.on("message", (data) => {
          lengths.push(String(data).length)
          socket.send("next")
        })
        socket.send("next")
      },
      (_, socket) => {
        const length = [3, 126, 70_000][lengths.length]
        if (length === undefined) {
          socket.close(1000)
        } else {
          socket.send("x".repeat(length))
        }
      }
    )
    assert.deepStrictEqual([heard.code, lengths], [1000, [3, 126, 70_000]])
  })

  it("puts a frame together from single bytes, and refuses one that is masked", () => {
    const reader = new FrameReader()
    const frame = Uint8Array.of(129, 2, 104, 105)
    const found = Array.from(frame).flatMap((byte) => reader.take(Uint8Array.of(byte)))
    assert.deepStrictEqual(found, [{ op: OP.text, payload: Uint8Array.of(104, 105) }])
    assert.throws(() => reader.take(maskedFrame(OP.text, frame, Uint8Array.of(1, 2, 3, 4))))
  })
})
