import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, References } from "effect"
import { HttpClient } from "effect/http"
import { type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { PoolBook } from "../../../src/quotes/pools/PoolBook.ts"
import * as KeepPoolIndex from "../../../src/quotes/pools/keepPoolIndex.ts"
import * as PoolIndexStorePg from "../../../src/quotes/pools/PoolIndexStorePg.ts"
import * as ReadPoolIndex from "../../../src/quotes/pools/storedPoolIndex.ts"
import { followedPrograms } from "../../../src/programs/registry.ts"
import type { Simulator } from "../../../src/simulator/Simulator.ts"
import * as AccountScanRpc from "../../../src/chain/rpc/AccountScanRpc.ts"
import * as ChainFeedGeyser from "../../../src/chain/geyser/ChainFeedGeyser.ts"
import * as ProgramWritesGeyser from "../../../src/chain/geyser/ProgramWritesGeyser.ts"
import * as TransactionHistoryRpc from "../../../src/chain/rpc/TransactionHistoryRpc.ts"
import { advancing, simulatedNode } from "../../chain/accounts/nodeScene.ts"
import { until } from "../../support/sse.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** Counts the node's calls by method. */
const countingClient = (calls: Map<string, number>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.mapRequest(client, (request) => {
        const { body } = request
        const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
        const method = /"method":"(?<method>\w+)"/u.exec(text)?.groups?.["method"] ?? "other"
        calls.set(method, (calls.get(method) ?? 0) + 1)
        return request
      })
    )
  ).pipe(Layer.provide(NodeHttpClient.layerUndici))

/** A book over the node and its Geyser, with or without an index. */
const bookOver = Effect.fnUntraced(function* (node: Simulator["Service"], isIndexed: boolean) {
  const calls = new Map<string, number>()
  const geyser = yield* node.addGeyser()
  const options = { rpcUrl: node.rpcUrl, geyser: { url: geyser.url } }
  const market = Layer.mergeAll(
    ChainFeedGeyser.layer(options),
    ProgramWritesGeyser.layer(options),
    AccountScanRpc.layer(options),
    TransactionHistoryRpc.layer(options)
  ).pipe(Layer.provide(countingClient(calls)))
  const store = PoolIndexStorePg.layer.pipe(Layer.provideMerge(TestDatabase.layer))
  const book = isIndexed
    ? Layer.merge(PoolBook.layer.pipe(Layer.provide(ReadPoolIndex.layer)), KeepPoolIndex.layer).pipe(
        Layer.provide(store)
      )
    : PoolBook.layer
  const context = yield* Layer.build(
    book.pipe(
      Layer.provide(market),
      Layer.provideMerge(SourceMonitor.layer),
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
      Layer.provide(
        ConfigProvider.layer(ConfigProvider.fromUnknown({ DISCOVERY_RATE: "100000", POOL_REFRESH: "1 hour" }))
      )
    )
  )
  return {
    calls,
    book: Context.get(context, PoolBook),
    indexed: () => Context.get(context, SourceMonitor.SourceMonitor).stateOf("pool_index", 0)
  }
})

const load = Effect.fnUntraced(function* (book: PoolBook["Service"], mint: Mint) {
  yield* book.warm(mint)
  yield* until(`the pools of ${mint} are loaded`, () => book.isLoaded(mint))
  return book
    .poolsOf(mint)
    .map(({ address }) => address)
    .toSorted()
})

describe.runIf(TestDatabase.isAvailable)("the index of a simulated market with a Geyser", () => {
  it.live(
    "finds the same pools as searches, with a few reads and no search for each mint",
    () =>
      Effect.gen(function* () {
        const node = yield* simulatedNode()
        yield* advancing([node])
        const searched = yield* bookOver(node, false)
        const own = yield* bookOver(node, true)
        yield* until("every program is indexed", () => own.indexed()?.status === "known")
        // One snapshot for each program. Curves of Pump.fun follow from the mint.
        assert.strictEqual(own.calls.get("getProgramAccounts"), followedPrograms.length - 1)
        const mints = node
          .mints()
          .map(({ address }) => address)
          .filter((mint) => mint !== SOL)
          .slice(0, 6)
        assert.include(mints, USDC)
        for (const mint of mints) {
          own.calls.clear()
          const found = yield* load(own.book, mint)
          assert.isNotEmpty(found)
          assert.deepStrictEqual(found, yield* load(searched.book, mint))
          assert.isNull(own.book.lacking(mint))
          assert.deepStrictEqual(Array.from(own.calls.keys()), ["getMultipleAccounts"])
          assert.isAtMost(own.calls.get("getMultipleAccounts") ?? 0, 4)
        }
        assert.isAbove(searched.calls.get("getProgramAccounts") ?? 0, 15 * mints.length)
      }).pipe(Effect.scoped),
    120_000
  )
})
