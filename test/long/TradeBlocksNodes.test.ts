import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, References, Stream } from "effect"
import type { Simulator } from "../../src/simulator/Simulator.ts"
import type { BlockEvent } from "../../src/chain/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { until } from "../chain/accounts/accounts.ts"
import { advancing, hostOf, simulatedNode } from "../chain/accounts/nodeScene.ts"

type Node = Simulator["Service"]

const services = Layer.mergeAll(NodeHttpClient.layerUndici, Layer.succeed(References.MinimumLogLevel, "None"))

/** The blocks of these nodes, collected from the newest one on. */
const reading = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>) {
  const layer = TradeBlocks.layerRpc({
    rpcUrl: nodes.map(({ rpcUrl }) => rpcUrl).join(","),
    blocks: { poll: Duration.millis(50), tries: 1000 }
  })
  const feed = Context.get(yield* Layer.build(layer.pipe(Layer.provide(services))), TradeBlocks)
  const events: Array<BlockEvent<TradeBlock>> = []
  const ended = { yes: false }
  yield* feed.follow(null).pipe(
    Stream.runForEach((event) => Effect.sync(() => events.push(event))),
    Effect.andThen(
      Effect.sync(() => {
        ended.yes = true
      })
    ),
    Effect.forkScoped
  )
  yield* until("blocks are read", () => events.length >= 3)
  return { feed, events, ended }
})

const slotsOf = (events: ReadonlyArray<BlockEvent<TradeBlock>>) =>
  events.map((event) => (event._tag === "Block" ? event.block.slot : -1))

/** True when every slot is the next one after its predecessor. */
const isUnbroken = (slots: ReadonlyArray<number>) =>
  slots.every((slot, index) => index === 0 || slot === (slots[index - 1] ?? 0) + 1)

describe("blocks of several nodes", { concurrent: true }, () => {
  it.live.each(["503", "frozen"] as const)("go on without a gap when the first is %s", (http) =>
    Effect.gen(function* () {
      const [first, second] = [yield* simulatedNode(), yield* simulatedNode()]
      yield* advancing([first, second])
      const { events, feed } = yield* reading([first, second])
      yield* first.faults.set({ http })
      const before = events.length
      // Blocks that were on their way may still arrive.
      yield* until("blocks of the second are read", () => events.length > before + 8)
      assert.isTrue(isUnbroken(slotsOf(events)))
      assert.strictEqual(feed.freshness().node, hostOf(second))
    })
  )

  it.live("are not mixed with blocks of another chain", () =>
    Effect.gen(function* () {
      const first = yield* simulatedNode()
      const foreign = yield* simulatedNode("another", 1_790_000_100_000)
      yield* advancing([first, foreign])
      const { ended, events } = yield* reading([first, foreign])
      yield* first.faults.set({ http: "503" })
      yield* Effect.sleep("2 seconds")
      const before = events.length
      yield* first.faults.set({ http: "ok" })
      yield* until("the first is read again", () => events.length > before + 20)
      assert.isFalse(ended.yes)
      assert.isTrue(isUnbroken(slotsOf(events)))
    })
  )
})

describe("blocks of a node with a new ledger", () => {
  it.live("end the old chain, and begin at the new chain's low slots", () =>
    Effect.gen(function* () {
      const node = yield* simulatedNode()
      yield* advancing([node])
      const { ended, events, feed } = yield* reading([node])
      const genesis = yield* feed.genesis
      yield* node.faults.resetLedger
      yield* until("the feed ends", () => ended.yes)
      assert.isTrue(isUnbroken(slotsOf(events)))
      assert.isAbove(slotsOf(events)[0] ?? 0, 1_000_000)
      assert.notStrictEqual(yield* feed.genesis, genesis)
      const anew = yield* feed.follow(null).pipe(Stream.take(3), Stream.runCollect)
      assert.isBelow(Math.max(...slotsOf(Array.from(anew))), 10_000)
    })
  )
})

describe("block times", { concurrent: true }, () => {
  it.live("are estimated from the clock sysvar and marked when they contradict it", () =>
    Effect.gen(function* () {
      const node = yield* simulatedNode()
      yield* node.faults.set({ blockTimes: "1970" })
      yield* advancing([node])
      const { events } = yield* reading([node])
      for (const event of events) {
        assert.strictEqual(event._tag, "Block")
        if (event._tag === "Block") {
          assert.isTrue(event.block.blockTimeEstimated)
          assert.approximately(event.block.blockTimeMs ?? 0, 1_790_000_000_000, 60_000)
        }
      }
    })
  )

  it.live("are kept when they agree with it", () =>
    Effect.gen(function* () {
      const node = yield* simulatedNode()
      yield* advancing([node])
      const { events } = yield* reading([node])
      assert.isTrue(events.every((event) => event._tag === "Block" && event.block.blockTimeEstimated === undefined))
    })
  )
})
