import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { makeRecorder } from "../../../src/market/tape/recordTrades.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import { storedBlock } from "../history/storedBlock.ts"
import * as MemoryStores from "../../../src/testing/MemoryStores.ts"
import { MONDAY } from "./tape.ts"
import { BlockStore } from "../../../src/market/model/BlockStore.ts"

const settings = { rows: 40, gather: Duration.millis(200), waiting: 100, roomTimeout: Duration.seconds(2) }

const blocks = Array.from({ length: 200 }, (_, i) => storedBlock(i + 1, [{}, {}]))
const slots = (batches: Iterable<StoredBatch>) => Array.from(batches, ({ slot }) => slot)

/** A recorder over a store that can be unavailable, with the blocks that were stored and that were read again. */
const scene = Effect.gen(function* () {
  const store = yield* BlockStore
  yield* store.open({ genesis: "recorded", isSandbox: true })
  const state = {
    isUnavailable: false,
    defect: null as unknown,
    appends: [] as Array<number>,
    reread: [] as Array<number>
  }
  const sometimes = BlockStore.of({
    ...store,
    append: (batches) =>
      Effect.suspend(() => {
        if (state.isUnavailable) {
          return Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
        }
        if (state.defect !== null) {
          return state.defect === "interrupted" ? Effect.interrupt : Effect.die(state.defect)
        }
        state.appends.push(batches.length)
        return store.append(batches)
      })
  })
  const reread = (after: number) => {
    state.reread.push(after)
    // The chain still has every block.
    return Stream.fromIterable(blocks.filter(({ slot }) => slot > after))
  }
  const recorder = yield* makeRecorder(sometimes, { after: 1000, reread }, settings)
  const stored = Effect.map(Stream.runCollect(store.since({ second: 0, after: 0, most: 1_000_000 })), slots)
  const offerAll = Effect.forEach(recorder.offer, { discard: true })
  const offer = (from: number, to: number) => offerAll(blocks.slice(from, to))
  return { state, recorder, stored, offer, offerAll, progress: store.progress }
}).pipe(Effect.provide(MemoryStores.layer))

/** The time of the tenth block. */
const NOW = (MONDAY + 10) * 1000

