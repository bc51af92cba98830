import { assert, describe, it } from "@effect/vitest"
import { wholeOf } from "../../../src/market/memory/MarketState.ts"
import { MAX_SUBSCRIPTIONS } from "../../../src/api/schemas/MarketFrame.ts"
import { MOST_KEPT } from "../../../src/live/FrameSequence.ts"
import { timing } from "../../../src/live/LiveConnection.ts"
import { slowLimits } from "../../../src/live/LiveWire.ts"
import { KEPT_MS } from "../../../src/live/ReplayBuffer.ts"
import { COALESCE_FROM } from "../../../src/live/market/MarketHub.ts"
import { mintOf } from "../../market/tape/tape.ts"
import { A, brief, codes, Scene, trades } from "./marketScene.ts"

/** Loses a connection after its first trade; two more follow. Returns the name of its stream. */
const lost = (scene: Scene) => {
  const first = scene.connect()
  first.say(trades("one"))
  scene.publish("trades", "trade", 1)
  scene.hub.closed(first.connection, scene.nowMs)
  scene.publish("trades", "trade", 2)
  scene.publish("trades", "trade", 3)
  return first.streamId
}

it("a connection that closes while timers run gets no ping any more", () => {
  const scene = new Scene()
  const [, second] = [scene.connect(), scene.connect()]
  scene.nowMs += timing.ping
  const steps = scene.hub.tickInSteps(scene.nowMs)
  steps.next()
  second.connection.close(1001, "gone")
  scene.hub.closed(second.connection, scene.nowMs)
  wholeOf(steps)
  assert.strictEqual(second.wire.pings, 0)
})

it("a connection that was closed for its faults leaves with the next timers", () => {
  const scene = new Scene()
  const { connection, say } = scene.connect()
  for (let fault = 0; fault < 10; fault++) {
    say("not JSON")
  }
  assert.isTrue(connection.closed)
  assert.strictEqual(scene.hub.size, 1)
  wholeOf(scene.hub.tickInSteps(scene.nowMs))
  assert.strictEqual(scene.hub.size, 0)
  assert.isNull(connection.stream.connection)
})

describe("a subscription", () => {
  it("gets a snapshot first, then frames with its own numbers, in one write per block", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say(trades("one"))
    scene.publish("trades", "trade", 1)
    say(trades("two"))
    scene.publish("trades", "trade", 2)
    const snapshot = { at: "snapshot" }
    assert.deepStrictEqual(brief(wire), [
      ["snapshot", "one", 0, snapshot, undefined],
      ["trade", "one", 1, 1, undefined],
      ["snapshot", "two", 0, snapshot, undefined],
      ["trade", "one", 2, 2, undefined],
      ["trade", "two", 1, 2, undefined]
    ])
    assert.deepInclude(wire.controls[0], { type: "open", subscriptions: MAX_SUBSCRIPTIONS })
  })

  it("ends on request, and nothing of it stays", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say(trades("one"))
    say({ op: "unsubscribe", id: "one" })
    scene.publish("trades", "trade", 1)
    assert.lengthOf(wire.frames, 1)
    assert.deepInclude(wire.controls.at(-1), { type: "ended", id: "one", code: "unsubscribed" })
    assert.lengthOf(Array.from(scene.hub.topics), 0)
  })

  it("is not opened when it ends while it waits for its snapshot", () => {
    const scene = new Scene()
    scene.opensAtOnce = false
    const { say, wire } = scene.connect()
    say(trades("one"))
    say({ op: "unsubscribe", id: "one" })
    scene.waiting.forEach((opening) => scene.hub.opened(opening, {}, scene.nowMs))
    scene.publish("trades", "trade", 1)
    assert.lengthOf(wire.frames, 0)
    assert.lengthOf(Array.from(scene.hub.topics), 0)
  })

  it("is refused beyond a hundred or under a used name; ending an unknown one is refused too", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    for (let n = 0; n <= MAX_SUBSCRIPTIONS; n++) {
      say(trades(`s${n}`))
    }
    say(trades("s1"))
    say({ op: "unsubscribe", id: "none" })
    assert.deepStrictEqual(codes(wire).slice(1), [
      "too_many_subscriptions",
      "duplicate_subscription",
      "unknown_subscription"
    ])
    assert.lengthOf(wire.frames, MAX_SUBSCRIPTIONS)
  })
})

