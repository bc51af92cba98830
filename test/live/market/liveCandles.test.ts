import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { ChartBar } from "../../../src/api/schemas/Chart.ts"
import { LiveCandles } from "../../../src/live/market/LiveCandles.ts"
import type { SnapshotSources } from "../../../src/live/market/snapshots.ts"
import type { Topic } from "../../../src/live/market/Topic.ts"
import { mintOf, trade } from "../../market/tape/tape.ts"
import { brief, Scene } from "./marketScene.ts"

const MINUTE_MS = 60_000
const START = 1_700_000_040_000

/** Candles of any token: one bar per minute up to this many, the last one open. */
const charts = (count: () => number) =>
  ({
    feed: { mintOfPool: () => null },
    reader: {
      chart: () =>
        Effect.sync(() => ({
          data: { bars: Array.from({ length: count() }, (_, n) => ({ t: START + n * MINUTE_MS })) as Array<ChartBar> },
          knowledge: { openBarMs: START + (count() - 1) * MINUTE_MS }
        }))
    }
  }) as unknown as SnapshotSources

/** Prices of token 1, sent after each block: one block a second by its own time, every `everyMs` by the clock. */
const pricesOf = (blocks: number, { agoMs, everyMs }: { readonly agoMs: number; readonly everyMs: number }) =>
  Effect.gen(function* () {
    const scene = new Scene()
    const candles = new LiveCandles(
      scene.hub,
      charts(() => 1),
      yield* Effect.scope
    )
    const { say, wire } = scene.connect()
    say({ op: "subscribe", id: "p", channel: "price", mint: mintOf(1) })
    const clock = yield* Clock.Clock
    yield* TestClock.setTime(START)
    const sent = () => brief(wire).flatMap(([type, , , price]) => (type === "price" ? [price] : []))
    const take = Effect.fnUntraced(function* (slot: number, timeMs: number) {
      candles.note({ timeMs, trades: [trade({ slot, timeMs, role: "pool" })] }, clock)
      yield* candles.send
      return sent().length
    })
    for (let slot = 0; slot < blocks; slot++) {
      yield* TestClock.adjust(everyMs)
      yield* take(slot, START - agoMs + slot * 1000)
    }
    const slots = () => sent().map((price) => (price as { readonly slot: number }).slot)
    return { candles, slots, take }
  })

