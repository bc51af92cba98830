import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Exit, FileSystem, Layer, Schedule, Scope } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Mint } from "../../src/domain/Address.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { DemoData, MarketSource } from "../../src/app/MarketSource.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import * as Logs from "../../src/operations/Logs.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import * as Startup from "../../src/app/Startup.ts"
import * as MemoryAccounts from "../support/memoryAccounts.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { COLD, engineOver, makeMarket, TOKEN } from "../support/market.ts"
import * as MemoryKeys from "../support/memoryKeys.ts"

const book = PoolBook.of({
  between: () => null,
  poolsOf: () => [],
  isLoaded: (mint) => mint !== COLD,
  graduationOf: () => null,
  leftOut: () => 0,
  lacking: () => null,
  learn: () => undefined,
  held: () => null,
  executedOf: () => [],
  poolAt: () => null,
  graph: { partnersOf: () => [], poolsBetween: () => [] },
  warm: () => Effect.succeed({ _tag: "Loaded" })
})

/** Tokens that load when `load` is called, once they were requested. */
const tokenScene = () => {
  const asked = new Set<Mint>()
  const loaded = new Set<Mint>()
  const state = { _tag: "Token", facts: null, metadata: null, observation: { slot: 1, observedAtMs: 1 } } as const
  const layer = Layer.succeed(
    TokenBook,
    TokenBook.of({
      read: (mint) => (loaded.has(mint) ? state : null),
      named: () => [],
      commitment: "confirmed",
      warm: (mint) => Effect.sync(() => void asked.add(mint))
    })
  )
  return { layer, load: () => asked.forEach((mint) => loaded.add(mint)) }
}

/** Has every token at once. */
const allTokens = Layer.succeed(
  TokenBook,
  TokenBook.of({
    read: () => ({ _tag: "NoToken", observation: { slot: 1, observedAtMs: 1 } }),
    named: () => [],
    commitment: "confirmed",
    warm: () => Effect.void
  })
)

/** The startup layer of a service that loads this mint. */
const startup = (
  mint: Mint,
  env: Readonly<Record<string, string>>,
  written: Effect.Effect<void> = Effect.void,
  tokens: Layer.Layer<TokenBook> = allTokens,
  sandbox = false
) =>
  Startup.layer.pipe(
    Layer.provide([
      Layer.succeed(Listening, Listening.of({ port: 8_080, url: "http://127.0.0.1:8080" })),
      Layer.succeed(MarketSource, MarketSource.of({ description: "a Solana node", sandbox, mints: [mint] })),
      Layer.succeed(PoolBook, book),
      tokens,
      Layer.succeed(DemoData, DemoData.of({ written })),
      engineOver({ ...makeMarket(), fresh: { slot: 77, heardAtMs: Date.now(), state: "live" } }),
      MemoryKeys.layer(),
      MemoryAccounts.layer,
      NodeFileSystem.layer,
      ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    ])
  )

const printed = Effect.map(TestConsole.logLines, (lines) => lines.map(String).join("\n"))