describe("a resumption", () => {
  it("gives the frames after the last one, with their own numbers", () => {
    const scene = new Scene()
    const streamId = lost(scene)
    const { say, wire } = scene.connect()
    say(trades("one", { resume: { streamId, seq: 1 } }))
    scene.publish("trades", "trade", 4)
    assert.deepStrictEqual(
      wire.frames.map(({ gap, resumed, seq, type }) => [type, seq, resumed, gap]),
      [
        ["snapshot", 1, true, null],
        ["trade", 2, undefined, undefined],
        ["trade", 3, undefined, undefined],
        ["trade", 4, undefined, undefined]
      ]
    )
  })

  it("of an unknown stream, another subscription or another key has a gap, never silence", () => {
    const scene = new Scene()
    const streamId = lost(scene)
    const attempts = [
      { key: "key_a", message: trades("one", { resume: { streamId: "str_of_before", seq: 1 } }) },
      { key: "key_a", message: trades("two", { resume: { streamId, seq: 1 } }) },
      { key: "key_a", message: { ...trades("one", { resume: { streamId, seq: 1 } }), mint: mintOf(2) } },
      { key: "key_b", message: trades("one", { resume: { streamId, seq: 1 } }) }
    ]
    for (const { key, message } of attempts) {
      const { say, wire } = scene.connect(key)
      say(message)
      assert.deepInclude(wire.frames[0], { type: "snapshot", seq: 0, resumed: false })
      assert.deepInclude(wire.frames[0]?.["gap"], { reason: "unknown_stream" })
    }
  })

  it("after the frames were dropped has a gap", () => {
    const scene = new Scene()
    const streamId = lost(scene)
    const { say, wire } = scene.connect()
    say(trades("one", { resume: { streamId, seq: 99 } }))
    assert.deepInclude(wire.frames[0]?.["gap"], { reason: "expired" })
  })

  it("closes the connection that still reads the stream", () => {
    const scene = new Scene()
    const [old, next] = [scene.connect(), scene.connect()]
    old.say(trades("one"))
    next.say(trades("one", { resume: { streamId: old.streamId, seq: 0 } }))
    assert.strictEqual(old.wire.closedWith, 4409)
    assert.deepInclude(next.wire.frames[0], { resumed: true, gap: null })
  })

  it("is possible for two minutes; then nothing of the stream stays", () => {
    const scene = new Scene()
    lost(scene)
    scene.nowMs += KEPT_MS
    wholeOf(scene.hub.tickInSteps(scene.nowMs))
    assert.lengthOf(Array.from(scene.hub.topics), 1)
    scene.nowMs += 1
    wholeOf(scene.hub.tickInSteps(scene.nowMs))
    assert.lengthOf(Array.from(scene.hub.topics), 0)
    assert.lengthOf(Array.from(scene.hub.streams), 0)
  })
})

