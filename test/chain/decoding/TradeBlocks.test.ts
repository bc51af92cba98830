import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Stream } from "effect"
import type { BlockEvent } from "../../../src/chain/blocks/BlockFeed.ts"
import type { BlockFeedOptions } from "../../../src/chain/blocks/BlockFeedRpc.ts"
import type { TradeBlock } from "../../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../../src/chain/decoding/TradeBlocks.ts"
import { type Call, result, response, rpcError, scriptedNode } from "../../support/scriptedNode.ts"

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
    Effect.timeout("50 seconds"),
    Effect.provide(feedOf(rpcUrl, options))
  )

const spelled = (event: BlockEvent<TradeBlock>): string =>
  event._tag === "Block" ? String(event.block.slot) : `${event.from}-${event.to} ${event.reason}`

const empty = (slot: number) => result({ parentSlot: slot - 1, blockTime: slot, transactions: [] })

type Scripted = ReturnType<typeof empty>

/** A node whose newest slot is 110 and whose blocks are scripted. Blocks that the script lacks are empty. */
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
  it.live("retries after 429, 503 and an answer that comes too late", () =>
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

  it.live("reads a block in any order of its properties, and none from an answer that ends early", () =>
    Effect.gen(function* () {
      const rewards = [{ lamports: 5 }, { lamports: 6 }]
      const whole = { rewards, transactions: [{}, 7, {}], blockTime: 1_790_000_000, parentSlot: 101 }
      const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { parentSlot: 102, transactions: [{}, {}] } })
      const node = yield* withNode((slot) =>
        slot === 102
          ? result(whole)
          : slot === 103
            ? response(200, text.slice(0, -4))
            : slot === 105
              ? response(200, text.replace("{},", "{5},"))
              : null
      )
      const events = yield* first(5, 101, node.rpcUrl)
      assert.deepStrictEqual(events.map(spelled), ["102", "103-103 unreadable", "104", "105-105 unreadable", "106"])
      const [event] = events
      const block = event?._tag === "Block" ? event.block : assert.fail("no block")
      assert.deepInclude(block, { parentSlot: 101, blockTimeMs: 1_790_000_000_000, malformed: 3 })
    }).pipe(Effect.scoped)
  )

  it.live("begins anew when an answer fails in its middle", () =>
    Effect.gen(function* () {
      const whole = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { parentSlot: 101, transactions: [{}, {}] } })
      const node = yield* withNode((slot, times) =>
        slot === 102 ? response(200, times === 1 ? whole.slice(0, -5) : whole) : null
      )
      const [event] = yield* first(1, 101, node.rpcUrl)
      assert.strictEqual(event?._tag === "Block" ? event.block.malformed : 0, 2)
    }).pipe(Effect.scoped)
  )

  it.live("replaces a thread that ends, and loses only blocks that end it or cannot be decoded", () =>
    Effect.gen(function* () {
      const node = yield* withNode(() => null)
      const options = {
        worker: new URL("./crashingWorker.ts", import.meta.url),
        blocks: { ...blocks, concurrency: 1 }
      }
      const events = yield* first(5, 101, node.rpcUrl, options)
      assert.deepStrictEqual(events.map(spelled), ["102", "103-103 unavailable", "104", "105-105 unreadable", "106"])
    }).pipe(Effect.scoped)
  )
})
