/** One suite for both sources: blocks of a node, and blocks that a Geyser streams. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, References, type Scope, Stream } from "effect"
import { Simulator } from "../../src/simulator/Simulator.ts"
import type { BlockEvent } from "../../src/chain/blocks/BlockFeed.ts"
import type { GeyserFeedOptions } from "../../src/chain/geyser/BlockFeedGeyser.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import type { TradeBlock } from "../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { plain } from "../chain/decoding/plainTransactions.ts"
import { at, call } from "../simulator/node/client.ts"
import { until } from "../chain/accounts/accounts.ts"

type Options = Partial<GeyserFeedOptions>
/** The settings of a source of the simulated chain. */
type Source = (simulator: Simulator["Service"]) => Effect.Effect<Options, never, Scope.Scope>

const full = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }
const blocks = { concurrency: 3, poll: Duration.millis(20), tries: 2 }

const sources: Readonly<Record<string, Source>> = {
  layerRpc: ({ rpcUrl }) => Effect.succeed({ rpcUrl }),
  layerGeyser: ({ addGeyser, rpcUrl }) => Effect.map(addGeyser(), ({ url }) => ({ rpcUrl, geyser: { url } })),
  "layerGeyser, with three decoders": ({ addGeyser, rpcUrl }) =>
    Effect.map(addGeyser(), ({ url }) => ({ rpcUrl, geyser: { url, decoders: 3 } }))
}

const feedOf = (source: Options, options: Options = {}) => {
  const all = { retries: 1, scanTimeout: Duration.seconds(5), blocks, ...source, ...options }
  const layer = source.geyser === undefined ? TradeBlocks.layerRpc(all) : TradeBlocks.layerGeyser(all)
  return layer.pipe(
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
  )
}

/** The first events after a slot, over a real socket and from a real thread. */
const first = (count: number, after: number | null, source: Options, options?: Options) =>
  TradeBlocks.use((feed) => feed.follow(after).pipe(Stream.take(count), Stream.runCollect)).pipe(
    Effect.map((events) => Array.from(events)),
    Effect.timeout("50 seconds"),
    Effect.provide(feedOf(source, options))
  )

const spelled = (event: BlockEvent<TradeBlock>): string =>
  event._tag === "Block" ? String(event.block.slot) : `${event.from}-${event.to} ${event.reason}`

const newest = (url: string) => Effect.map(call(url, "getSlot"), (answer) => Number(at(answer, "result")))

/** Few trades, because only slots matter. */
const quiet = Simulator.layer({ seed: "quiet", speed: 0, swapsPerSecond: 2, startUnixMs: 1_790_000_000_000 })
const simulated = Simulator.layer({ seed: "block feed", speed: 0, swapsPerSecond: 60, startUnixMs: 1_790_000_000_000 })