describe("live candles", () => {
  it.effect("compare a block once with each end of an open candle, however many topics share it", () =>
    Effect.gen(function* () {
      const scene = new Scene()
      let bars = 1
      const candles = new LiveCandles(
        scene.hub,
        charts(() => bars),
        yield* Effect.scope
      )
      const { say, wire } = scene.connect()
      const topics: Array<Topic> = []
      for (let n = 0; n < 50; n++) {
        say({ op: "subscribe", id: `c${n}`, channel: "candles", mint: mintOf(n), resolution: "1m" })
      }
      topics.push(...scene.hub.topics)
      topics.forEach((topic) => candles.begin(topic))
      yield* candles.send
      assert.strictEqual(candles.ends, 1)
      assert.isFalse(candles.isWaiting)

      const clock = yield* Clock.Clock
      candles.note({ timeMs: START + MINUTE_MS - 1, trades: [] }, clock)
      assert.isFalse(candles.isWaiting)
      bars = 2
      candles.note({ timeMs: START + MINUTE_MS, trades: [] }, clock)
      assert.isTrue(candles.isWaiting)
      // The topics wait until 250 ms have passed since their last frames.
      topics.slice(1).forEach((topic) => candles.forget(topic))
      assert.strictEqual(candles.ends, 1)
      topics.slice(0, 1).forEach((topic) => candles.forget(topic))
      assert.strictEqual(candles.ends, 0)
      assert.isFalse(candles.isWaiting)
      assert.isAbove(brief(wire).filter(([type]) => type === "candle").length, 0)
    })
  )

  it.effect("are sent while another token's candles wait for a store", () =>
    Effect.gen(function* () {
      const scene = new Scene()
      const stored = yield* Deferred.make<void>()
      const sources = charts(() => 1)
      const { chart } = sources.reader
      const waits = new Set<string>([mintOf(1)])
      const slow: SnapshotSources = {
        ...sources,
        reader: {
          ...sources.reader,
          chart: (mint, request) =>
            waits.has(mint) ? Effect.andThen(Deferred.await(stored), chart(mint, request)) : chart(mint, request)
        }
      }
      const candles = new LiveCandles(scene.hub, slow, yield* Effect.scope)
      const { say, wire } = scene.connect()
      for (const n of [1, 2, 3]) {
        say({ op: "subscribe", id: `c${n}`, channel: "candles", mint: mintOf(n), resolution: "1m" })
      }
      Array.from(scene.hub.topics).forEach((topic) => candles.begin(topic))
      const sent = () => brief(wire).flatMap(([type, id]) => (type === "candle" ? [id] : []))
      yield* candles.send
      assert.deepStrictEqual(sent(), ["c2", "c3"])
      // All frames of a round leave in one write.
      assert.strictEqual(wire.writes.at(-1), 2)
      assert.isFalse(candles.isWaiting)

      yield* Deferred.succeed(stored, undefined)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(sent(), ["c2", "c3", "c1"])
    })
  )

  it.effect("go on, with prices, when the wall clock is set back", () =>
    Effect.gen(function* () {
      const scene = new Scene()
      let bars = 1
      const candles = new LiveCandles(
        scene.hub,
        charts(() => bars),
        yield* Effect.scope
      )
      const { say, wire } = scene.connect()
      say({ op: "subscribe", id: "p", channel: "price", mint: mintOf(1) })
      say({ op: "subscribe", id: "c", channel: "candles", mint: mintOf(1), resolution: "1m" })
      const traded = { timeMs: START, trades: [trade({ role: "pool" })] }
      yield* TestClock.setTime(START)
      const clock = yield* Clock.Clock
      candles.note(traded, clock)
      yield* candles.send
      assert.isFalse(candles.isWaiting)
      const before = brief(wire).length
      yield* TestClock.setTime(START - 3_600_000)
      yield* TestClock.adjust("300 millis")
      bars = 2
      candles.note(traded, clock)
      yield* candles.send
      assert.isFalse(candles.isWaiting)
      assert.isAbove(brief(wire).length, before + 1)
    })
  )

  it.effect("have no prices of long ago while old blocks are caught up with, and then only the newest", () =>
    Effect.gen(function* () {
      const { candles, slots, take } = yield* pricesOf(1000, { agoMs: 3_600_000, everyMs: 300 })
      assert.deepStrictEqual(slots(), [])
      assert.isTrue(candles.isWaiting)

      yield* TestClock.adjust("300 millis")
      yield* take(1000, START + 1000 * 300)
      assert.deepStrictEqual(slots(), [1000])
      assert.isFalse(candles.isWaiting)
    })
  )

  it.effect("have the newest price a second after the last old block, when no more come", () =>
    Effect.gen(function* () {
      const { candles, slots } = yield* pricesOf(1000, { agoMs: 3_600_000, everyMs: 300 })
      yield* TestClock.adjust("2 seconds")
      yield* candles.send
      assert.deepStrictEqual(slots(), [999])
    })
  )

  it.effect("have the prices of a reader that is always an hour late, from the second block on", () =>
    Effect.gen(function* () {
      const { slots } = yield* pricesOf(20, { agoMs: 3_600_000, everyMs: 1000 })
      assert.deepStrictEqual(
        slots(),
        Array.from({ length: 19 }, (_, n) => n + 1)
      )
    })
  )

  it.effect("are not read from a store any more when the scope has closed", () =>
    Effect.gen(function* () {
      const scene = new Scene()
      const stopped = yield* Deferred.make<void>()
      const sources = charts(() => 1)
      const frozen = {
        ...sources,
        reader: {
          ...sources.reader,
          chart: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
        }
      } as unknown as SnapshotSources
      const scope = yield* Scope.make()
      const candles = new LiveCandles(scene.hub, frozen, scope)
      scene.connect().say({ op: "subscribe", id: "c", channel: "candles", mint: mintOf(1), resolution: "1m" })
      Array.from(scene.hub.topics).forEach((topic) => candles.begin(topic))
      yield* candles.send
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* Deferred.isDone(stopped))
    })
  )
})
