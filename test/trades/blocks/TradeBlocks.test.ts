import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Stream } from "effect"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import type { BlockEvent } from "../../../src/solana/blocks/BlockFeed.ts"
import type { BlockFeedOptions } from "../../../src/solana/blocks/BlockFeedRpc.ts"
import { decodeBlock } from "../../../src/trades/decodeBlock.ts"
import type { TradeBlock } from "../../../src/trades/blocks/TradeBlock.ts"
import { TradeBlocks } from "../../../src/trades/blocks/TradeBlocks.ts"
import { plain } from "./plainTransactions.ts"
import { at, call } from "../../simulator/node/client.ts"
import { type Call, result, response, rpcError, scriptedNode } from "../../support/scriptedNode.ts"

const full = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }
const blocks = { concurrency: 3, poll: Duration.millis(20), tries: 2 }

const feedOf = (rpcUrl: string, options: Partial<BlockFeedOptions> = {}) =>
  TradeBlocks.layerRpc({
    rpcUrl,
    retries: 1,
    scanTimeout: Duration.seconds(5),
    blocks,
    ...options
  }).pipe(Layer.provide(NodeHttpClient.layerUndici))

/** The first events after a slot, over a real socket and from a real thread. */
const first = (count: number, after: number | null, rpcUrl: string, options?: Partial<BlockFeedOptions>) =>
  TradeBlocks.use((feed) => feed.follow(after).pipe(Stream.take(count), Stream.runCollect)).pipe(
    Effect.map((events) => Array.from(events)),
    Effect.timeout("20 seconds"),
    Effect.provide(feedOf(rpcUrl, options))
  )

const spelled = (event: BlockEvent<TradeBlock>): string =>
  event._tag === "Block" ? String(event.block.slot) : `${event.from}-${event.to} ${event.reason}`

const newest = (url: string) => Effect.map(call(url, "getSlot"), (answer) => Number(at(answer, "result")))

const simulated = Simulator.layer({ seed: "block feed", speed: 0, swapsPerSecond: 60, startUnixMs: 1_790_000_000_000 })

const empty = (slot: number) => result({ parentSlot: slot - 1, blockTime: slot, transactions: [] })

type Scripted = ReturnType<typeof empty>

/** A node whose newest slot is 110 and whose blocks are scripted; empty ones where the script has none. */
const withNode = (script: (slot: number, times: number, silence: Effect.Effect<never>) => Scripted | null) =>
  Effect.gen(function* () {
    const node = yield* scriptedNode
    const times = new Map<number, number>()
    node.say(({ method, params }: Call) => {
      if (method !== "getBlock") {
        return result(110)
      }
      const slot = Number(params[0])
      times.set(slot, (times.get(slot) ?? 0) + 1)
      return script(slot, times.get(slot) ?? 0, node.silence) ?? empty(slot)
    })
    return node
  })

