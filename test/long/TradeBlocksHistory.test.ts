import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Layer, References, Stream } from "effect"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { healthy } from "../../src/simulator/node/Faults.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { simulatedNode } from "../chain/accounts/nodeScene.ts"

const services = Layer.mergeAll(
  NodeHttpClient.layerUndici,
  SourceMonitor.layer,
  Layer.succeed(References.MinimumLogLevel, "None")
)
const once = { timeout: Duration.seconds(2), scanTimeout: Duration.seconds(2), retries: 0 }

/** A node whose old blocks were cleaned up, another node of its chain that has them, and a node of another chain. */
const scene = Effect.gen(function* () {
  const chain = yield* simulatedNode()
  yield* chain.advance(20)
  const foreign = yield* simulatedNode("another", 1_790_000_100_000)
  yield* foreign.advance(20)
  const archive = yield* chain.addNode(healthy)
  const feedWith = Effect.fnUntraced(function* (historyUrl: string | undefined) {
    const layer = TradeBlocks.layerRpc({ rpcUrl: chain.rpcUrl, historyUrl, ...once }).pipe(Layer.provideMerge(services))
    const context = yield* Layer.build(Layer.fresh(layer))
    const feed = Context.get(context, TradeBlocks)
    const state = Effect.map(SourceMonitor.SourceMonitor, ({ stateOf }) => stateOf("history_feed", 0)).pipe(
      Effect.provide(context)
    )
    const [newest] = yield* feed.follow(null).pipe(Stream.take(1), Stream.runCollect)
    assert.strictEqual(newest?._tag, "Block")
    return { feed, state, slot: newest?._tag === "Block" ? newest.block.slot : 0 }
  })
  return { chain, archive, foreign, feedWith }
})

describe("old blocks", () => {
  it.live("come from the history node, and what it lacks from the followed node", () =>
    Effect.gen(function* () {
      const { archive, chain, feedWith } = yield* scene
      const { feed, slot, state } = yield* feedWith(archive.rpcUrl)
      yield* chain.faults.set({ prunedBelow: slot })
      assert.strictEqual((yield* feed.read(slot - 5))._tag, "Block")
      assert.deepStrictEqual((yield* feed.list(slot - 5, 3)).length, 3)
      assert.strictEqual((yield* state)?.status, "known")
      yield* archive.faults.set({ http: "503" })
      assert.strictEqual((yield* feed.read(slot))._tag, "Block")
      assert.strictEqual((yield* state)?.status, "stale")
      // It may come back, so the block is not gone.
      assert.deepInclude(yield* feed.read(slot - 5), { _tag: "Gap", reason: "unavailable" })
      yield* archive.faults.set({ http: "ok", prunedBelow: slot })
      assert.deepInclude(yield* feed.read(slot - 5), { _tag: "Gap", reason: "cleaned_up" })
    })
  )

  it.live("are not read from a node of another chain, nor from where it redirects to", () =>
    Effect.gen(function* () {
      const { archive, chain, feedWith, foreign } = yield* scene
      const other = yield* feedWith(foreign.rpcUrl)
      assert.strictEqual((yield* other.feed.read(other.slot - 5))._tag, "Block")
      yield* chain.faults.set({ prunedBelow: other.slot })
      assert.strictEqual((yield* other.feed.read(other.slot - 5))._tag, "Gap")
      assert.strictEqual((yield* other.state)?.status, "stale")
      yield* archive.faults.set({ http: "redirect" })
      const redirected = yield* feedWith(archive.rpcUrl)
      assert.strictEqual((yield* redirected.feed.read(other.slot - 5))._tag, "Gap")
    })
  )

  it.live("come from the nodes at HISTORY_RPC_URL, from the next one when one fails", () =>
    Effect.gen(function* () {
      const { archive, chain } = yield* scene
      const broken = yield* chain.addNode({ ...healthy, http: "503" })
      const env = {
        SOLANA_RPC_URL: chain.rpcUrl,
        HISTORY_RPC_URL: `${broken.rpcUrl},${archive.rpcUrl}`,
        SOLANA_RPC_TIMEOUT: "2 seconds"
      }
      const layer = TradeBlocks.layerRpc().pipe(
        Layer.provide([services, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))])
      )
      const feed = Context.get(yield* Layer.build(layer), TradeBlocks)
      const [newest] = yield* feed.follow(null).pipe(Stream.take(1), Stream.runCollect)
      const slot = newest?._tag === "Block" ? newest.block.slot : 0
      yield* chain.faults.set({ prunedBelow: slot })
      const read = yield* feed.read(slot - 3).pipe(Effect.repeat({ until: ({ _tag }) => _tag === "Block", times: 3 }))
      assert.strictEqual(read._tag, "Block")
    })
  )
})

describe("the sources of blocks", () => {
  it.live("exist only while they are read, so that a process that follows the bus has none", () =>
    Effect.gen(function* () {
      const { archive, chain } = yield* scene
      const layer = TradeBlocks.layerRpc({ rpcUrl: chain.rpcUrl, historyUrl: archive.rpcUrl, ...once })
      const names = Effect.map(SourceMonitor.SourceMonitor, ({ sources }) => sources(0).map(({ source }) => source))
      yield* Effect.gen(function* () {
        const feed = yield* TradeBlocks
        yield* feed.genesis
        assert.deepStrictEqual(yield* names, [])
        const during = yield* feed.follow(null).pipe(
          Stream.take(1),
          Stream.mapEffect(() => names),
          Stream.runCollect
        )
        assert.deepStrictEqual(Array.from(during), [["block_feed"]])
        assert.deepStrictEqual(yield* names, [])
        yield* feed.read(1)
        assert.deepStrictEqual(yield* names, ["history_feed"])
      }).pipe(Effect.provide(Layer.fresh(layer).pipe(Layer.provideMerge(services))))
    })
  )
})
