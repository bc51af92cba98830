import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import type { ChainEvent } from "../../../src/chain/ChainFeed.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { at, readFeed } from "./accounts.ts"
import { connectionsTo, MemoryNode, passUntil } from "./memoryNodes.ts"

const watched = [at(1), at(2), at(3)]

/** The slot of an event, and the slots that its accounts hold. */
const slotsOf = (event: ChainEvent) => {
  const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
  const held = Array.from(accounts.values(), (account) => (account?.data[0] ?? 0) + 256 * (account?.data[1] ?? 0))
  return { slot, held }
}

/** A live feed of the first of two nodes. The first is at slot 1,000, the second at the given slot. */
const scene = Effect.fnUntraced(function* (secondSlot: number) {
  const [first, second] = [new MemoryNode(1_000), new MemoryNode(secondSlot)]
  const nodes = new Map([
    ["first:1", first],
    ["second:2", second]
  ])
  const quiet = Layer.succeed(References.MinimumLogLevel, "None")
  const layer = ChainFeedRpc.layer({ rpcUrl: "http://first:1,http://second:2", retries: 0 })
  const feed = Context.get(yield* Layer.build(layer.pipe(Layer.provide([connectionsTo(nodes), quiet]))), ChainFeed)
  const reader = yield* readFeed(feed)
  yield* feed.watch(watched)
  const isLive = () => feed.freshness().state === "live" && reader.known.size === watched.length
  assert.isBelow(yield* passUntil(nodes.values(), isLive, 3_000), 3_000)
  assert.strictEqual(feed.freshness().node, "first:1")
  yield* passUntil(nodes.values(), () => false, 2_000)
  return { feed, first, second, nodes, reader }
})

describe("the accounts of two nodes", () => {
  it.effect.each([
    { state: "frozen", behind: 0 },
    { state: "frozen", behind: 3 },
    { state: "refused", behind: 0 },
    { state: "refused", behind: 3 }
  ] as const)(
    "come from the second within three seconds when the first is $state and the second $behind slots behind",
    (how) =>
      Effect.gen(function* () {
        const { feed, first, nodes, reader } = yield* scene(1_000 - how.behind)
        const { slot } = feed.freshness()
        const events = reader.events.length
        first.fail(how.state)
        const isFollowed = () => {
          const now = feed.freshness()
          return now.state === "live" && now.node === "second:2" && now.slot > slot
        }
        assert.isAtMost(yield* passUntil(nodes.values(), isFollowed, 6_000), 3_000)
        yield* passUntil(nodes.values(), () => false, 2_000)

        const after = reader.events.slice(events).map(slotsOf)
        assert.isAbove(after.length, 3)
        // Each event holds the state of its own slot only, and no event goes back.
        for (const { held, slot } of after) {
          assert.deepStrictEqual(new Set(held), new Set([slot]))
          assert.strictEqual(held.length, watched.length)
        }
        const slots = after.map(({ slot }) => slot)
        assert.isAtLeast(slots[0] ?? 0, slot - 1)
        assert.deepStrictEqual(
          slots,
          slots.toSorted((a, b) => a - b)
        )
      })
  )
})
