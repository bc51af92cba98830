import { assert, describe, it } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { until } from "../chain/accounts/accounts.ts"
import { advancing, hostOf, liveFeed, simulatedNode } from "../chain/accounts/nodeScene.ts"

const twoNodes = Effect.gen(function* () {
  const [first, second] = [yield* simulatedNode(), yield* simulatedNode()]
  const moving = yield* advancing([first, second])
  const scene = yield* liveFeed([first, second])
  assert.strictEqual(scene.feed.freshness().node, hostOf(first))
  return { first, second, moving, ...scene }
})

describe("several nodes", () => {
  it.live.each(["503", "frozen"] as const)("fail over within three seconds when the first is %s", (http) =>
    Effect.gen(function* () {
      const { feed, first, reader, second } = yield* twoNodes
      const { slot } = feed.freshness()
      const events = reader.events.length
      yield* first.faults.set({ http })
      yield* http === "frozen" ? Effect.void : first.faults.dropSockets
      yield* until("the second is followed", () => {
        const now = feed.freshness()
        return now.state === "live" && now.node === hostOf(second) && now.slot > slot
      }).pipe(Effect.timeout("4 seconds"))
      const slots = reader.events
        .slice(events)
        .map((event) => (event._tag === "Writes" ? event.slot : event.snapshot.slot))
      assert.deepStrictEqual(
        slots,
        slots.toSorted((a, b) => a - b)
      )
      assert.isAtLeast(slots[0] ?? 0, slot - 1)
    })
  )

  it.live("do not use one that lags until it has caught up", () =>
    Effect.gen(function* () {
      const { feed, first, moving, second } = yield* twoNodes
      yield* Ref.set(moving, [first])
      const before = feed.freshness().slot
      yield* until("the second is far behind", () => feed.freshness().slot > before + 30)
      yield* Ref.set(moving, [])
      const { slot } = feed.freshness()
      yield* first.faults.set({ http: "503" })
      yield* first.faults.dropSockets
      yield* Effect.sleep("2 seconds")
      assert.notStrictEqual(feed.freshness().state, "live")
      // The newest slot may not have ended before its connection was lost.
      assert.include([slot - 1, slot], feed.freshness().slot)
      yield* second.advance(40)
      yield* Ref.set(moving, [second])
      yield* until("the second is followed", () => {
        const now = feed.freshness()
        return now.state === "live" && now.node === hostOf(second)
      })
      assert.isAbove(feed.freshness().slot, slot)
    })
  )

  it.live("do not use a node of another chain", () =>
    Effect.gen(function* () {
      const first = yield* simulatedNode()
      const foreign = yield* simulatedNode("another", 1_790_000_100_000)
      yield* advancing([first, foreign])
      const { feed } = yield* liveFeed([first, foreign])
      const { slot } = feed.freshness()
      yield* first.faults.set({ http: "503" })
      yield* first.faults.dropSockets
      yield* Effect.sleep("3 seconds")
      assert.strictEqual(feed.freshness().node, hostOf(first))
      assert.notInclude(["live", "polling"], feed.freshness().state)
      yield* first.faults.set({ http: "ok" })
      yield* until("the first is followed again", () => feed.freshness().state === "live")
      assert.strictEqual(feed.freshness().node, hostOf(first))
      assert.isBelow(feed.freshness().slot, slot + 1000)
    })
  )
})

describe("a node with a new ledger", () => {
  it.live("is trusted: its accounts replace those of the old chain, at its low slots", () =>
    Effect.gen(function* () {
      const node = yield* simulatedNode()
      yield* advancing([node])
      const { feed, pools, reader } = yield* liveFeed([node])
      assert.isAbove(feed.freshness().slot, 1_000_000)
      const events = reader.events.length
      yield* node.faults.resetLedger
      yield* until("the new chain is followed", () => {
        const now = feed.freshness()
        return now.state === "live" && now.slot < 10_000
      }).pipe(Effect.timeout("5 seconds"))
      assert.isBelow(feed.clock().slot, 10_000)
      yield* until("every account is emitted anew", () => {
        const emitted = reader.events
          .slice(events)
          .flatMap((event) => Array.from((event._tag === "Writes" ? event : event.snapshot).accounts.keys()))
        return new Set(emitted).size === pools.length
      })
      for (const account of reader.known.values()) {
        assert.isBelow(account?.slot ?? 0, 10_000)
      }
    })
  )
})
