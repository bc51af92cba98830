import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { staleness } from "../../../src/quotes/pools/freshness.ts"
import { at, readFeed } from "./accounts.ts"
import { connectionsTo, MemoryNode, passUntil } from "./memoryNodes.ts"

const watched = [at(1), at(2)]

/** A feed of one node, and the messages that it logs from level Info on. */
const started = Effect.gen(function* () {
  const node = new MemoryNode(1_000)
  const messages: Array<string> = []
  const logger = Logger.make(({ message }) => {
    messages.push(String(Array.isArray(message) ? message[0] : message))
  })
  const layer = ChainFeedRpc.layer({ rpcUrl: "http://one:1", retries: 0 }).pipe(
    Layer.provide([
      connectionsTo(new Map([["one:1", node]])),
      Logger.layer([logger]),
      Layer.succeed(References.MinimumLogLevel, "Info")
    ])
  )
  const feed = Context.get(yield* Layer.build(layer), ChainFeed)
  const reader = yield* readFeed(feed)
  yield* feed.watch(watched)
  return { feed, messages, node, reader }
})

/** A live feed of one node. */
const scene = Effect.gen(function* () {
  const { feed, messages, node } = yield* started
  assert.isBelow(yield* passUntil([node], () => feed.freshness().state === "live", 3_000), 3_000)
  yield* passUntil([node], () => false, 2_000)
  return { feed, messages, node }
})

describe("a node that answers while its chain is halted", () => {
  it.effect("is lost once, until a new slot arrives, and then goes on", () =>
    Effect.gen(function* () {
      const { feed, messages, node } = yield* scene
      const { heardAtMs, slot } = feed.freshness()
      const isLost = () => feed.freshness().state === "down"
      assert.isAtMost(yield* passUntil([], isLost, 11_000), 11_000)
      const states = new Set<string>()
      const look = () => {
        states.add(feed.freshness().state)
        return false
      }
      yield* passUntil([], look, 40_000)
      assert.deepStrictEqual(Array.from(states), ["down"])
      assert.deepInclude(feed.freshness(), { slot, heardAtMs })
      assert.isAbove((yield* Clock.currentTimeMillis) - (heardAtMs ?? 0), 50_000)
      assert.deepStrictEqual(messages, ["The chain was lost"])

      const isLive = () => feed.freshness().state === "live"
      assert.isAtMost(yield* passUntil([node], isLive, 3_000), 3_000)
      yield* passUntil([node], () => false, 15_000)
      assert.deepStrictEqual(messages, ["The chain was lost", "The chain goes on"])
    })
  )

  it.effect.each(["well", "socketless"] as const)(
    "has the state of its slot from the start, as old as the chain's clock says: %s",
    (sockets) =>
      Effect.gen(function* () {
        // An hour after the chain's last slot.
        const chainMs = (1_700_000_000 + 1_000) * 1000
        yield* TestClock.setTime(chainMs + 3_600_000)
        const { feed, messages, node, reader } = yield* started
        node.state = sockets
        const isKnown = () => reader.known.size === watched.length
        assert.isAtMost(yield* passUntil([], isKnown, 5_000), 5_000)
        const wrong = () => {
          const { heardAtMs, slot } = feed.freshness()
          return slot !== 1_000 || heardAtMs !== chainMs
        }
        assert.isAtLeast(yield* passUntil([], wrong, 60_000), 60_000)
        assert.strictEqual(staleness(feed.freshness(), yield* Clock.currentTimeMillis, 7_200_000), null)
        assert.isNotNull(staleness(feed.freshness(), yield* Clock.currentTimeMillis, 10_000))
        assert.notInclude(messages, "The chain goes on")

        node.state = "well"
        const isLive = () => feed.freshness().state === "live" && feed.freshness().slot > 1_001
        assert.isAtMost(yield* passUntil([node], isLive, 5_000), 5_000)
        assert.isAbove(feed.freshness().heardAtMs ?? 0, chainMs + 3_600_000)
      })
  )

  it.effect("grows old while it is only polled, because an answer at a known slot is no news", () =>
    Effect.gen(function* () {
      const { feed, node } = yield* scene
      const { heardAtMs, slot } = feed.freshness()
      node.fail("socketless")
      const isPolled = () => feed.freshness().state === "polling"
      assert.isAtMost(yield* passUntil([], isPolled, 5_000), 5_000)
      assert.isAtMost(feed.freshness().heardAtMs ?? 0, heardAtMs ?? 0)
      const isAtNext = () => feed.freshness().slot > slot
      assert.isAtMost(yield* passUntil([node], isAtNext, 5_000), 5_000)
      assert.isAbove(feed.freshness().heardAtMs ?? 0, (heardAtMs ?? 0) + 500)
    })
  )
})