describe("a slow reader", () => {
  it("of trades is closed with 1013 after a notice, without effect on others", () => {
    const scene = new Scene()
    const [slow, quick] = [scene.connect(), scene.connect()]
    for (const { say } of [slow, quick]) {
      say(trades("one"))
    }
    slow.wire.unsent = { bytes: slowLimits.bytes, frames: 1 }
    scene.publish("trades", "trade", 1)
    assert.strictEqual(slow.wire.closedWith, 1013)
    assert.strictEqual(codes(slow.wire).at(-1), "slow_consumer")
    assert.lengthOf(quick.wire.frames, 2)
  })

  it("of prices gets the newest one, with the number of skipped frames", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say({ op: "subscribe", id: "p", channel: "price", mint: A })
    wire.unsent = { bytes: COALESCE_FROM + 1, frames: 1 }
    for (let n = 1; n <= 3; n++) {
      scene.publish("price", "price", n)
    }
    assert.lengthOf(wire.frames, 1)
    wire.unsent = { bytes: 0, frames: 0 }
    wholeOf(scene.hub.tickInSteps(scene.nowMs))
    scene.publish("price", "price", 4)
    assert.deepStrictEqual(brief(wire).slice(1), [
      ["price", "p", 3, 3, 2],
      ["price", "p", 4, 4, undefined]
    ])
  })

  it("of candles gets every closed one and the newest open one", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say({ op: "subscribe", id: "c", channel: "candles", mint: A, resolution: "1m" })
    wire.unsent = { bytes: COALESCE_FROM + 1, frames: 1 }
    const types = ["candle", "candle", "candle_closed", "candle", "candle_closed", "candle"]
    types.forEach((type, n) => scene.publish("candles", type, n + 1))
    wire.unsent = { bytes: 0, frames: 0 }
    scene.hub.catchUp(scene.nowMs)
    assert.deepStrictEqual(brief(wire).slice(1), [
      ["candle_closed", "c", 3, 3, 2],
      ["candle_closed", "c", 5, 5, 1],
      ["candle", "c", 6, 6, undefined]
    ])
  })

  it("of candles gets a gap for closed ones that are gone, and the others", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say({ op: "subscribe", id: "c", channel: "candles", mint: A, resolution: "1m" })
    wire.unsent = { bytes: COALESCE_FROM + 1, frames: 1 }
    const publish = (...types: ReadonlyArray<string>) => types.forEach((type, n) => scene.publish("candles", type, n))
    publish("candle_closed", "candle", "candle_closed", "candle")
    scene.nowMs += KEPT_MS + 1
    publish("candle", "candle_closed", "candle")
    wire.unsent = { bytes: 0, frames: 0 }
    scene.hub.catchUp(scene.nowMs)
    const gap = { fromMs: null, toMs: scene.nowMs, reason: "expired" }
    assert.deepStrictEqual(brief(wire).slice(1), [
      ["gap", "c", 3, gap, 2],
      ["candle_closed", "c", 6, 1, 2],
      ["candle", "c", 7, 2, undefined]
    ])
  })

  it("of candles gets a gap when more frames were sent than are held", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say({ op: "subscribe", id: "c", channel: "candles", mint: A, resolution: "1m" })
    wire.unsent = { bytes: COALESCE_FROM + 1, frames: 1 }
    scene.publish("candles", "candle_closed", 0)
    for (let n = 0; n < 2 * MOST_KEPT + 1; n++) {
      scene.publish("candles", "candle", n)
    }
    wire.unsent = { bytes: 0, frames: 0 }
    scene.hub.catchUp(scene.nowMs)
    const types = brief(wire).map(([type]) => type)
    assert.deepStrictEqual(types, ["snapshot", "gap", "candle"])
  })

  it("of prices gets a gap when even the newest one is gone", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say({ op: "subscribe", id: "p", channel: "price", mint: A })
    say({ op: "subscribe", id: "l", channel: "launches" })
    wire.unsent = { bytes: COALESCE_FROM + 1, frames: 1 }
    scene.publish("price", "price", 1)
    scene.nowMs += KEPT_MS + 1
    scene.publish("launches", "launch", 1)
    wire.unsent = { bytes: 0, frames: 0 }
    scene.hub.catchUp(scene.nowMs)
    assert.deepStrictEqual(brief(wire).at(-1), [
      "gap",
      "p",
      1,
      { fromMs: null, toMs: scene.nowMs, reason: "expired" },
      undefined
    ])
  })
})