describe("a recorder", () => {
  for (const defect of [new Error("the store is broken"), "interrupted"]) {
    it.effect(
      `keeps blocks while the store ${defect === "interrupted" ? "is cut off" : "dies"}, and reports that it lags`,
      () =>
        Effect.gen(function* () {
          yield* TestClock.setTime(NOW)
          const { offer, recorder, state, stored } = yield* scene
          const clock = yield* Clock.Clock
          const status = () => recorder.health(clock.currentTimeMillisUnsafe()).status
          assert.strictEqual(status(), "unavailable")
          yield* offer(0, 10)
          yield* TestClock.adjust("1 second")
          assert.strictEqual(status(), "known")
          state.defect = defect
          yield* offer(10, 20)
          yield* TestClock.adjust("20 seconds")
          assert.strictEqual(status(), "stale")
          state.defect = null
          yield* TestClock.adjust("2 seconds")
          assert.strictEqual(status(), "known")
          assert.deepStrictEqual(yield* stored, slots(blocks.slice(0, 20)))
          yield* TestClock.adjust("31 seconds")
          assert.strictEqual(status(), "stale")
        })
    )
  }

  it.effect("is as late as the newest stored block is old, whenever the block was stored", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW + 95_000)
      const { offer, recorder } = yield* scene
      yield* offer(0, 10)
      yield* TestClock.adjust("1 second")
      const nowMs = yield* Clock.currentTimeMillis
      assert.deepStrictEqual(recorder.health(nowMs), { observedAtMs: NOW, status: "stale", slot: 1010 })
      yield* offer(70, 80)
      yield* TestClock.adjust("1 second")
      const caughtUp = { observedAtMs: NOW + 70_000, status: "known", slot: 1080 } as const
      assert.deepStrictEqual(recorder.health(yield* Clock.currentTimeMillis), caughtUp)
    })
  )

  it.effect("gathers blocks for 200 ms, up to a number of trades", () =>
    Effect.gen(function* () {
      const { offer, recorder, state, stored } = yield* scene
      yield* offer(0, 3)
      yield* TestClock.adjust("150 millis")
      yield* offer(3, 5)
      assert.deepStrictEqual(state.appends, [])
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual(state.appends, [5])
      yield* offer(5, 35)
      yield* TestClock.adjust("1 second")
      // A block of two trades takes three of forty places.
      assert.deepStrictEqual(state.appends, [5, 14, 14, 2])
      assert.deepStrictEqual(yield* stored, slots(blocks.slice(0, 35)))
      assert.strictEqual(recorder.durable(), 1035)
    })
  )

  it.effect("lists the blocks that are not stored yet, including those being written", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const { offer, recorder, state } = yield* scene
      assert.deepStrictEqual(recorder.unstored(), [])
      state.isUnavailable = true
      yield* offer(0, 20)
      assert.deepStrictEqual(slots(recorder.unstored()), slots(blocks.slice(0, 20)))
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(slots(recorder.unstored()), slots(blocks.slice(0, 20)))
      // The blocks between the stored and the waiting ones were abandoned: the rest alone would have a gap.
      yield* offer(20, 60).pipe(Effect.forkChild)
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(recorder.unstored(), [])
      state.isUnavailable = false
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(recorder.unstored(), [])
      assert.strictEqual(recorder.durable(), blocks[59]?.slot)
    })
  )

  it.effect("keeps waiting blocks while the store is unavailable for a short time", () =>
    Effect.gen(function* () {
      const { offer, state, stored } = yield* scene
      state.isUnavailable = true
      yield* offer(0, 20)
      yield* TestClock.adjust("30 seconds")
      state.isUnavailable = false
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* stored, slots(blocks.slice(0, 20)))
      assert.deepStrictEqual(state.reread, [])
    })
  )

  it.effect("blocks the tape no longer than its timeout, and reads abandoned blocks again", () =>
    Effect.gen(function* () {
      const { offer, recorder, state, stored } = yield* scene
      yield* offer(0, 10)
      yield* TestClock.adjust("1 second")
      state.isUnavailable = true
      const offering = yield* Effect.forkChild(offer(10, 150), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isUndefined(offering.pollUnsafe())
      yield* TestClock.adjust("3 seconds")
      assert.isDefined(offering.pollUnsafe())
      assert.strictEqual(recorder.durable(), 1010)
      yield* TestClock.adjust("1 minute")
      state.isUnavailable = false
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* stored, slots(blocks.slice(0, 150)))
      assert.deepStrictEqual(state.reread, [1010])
      yield* offer(150, 160)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* stored, slots(blocks.slice(0, 160)))
      assert.lengthOf(state.reread, 1)
    })
  )

  it.effect("stores that earlier blocks are of another fork, although the block that reported it was abandoned", () =>
    Effect.gen(function* () {
      const { offer, offerAll, state, progress } = yield* scene
      yield* offer(0, 10)
      yield* TestClock.adjust("1 second")
      state.isUnavailable = true
      const forked = blocks
        .slice(10, 150)
        .map((batch) => (batch.slot === 1012 ? { ...batch, afterGap: true, forkedFrom: 1009 } : batch))
      yield* Effect.forkChild(offerAll(forked), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      state.isUnavailable = false
      yield* TestClock.adjust("10 seconds")
      const { gaps = [], slot } = (yield* progress) ?? {}
      assert.strictEqual(slot, 1150)
      assert.deepStrictEqual(
        gaps.map((gap) => [gap.fromSlot, gap.toSlot, gap.state]),
        [[1009, 1010, "unavailable"]]
      )
    })
  )

  it.effect("slows the tape down instead of abandoning blocks while the store keeps up", () =>
    Effect.gen(function* () {
      const { offer, state, stored } = yield* scene
      yield* Effect.forkChild(offer(0, 200), { startImmediately: true })
      yield* Effect.repeat(TestClock.adjust("100 millis"), { times: 100 })
      assert.deepStrictEqual(yield* stored, slots(blocks))
      assert.deepStrictEqual(state.reread, [])
    })
  )
})
