import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { staleness } from "../../src/quotes/pools/freshness.ts"
import { until } from "../chain/accounts/accounts.ts"
import { advancing, hostOf, liveFeed, simulatedNode } from "../chain/accounts/nodeScene.ts"

describe("a node that refuses WebSockets", { concurrent: true }, () => {
  it.live("is read over HTTP: the state of one slot after the other, fresh and never mixed", () =>
    Effect.gen(function* () {
      const node = yield* simulatedNode()
      yield* advancing([node])
      const { feed, pools, reader } = yield* liveFeed([node])
      yield* node.faults.set({ sockets: "refused" })
      yield* node.faults.dropSockets
      yield* until("the accounts are polled", () => feed.freshness().state === "polling")
      const [first, events] = [feed.freshness(), reader.events.length]
      assert.strictEqual(first.node, hostOf(node))
      yield* until("a later slot is polled", () => feed.freshness().slot > first.slot + 5)
      const polled = feed.freshness()
      assert.isAtLeast(polled.heardAtMs ?? 0, (first.heardAtMs ?? 0) + 100)
      assert.isNull(staleness(polled, Date.now(), 10_000))
      assert.isAtLeast(feed.clock().unixTimestamp, 1_790_000_000)
      const emitted = reader.events.slice(events)
      assert.isAbove(emitted.length, 0)
      for (const event of emitted) {
        assert.strictEqual(event._tag, "Snapshot")
        if (event._tag === "Snapshot") {
          const slots = Array.from(event.snapshot.accounts.values(), (account) => account?.slot)
          assert.deepStrictEqual(Array.from(new Set(slots)), [event.snapshot.slot])
        }
      }
      assert.lengthOf(pools, reader.known.size)
    })
  )

  it.live("is followed again within five seconds, and quotes are never stale in the meantime", () =>
    Effect.gen(function* () {
      const node = yield* simulatedNode()
      yield* advancing([node])
      const { feed } = yield* liveFeed([node])
      const stale: Array<string> = []
      yield* Effect.sync(() => {
        const freshness = feed.freshness()
        if (staleness(freshness, Date.now(), 5000) !== null) {
          stale.push(freshness.state)
        }
      }).pipe(Effect.andThen(Effect.sleep("20 millis")), Effect.forever, Effect.forkScoped)
      yield* node.faults.set({ sockets: "refused" })
      yield* node.faults.dropSockets
      yield* Effect.sleep("8 seconds")
      assert.strictEqual(feed.freshness().state, "polling")
      yield* node.faults.set({ sockets: "ok" })
      yield* until("it is followed", () => feed.freshness().state === "live").pipe(Effect.timeout("5 seconds"))
      assert.isAtMost(stale.length, 5)
    })
  )
})
