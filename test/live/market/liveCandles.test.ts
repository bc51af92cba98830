import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope } from "effect"
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

      candles.note({ timeMs: START + MINUTE_MS - 1, trades: [] })
      assert.isFalse(candles.isWaiting)
      bars = 2
      candles.note({ timeMs: START + MINUTE_MS, trades: [] })
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
      candles.note(traded)
      yield* candles.send
      assert.isFalse(candles.isWaiting)
      const before = brief(wire).length
      yield* TestClock.setTime(START - 3_600_000)
      yield* TestClock.adjust("300 millis")
      bars = 2
      candles.note(traded)
      yield* candles.send
      assert.isFalse(candles.isWaiting)
      assert.isAbove(brief(wire).length, before + 1)
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
