import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { clockOf, until } from "./accounts.ts"
import { scene } from "./feedScene.ts"

describe("the chain's time", () => {
  it.live("follows the clock sysvar, at the newest slot received", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.write(101, clockOf(8, 1_700_000_400, 101))
        node.begin(103)
        yield* until("the clock is emitted", () => feed.clock().epoch === 8)
        assert.deepStrictEqual(feed.clock(), { slot: 103, epoch: 8, unixTimestamp: 1_700_000_400 })
        // No reader watches the sysvar itself.
        assert.isFalse(reader.known.has(CLOCK))
      })
    )
  )

  it.live("is read when the node does not send writes of the clock", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node }) {
        node.put(clockOf(9, 1_700_000_800, 101))
        for (let slot = 101; feed.clock().epoch !== 9 && slot < 200; slot++) {
          node.slot = slot
          node.begin(slot)
          yield* Effect.sleep("100 millis")
        }
        assert.strictEqual(feed.clock().epoch, 9)
        assert.strictEqual(feed.freshness().state, "live")
      })
    )
  )

  it.live("is emitted to a reader that watches the sysvar", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        yield* feed.watch([CLOCK])
        yield* until("the sysvar is emitted", () => reader.known.has(CLOCK))
        node.write(101, clockOf(8, 1, 101))
        yield* until("its write is emitted", () => reader.known.get(CLOCK)?.slot === 101)
        yield* feed.unwatch([CLOCK])
        node.write(102, clockOf(9, 1, 102))
        yield* until("the time goes on", () => feed.clock().epoch === 9)
        assert.strictEqual(reader.known.get(CLOCK)?.slot, 101)
      })
    )
  )
})
