import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { BlockProgress, followBlocks } from "../../../src/chain/blocks/followBlocks.ts"

const SLOT_MS = 400
const FIRST = 1000

/** Follows a chain with a slot every 400 ms, whose node takes so long for each block. */
const reading = Effect.fnUntraced(function* (delay: Duration.Input) {
  yield* TestClock.setTime(FIRST * SLOT_MS)
  const head = Effect.map(
    Effect.clockWith((clock) => clock.currentTimeMillis),
    (nowMs) => Math.floor(nowMs / SLOT_MS)
  )
  const progress = new BlockProgress()
  yield* followBlocks(
    {
      newest: head,
      list: (from, limit) => Effect.succeed(Array.from({ length: limit }, (_, index) => from + index)),
      firstAvailable: Effect.succeed(0),
      read: (slot) => Effect.delay(Effect.succeed({ slot, parentSlot: slot - 1, blockTimeMs: slot * SLOT_MS }), delay)
    },
    progress,
    { concurrency: 2, catchUp: 1500, poll: Duration.millis(400), tries: 4 },
    null
  ).pipe(Stream.runDrain, Effect.forkScoped)
  const after = (duration: Duration.Input) =>
    Effect.gen(function* () {
      yield* TestClock.adjust(duration)
      return { source: progress.source(yield* Effect.clockWith((clock) => clock.currentTimeMillis)), head: yield* head }
    })
  return after
})

const lagOf = ({ head, source }: { readonly head: number; readonly source: ReturnType<BlockProgress["source"]> }) => ({
  behindMs: head * SLOT_MS - (source.observedAtMs ?? 0),
  slots: head - (source.slot ?? 0)
})

describe("the source block_feed", () => {
  it.effect("is as late as its newest block is old, however busy its reader is", () =>
    Effect.gen(function* () {
      const after = yield* reading("1500 millis")
      const late = yield* after("80 seconds")
      const { behindMs, slots } = lagOf(late)
      assert.isAbove(slots, 75)
      assert.strictEqual(behindMs, slots * SLOT_MS)
      assert.strictEqual(late.source.status, "stale")
      assert.strictEqual(late.source.reason, "backfill_running")
    })
  )

  it.effect("is known while its reader keeps up", () =>
    Effect.gen(function* () {
      const after = yield* reading("300 millis")
      const current = yield* after("80 seconds")
      assert.isAtMost(lagOf(current).behindMs, 4 * SLOT_MS)
      assert.strictEqual(current.source.status, "known")
      assert.strictEqual(current.source.head, current.head)
    })
  )

  it("takes the age of a block without a time from its slot", () => {
    const progress = new BlockProgress()
    progress.reach(200)
    progress.emit({ slot: 100, parentSlot: 99, blockTimeMs: null }, 1_000_000)
    assert.strictEqual(progress.source(1_000_000).observedAtMs, 960_000)
  })
})
