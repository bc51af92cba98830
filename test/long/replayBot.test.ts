/** The bot of the guide trades a recorded market, over the sockets that a user's bot has. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Effect, Layer, Stream } from "effect"
import { HttpServer } from "effect/http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { jsonOf, pageOf, type Report, runBot } from "../../docs/guides/replay-bot.ts"
import { DEFAULT_PLAN, Plan } from "../../src/api/schemas/Plan.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { playedFiles } from "../../src/chain/recording/playback.ts"
import * as Replay from "../../src/chain/recording/Replay.ts"
import { replayRoutes } from "../../src/chain/recording/replayRoutes.ts"
import { createClient } from "../../src/client/index.ts"
import { type Mint, SOL } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { serve } from "../../src/operations/AdminServer.ts"
import * as PastMarkets from "../../src/past/PastMarkets.ts"
import * as ReplayFills from "../../src/past/ReplayFills.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { DefaultSearchRate } from "../../src/quotes/pools/SearchPace.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { recordMarket } from "../../src/simulator/past/recordMarket.ts"
import { call, keyOf, running, secretOf } from "../support/http.ts"

const WALLET = "7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5"

/** The token that is traded most against SOL in pools whose swaps a replay executes. */
const busiestMint = Effect.fnUntraced(function* (folder: string) {
  const counts = new Map<Mint, number>()
  for (const { read } of yield* playedFiles(folder)) {
    for (const each of (yield* read) ?? []) {
      if (each._tag === "Block") {
        const block = decodeBlock(each.block.slot, JSON.parse(zstdDecompressSync(each.block.json).toString()))
        for (const leg of Array.from(block?.transactions ?? []).flatMap(({ legs }) => legs)) {
          if (leg.quote.mint === SOL && leg.dex === "raydium-cpmm") {
            counts.set(leg.token.mint, (counts.get(leg.token.mint) ?? 0) + 1)
          }
        }
      }
    }
  }
  return Array.from(counts).toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? assert.fail("nothing is traded")
})

const recorded = Effect.cached(
  Effect.gen(function* () {
    const folder = mkdtempSync(join(tmpdir(), "fathom-bot-"))
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
    const options = { folder, seed: "fills", slots: 100, swapsPerSecond: 40, startUnixMs: 1_790_000_000_000 }
    const range = yield* Effect.promise(() => recordMarket(options))
    return { folder, ...range, mint: yield* busiestMint(folder) }
  })
).pipe(Effect.runSync)

/** Plays the recording to the bot, from its start. */
const trade = Effect.fnUntraced(function* (latencySlots: number) {
  const { folder, from, mint, to } = yield* recorded
  const replay = yield* Replay.openReplay({ folder, from: from + 2, to: null, speed: null, isStepping: true })
  const keys = [keyOf("a", { plan: Plan.make({ ...DEFAULT_PLAN, name: "bots", rest: 100_000, quote: 100_000 }) })]
  const books = QuoteEngine.layerNative.pipe(Layer.provideMerge(PoolBook.layer))
  const world = running({ keys }).pipe(
    Layer.provideMerge([PastMarkets.layer(books), ReplayFills.layer, Replay.layer]),
    Layer.provideMerge([
      Layer.succeed(Replay.CurrentReplay, replay),
      Layer.succeed(Clock.Clock, replay.clock),
      Layer.succeed(DefaultSearchRate, null),
      ConfigProvider.layer(ConfigProvider.fromUnknown({ RECORD_DIR: folder }))
    ])
  )
  const context = yield* Layer.build(world)
  const admin = yield* Layer.build(
    serve({ host: "127.0.0.1", port: 0 }, replayRoutes.pipe(Layer.provide(Layer.succeedContext(context))))
  )
  yield* Context.get(context, TradeBlocks).follow(0).pipe(Stream.runDrain, Effect.forkScoped)
  const { url } = Context.get(context, Listening)
  const operator = yield* HttpServer.addressFormattedWith((address) => Effect.succeed(address)).pipe(
    Effect.provideContext(admin)
  )
  return yield* Effect.promise(() =>
    runBot({
      client: createClient({ baseUrl: url, key: secretOf("a") }),
      admin: operator,
      mint,
      wallet: WALLET,
      to,
      cash: 3_000_000_000n,
      stake: 1_000_000_000n,
      everySlots: 3,
      looks: 2,
      fallBps: 1n,
      riseBps: 20n,
      patience: 3,
      latencySlots,
      slippageBps: 500
    })
  )
}, Effect.scoped)

/** What the fills of a report add up to. */
const sumOf = ({ fills, start }: Report) => {
  const sum = { cash: start, tokens: 0n }
  for (const { amountIn, amountOut, side, status } of fills) {
    if (status === "filled") {
      const out = amountOut ?? assert.fail("a fill without an amount")
      sum.cash += side === "buy" ? -amountIn : out
      sum.tokens += side === "buy" ? out : -amountIn
    }
  }
  return sum
}

describe("the bot of the guide", () => {
  it.live("trades a replay, explains each difference from its quotes, and adds up to what it has", () =>
    Effect.gen(function* () {
      const report = yield* trade(1)
      const filled = report.fills.filter(({ status }) => status === "filled")
      assert.isAbove(filled.length, 1, jsonOf(report))
      // The first transaction of the next slot: nothing lies between the quote and the swap.
      for (const fill of filled) {
        assert.strictEqual(fill.byMarket, 0n)
        assert.strictEqual(fill.difference, fill.byOwnSwaps)
      }
      assert.deepInclude(filled[0], { differenceBps: "0.00", amountOut: filled[0]?.quotedOut ?? null })
      assert.isTrue(filled.slice(1).some(({ byOwnSwaps }) => byOwnSwaps !== 0n))
      assert.deepStrictEqual({ cash: report.cash, tokens: report.tokens }, sumOf(report))
      const { cash, tokens, total, worth } = report.equity.at(-1) ?? assert.fail("no equity")
      assert.deepStrictEqual([cash, tokens], [report.cash, report.tokens])
      assert.strictEqual(total, worth === null ? null : cash + worth)
      assert.strictEqual(report.end, total)
    })
  )

  it.live("writes the same bytes for the same recording, and a page that loads nothing", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* trade(3), yield* trade(3)]
      assert.isAbove(one.fills.length, 0)
      assert.strictEqual(jsonOf(one), jsonOf(two))
      const page = pageOf(one)
      assert.strictEqual(page, pageOf(two))
      assert.notMatch(page, /https?:|<script|<link|src=/u)
      assert.include(page, "<polyline")
    })
  )

  it.live("hears by name that a service does not play a recording", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({
        id: "one",
        wallet: WALLET,
        inputMint: SOL,
        outputMint: WALLET,
        amount: "1",
        pools: [WALLET]
      })
      const headers = { "content-type": "application/json" }
      const answer = yield* call("/api/v1/replay/fills", { method: "POST", headers, body })
      assert.deepStrictEqual([answer.status, answer.json("error.code")], [409, "not_a_replay"])
    }).pipe(Effect.provide(running()))
  )
})