describe("Startup", () => {
  it.effect("prints the address and the market that it waits for when quotes are slow", () =>
    Effect.gen(function* () {
      yield* Layer.build(startup(COLD, {}))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* printed, "")
      yield* TestClock.adjust("2 seconds")
      assert.match(yield* printed, /^Fathom listens at http:\/\/127\.0\.0\.1:8080 and waits for a Solana node\./u)
    })
  )

  it.effect("says how much of the market's history is read, how long the rest takes, and when all is read", () =>
    Effect.gen(function* () {
      let isHeard = false
      let isWhole = false
      const monitor = yield* SourceMonitor.SourceMonitor
      const stateOf = () => {
        if (!isHeard) {
          return { status: "unavailable" as const }
        }
        return isWhole
          ? { status: "known" as const }
          : { status: "stale" as const, reason: "backfill_running" as const, share: 0.42, leftMs: 20_000 }
      }
      yield* monitor.report("block_feed", () => ({ observedAtMs: 0, ...stateOf() }))
      const told: Array<unknown> = []
      const listen = (message: unknown) => void told.push(message)
      subscribe("fathom.market", listen)
      yield* Effect.addFinalizer(() => Effect.sync(() => unsubscribe("fathom.market", listen)))
      yield* Layer.build(startup(TOKEN, {}))
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(told, [])
      isHeard = true
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(told, [{ isReading: true }])
      assert.include(yield* printed, "42 % of its history is read, about 20 s left")
      assert.notInclude(yield* printed, "All of its history is read.")
      isWhole = true
      yield* TestClock.adjust("2 seconds")
      assert.include(yield* printed, "All of its history is read.")
      assert.deepStrictEqual(told, [{ isReading: true }, { isReading: false }])
    }).pipe(Effect.provide(SourceMonitor.layer))
  )

  it.effect("logs the address in place of lines for people where the log is JSON", () =>
    Effect.gen(function* () {
      const env = { LOG_FORMAT: "json" }
      yield* Layer.build(
        startup(TOKEN, env).pipe(
          Layer.provideMerge(Logs.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))))
        )
      )
      yield* TestClock.adjust("20 seconds")
      const lines = (yield* TestConsole.logLines).map((line) => JSON.parse(String(line)))
      assert.deepInclude(lines.at(-1), {
        message: "Fathom answers",
        url: "http://127.0.0.1:8080",
        market: "a Solana node"
      })
    })
  )

  it.effect("waits for the tokens of its mints, so that the first read of one is not answered 503", () =>
    Effect.gen(function* () {
      const { layer, load } = tokenScene()
      yield* Layer.build(startup(TOKEN, {}, Effect.void, layer))
      yield* TestClock.adjust("3 seconds")
      assert.notInclude(yield* printed, "Fathom answers at")
      load()
      yield* TestClock.adjust("100 millis")
      assert.include(yield* printed, "Fathom answers at")
    })
  )

  it.effect("requests the pools and tokens of its mints before the service listens", () =>
    Effect.gen(function* () {
      const asked: Array<Mint> = []
      const { layer, load } = tokenScene()
      const pools = PoolBook.of({
        ...book,
        warm: (mint) => Effect.sync(() => ({ _tag: "Queued", readyInMs: asked.push(mint) }))
      })
      const source = MarketSource.of({ description: "a Solana node", sandbox: false, mints: [COLD, TOKEN] })
      const tokens = yield* Effect.provide(
        TokenBook,
        Startup.preloaded.pipe(
          Layer.provide([Layer.succeed(MarketSource, source), Layer.succeed(PoolBook, pools)]),
          Layer.provideMerge(layer)
        )
      )
      load()
      assert.deepStrictEqual(asked, [COLD, TOKEN])
      assert.isNotNull(tokens.read(COLD))
    })
  )

  it.effect("prints keys and a sign-in link on a terminal alone, and says elsewhere how to get them", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      const output = Effect.fnUntraced(function* (isTerminal: boolean, env: Readonly<Record<string, string>>) {
        const before = (yield* printed).length
        const layer = startup(TOKEN, { DATA_DIR: folder, ...env }, Effect.void, allTokens, true)
        yield* Layer.build(Layer.provide(layer, Layer.succeed(Startup.PrintsSecrets, isTerminal)))
        yield* TestClock.adjust("1 second")
        return (yield* printed).slice(before)
      })
      const shown = yield* output(true, {})
      assert.match(shown, /App +http:\/\/127\.0\.0\.1:8080\/sign-in#\w{20}/u)
      assert.match(shown, /Test key +svc_\w{30}/u)
      assert.notMatch(yield* output(true, { LOG_FORMAT: "json" }), /svc_|sign-in#/u)
      for (const text of [yield* output(false, {}), yield* output(false, { READY_FILE: `${folder}/ready.json` })]) {
        assert.notMatch(text, /svc_|sign-in#/u)
        assert.include(text, "Fathom answers at http://127.0.0.1:8080")
        assert.include(text, "npm run accounts -- link welcome")
        assert.include(text, "npm run keys -- create --name first")
      }
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live("writes its file without keys with a real node, and removes it, as it removes an earlier start's file", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      const path = `${folder}/ready.json`
      yield* files.writeFileString(path, "stale")
      const life = yield* Scope.make()
      yield* Layer.buildWithScope(startup(TOKEN, { READY_FILE: path }), life)
      const text = yield* files.readFileString(path).pipe(
        Effect.filterOrFail(
          (content) => content !== "stale",
          () => "stale" as const
        ),
        Effect.retry({ times: 200, schedule: Schedule.spaced("10 millis") })
      )
      assert.include(text, "http://127.0.0.1:8080")
      assert.include(text, '"keys":null')
      yield* Scope.close(life, Exit.void)
      assert.isFalse(yield* files.exists(path))
    }).pipe(Effect.provide([NodeFileSystem.layer, TestConsole.layer]))
  )

  it.live("writes its file only after the demo data", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/ready.json`
      const seeded = yield* Deferred.make<void>()
      yield* Layer.build(startup(TOKEN, { READY_FILE: path }, Deferred.await(seeded)))
      yield* printed.pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: (text) => text.includes("Fathom answers at"), times: 500 })
      )
      yield* Effect.sleep("50 millis")
      assert.isFalse(yield* files.exists(path))
      yield* Deferred.succeed(seeded, undefined)
      yield* files.readFileString(path).pipe(Effect.retry({ times: 200, schedule: Schedule.spaced("10 millis") }))
    }).pipe(Effect.provide([NodeFileSystem.layer, TestConsole.layer]))
  )
})