describe.each(Object.entries(sources))("TradeBlocks.%s", (_, source) => {
  it.live("emits every block of a node as a decoder on this thread reads it, without skipped slots", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const { rpcUrl, advance, faults } = simulator
      const node = yield* source(simulator)
      const before = yield* newest(rpcUrl)
      yield* advance(10)
      yield* faults.skipSlots(2)
      yield* advance(10)
      const events = yield* first(20, before, node)
      for (const event of events) {
        assert.strictEqual(event._tag, "Block")
        if (event._tag === "Block") {
          const { block } = event
          const answer = at(yield* call(rpcUrl, "getBlock", block.slot, full), "result")
          assert.deepStrictEqual({ ...block, transactions: plain(block.transactions) }, decodeBlock(block.slot, answer))
          assert.strictEqual(block.malformed, 0)
        }
      }
      const legs = events.flatMap((event) => (event._tag === "Block" ? Array.from(event.block.transactions) : []))
      assert.isAbove(legs.flatMap((transaction) => transaction.legs).length, 200)
      const slots = events.map((event) => (event._tag === "Block" ? event.block.slot : 0))
      assert.deepStrictEqual(
        slots,
        slots.toSorted((a, b) => a - b)
      )
      assert.strictEqual((slots.at(-1) ?? 0) - before, 22)
    }).pipe(Effect.provide(simulated))
  )

  it.live("catches up with a long and sparse past without a gap", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const { pastSlots, rpcUrl } = simulator
      const node = yield* source(simulator)
      const before = (yield* newest(rpcUrl)) - pastSlots
      const listed = at(yield* call(rpcUrl, "getBlocksWithLimit", before + 1, 5_000), "result")
      const slots = Array.isArray(listed) ? listed.map(String) : []
      assert.isAbove(slots.length, 200)
      assert.deepStrictEqual(
        (yield* first(slots.length, before, node, { blocks: { ...blocks, catchUp: pastSlots } })).map(spelled),
        slots
      )
    }).pipe(
      Effect.provide(
        Simulator.layer({ seed: "sparse", speed: 0, swapsPerSecond: 2, startUnixMs: 1_790_000_000_000, history: 0.05 })
      )
    )
  )

  it.live("goes on where it had stopped after a restart", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const { rpcUrl, advance } = simulator
      const node = yield* source(simulator)
      const start = yield* newest(rpcUrl)
      yield* advance(12)
      const [one, two] = [yield* first(5, start, node), yield* first(7, start + 5, node)]
      assert.deepStrictEqual(
        [...one, ...two].map(spelled),
        Array.from({ length: 12 }, (_, i) => String(start + 1 + i))
      )
    }).pipe(Effect.provide(quiet))
  )

  it.live("emits a gap for the blocks that a node has cleaned up", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const { rpcUrl, advance } = simulator
      const node = yield* source(simulator)
      const start = yield* newest(rpcUrl)
      yield* advance(310)
      const [gap, block] = yield* first(2, start, node)
      assert.deepStrictEqual(gap, { _tag: "Gap", from: start + 1, to: start + 10, reason: "cleaned_up" })
      assert.strictEqual(block?._tag === "Block" ? block.block.slot : 0, start + 11)
    }).pipe(Effect.provide(quiet))
  )

  it.live("follows a moving chain, and is live", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const node = yield* source(simulator)
      yield* TradeBlocks.use((feed) =>
        Effect.gen(function* () {
          const emitted: Array<string> = []
          assert.strictEqual(feed.freshness().state, "down")
          yield* feed.follow(null).pipe(
            Stream.runForEach((event) => Effect.sync(() => emitted.push(spelled(event)))),
            Effect.forkScoped
          )
          const moving = yield* simulator
            .advance(1)
            .pipe(Effect.andThen(Effect.sleep("50 millis")), Effect.forever, Effect.forkScoped)
          yield* until("blocks are read", () => emitted.length >= 4)
          yield* Fiber.interrupt(moving)
          yield* until("the newest is read", () => feed.freshness().state === "live")
          const { slot, heardAtMs } = feed.freshness()
          assert.isAbove(slot, 1_000_000)
          assert.isNotNull(heardAtMs)
          assert.isFalse(emitted.some((text) => text.includes(" ")))
        })
      ).pipe(Effect.provide(feedOf(node)))
    }).pipe(Effect.scoped, Effect.provide(quiet))
  )

  it.live("waits quietly while nothing can be reached", () =>
    Effect.gen(function* () {
      const emitted: Array<string> = []
      const node = yield* source(yield* Simulator)
      const unreachable = {
        ...node,
        rpcUrl: "http://127.0.0.1:9",
        ...(node.geyser !== undefined && { geyser: { url: "http://127.0.0.1:9", patience: Duration.millis(50) } })
      }
      const outcome = yield* TradeBlocks.use((feed) =>
        feed.follow(5).pipe(
          Stream.runForEach((event) => Effect.sync(() => emitted.push(spelled(event)))),
          Effect.timeoutOption("500 millis")
        )
      ).pipe(Effect.provide(feedOf(unreachable)))
      assert.strictEqual(outcome._tag, "None")
      assert.deepStrictEqual(emitted, [])
    }).pipe(Effect.provide(quiet))
  )
})