describe("TradeBlocks.layerRpc", () => {
  it.live("emits every block of a node as a decoder on this thread has it, skipped slots left out", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance, faults } = yield* Simulator
      const before = yield* newest(rpcUrl)
      yield* advance(10)
      yield* faults.skipSlots(2)
      yield* advance(10)
      const events = yield* first(20, before, rpcUrl)
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
      const { pastSlots, rpcUrl } = yield* Simulator
      const before = (yield* newest(rpcUrl)) - pastSlots
      const listed = at(yield* call(rpcUrl, "getBlocksWithLimit", before + 1, 5_000), "result")
      const slots = Array.isArray(listed) ? listed.map(String) : []
      assert.isAbove(slots.length, 200)
      assert.deepStrictEqual(
        (yield* first(slots.length, before, rpcUrl, { blocks: { ...blocks, catchUp: pastSlots } })).map(spelled),
        slots
      )
    }).pipe(
      Effect.provide(Simulator.layer({ seed: "sparse", speed: 0, startUnixMs: 1_790_000_000_000, history: 0.05 }))
    )
  )

  it.live("goes on after a restart where it had stopped", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance } = yield* Simulator
      const start = yield* newest(rpcUrl)
      yield* advance(12)
      const [one, two] = [yield* first(5, start, rpcUrl), yield* first(7, start + 5, rpcUrl)]
      assert.deepStrictEqual(
        [...one, ...two].map(spelled),
        Array.from({ length: 12 }, (_, i) => String(start + 1 + i))
      )
    }).pipe(Effect.provide(simulated))
  )

  it.live("emits a gap for the blocks that a node has cleaned up", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance } = yield* Simulator
      const start = yield* newest(rpcUrl)
      yield* advance(310)
      const [gap, block] = yield* first(2, start, rpcUrl)
      assert.deepStrictEqual(gap, { _tag: "Gap", from: start + 1, to: start + 10, reason: "cleaned_up" })
      assert.strictEqual(block?._tag === "Block" ? block.block.slot : 0, start + 11)
    }).pipe(Effect.provide(simulated))
  )

  it.live("follows a chain that moves, and is live", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      yield* TradeBlocks.use((feed) =>
        Effect.gen(function* () {
          assert.strictEqual(feed.freshness().state, "down")
          yield* feed.follow(null).pipe(Stream.take(4), Stream.runDrain, Effect.timeout("20 seconds"))
          const { slot, state, heardAtMs } = feed.freshness()
          assert.strictEqual(state, "live")
          assert.isAbove(slot, 1_000_000)
          assert.isNotNull(heardAtMs)
        })
      ).pipe(Effect.provide(feedOf(rpcUrl)))
    }).pipe(Effect.provide(Simulator.layer({ seed: "live blocks", speed: 2 })))
  )

  it.live("asks again after 429, 503 and an answer that comes too late", () =>
    Effect.gen(function* () {
      const node = yield* withNode((slot, times, silence) => {
        const failures = slot === 102 ? response(429) : slot === 103 ? response(503) : slot === 104 ? silence : null
        return times === 1 ? failures : null
      })
      const events = yield* first(5, 101, node.rpcUrl, { scanTimeout: Duration.millis(300) })
      assert.deepStrictEqual(events.map(spelled), ["102", "103", "104", "105", "106"])
    }).pipe(Effect.scoped)
  )

  it.live("gives up unreadable blocks and names their slots", () =>
    Effect.gen(function* () {
      const node = yield* withNode((slot) =>
        slot === 102
          ? response(200, "no JSON")
          : slot === 103
            ? result({ nonsense: true })
            : slot === 104
              ? rpcError(-32007, "Slot 104 was skipped")
              : slot === 105
                ? result({ parentSlot: 104, blockTime: null, transactions: [{ meta: 5 }, "x"] })
                : null
      )
      const events = yield* first(4, 101, node.rpcUrl)
      assert.deepStrictEqual(events.map(spelled), ["102-103 unreadable", "104-104 missing", "105", "106"])
      const [, , odd] = events
      assert.strictEqual(odd?._tag === "Block" ? odd.block.malformed : 0, 2)
    }).pipe(Effect.scoped)
  )

  it.live("replaces a thread that ends, and loses only the block that ended it", () =>
    Effect.gen(function* () {
      const node = yield* withNode(() => null)
      const options = {
        worker: new URL("./crashingWorker.ts", import.meta.url),
        blocks: { ...blocks, concurrency: 1 }
      }
      const events = yield* first(4, 101, node.rpcUrl, options)
      assert.deepStrictEqual(events.map(spelled), ["102", "103-103 unavailable", "104", "105"])
    }).pipe(Effect.scoped)
  )

  it.live("waits in silence for a node that cannot be reached", () =>
    Effect.gen(function* () {
      const emitted: Array<string> = []
      const outcome = yield* TradeBlocks.use((feed) =>
        feed.follow(5).pipe(
          Stream.runForEach((event) => Effect.sync(() => emitted.push(spelled(event)))),
          Effect.timeoutOption("500 millis")
        )
      ).pipe(Effect.provide(feedOf("http://127.0.0.1:9")))
      assert.strictEqual(outcome._tag, "None")
      assert.deepStrictEqual(emitted, [])
    })
  )
})
