import { assert, describe, it } from "@effect/vitest"
import { slowLimits } from "../../../src/live/LiveWire.ts"
import { type FakeWire, HubScene } from "./hubScene.ts"
import { blockOf, walletOf } from "./liveScene.ts"

const A = walletOf(1)

const codes = (wire: FakeWire) => wire.controls.map(({ code, type }) => code ?? type)

describe("a live connection", () => {
  it("is closed at 4 MiB or 1000 unsent frames, without effect on others", () => {
    const scene = new HubScene()
    const [slow, slower, quick] = [scene.reader([A]), scene.reader([A]), scene.reader([A])]
    slow.wire.unsent = { bytes: slowLimits.bytes - 100, frames: 1 }
    slower.wire.unsent = { bytes: 1, frames: slowLimits.frames + 1 }
    scene.block(blockOf(1, [{ wallet: A }]))
    for (const { wire } of [slow, slower]) {
      assert.strictEqual(wire.closedWith, 1013)
      assert.lengthOf(wire.frames, 1)
      assert.deepStrictEqual(codes(wire), ["slow_consumer"])
    }
    assert.isNull(quick.wire.closedWith)
    assert.lengthOf(quick.wire.frames, 4)
  })

  it("answers one ping per second, and closes with 4429 after too many", () => {
    const scene = new HubScene()
    const { connection, wire } = scene.reader([A])
    for (let n = 0; n < 3; n++) {
      scene.say(connection, { op: "ping", id: `p${n}` })
      scene.nowMs += 1000
    }
    scene.say(connection, { op: "ping" })
    assert.deepStrictEqual(
      wire.controls.map(({ id, type }) => [type, id]),
      [
        ["pong", "p0"],
        ["pong", "p1"],
        ["pong", "p2"],
        ["pong", null]
      ]
    )
    for (let n = 0; n < 10; n++) {
      assert.isNull(wire.closedWith)
      scene.say(connection, { op: "ping" })
    }
    assert.strictEqual(wire.closedWith, 4429)
    assert.strictEqual(wire.controls.at(-1)?.["code"], "rate_limited")
  })

  it.each([
    ["no JSON", "hello"],
    ["null", "null"],
    ["a list", "[]"],
    ["another op", '{"op":"subscribe"}'],
    ["an id that is no text", '{"op":"ping","id":7}'],
    ["an empty id", '{"op":"ping","id":""}'],
    ["a resume from nowhere", '{"op":"resume","seq":1}'],
    ["a resume at no number", '{"op":"resume","streamId":"str_1","seq":"1"}'],
    ["a resume before the start", '{"op":"resume","streamId":"str_1","seq":-1}'],
    ["a binary message", null]
  ])("does not take %s, and closes with 1008 at the tenth in a minute", (_, text) => {
    const scene = new HubScene()
    const { connection, wire } = scene.reader([A])
    for (let n = 0; n < 9; n++) {
      connection.message(text, scene.nowMs)
    }
    assert.isNull(wire.closedWith)
    assert.deepStrictEqual(
      codes(wire),
      Array.from({ length: 9 }, () => "invalid_message")
    )
    scene.nowMs += 60_000
    connection.message(text, scene.nowMs)
    assert.isNull(wire.closedWith)
    for (let n = 0; n < 9; n++) {
      connection.message(text, scene.nowMs)
    }
    assert.strictEqual(wire.closedWith, 1008)
  })

  it("pings every 20 seconds, and ends 40 seconds after the last pong", () => {
    const scene = new HubScene()
    const [silent, alive] = [scene.reader([A]), scene.reader([A])]
    for (let n = 0; n < 6; n++) {
      scene.pass(10_000)
      alive.connection.pong(scene.nowMs)
    }
    assert.strictEqual(alive.wire.pings, 3)
    assert.isNull(alive.wire.closedWith)
    assert.strictEqual(silent.wire.closedWith, 1001)
    assert.strictEqual(silent.wire.pings, 1)
  })

  it("has a heartbeat every 20 seconds, with the number of the last frame", () => {
    const scene = new HubScene()
    const { connection, wire } = scene.reader([A])
    scene.health = { ingestLagMs: 640, heardAtMs: scene.nowMs }
    scene.block(blockOf(1, [{ wallet: A }]))
    scene.pass(19_999)
    connection.pong(scene.nowMs)
    assert.deepStrictEqual(wire.controls, [])
    scene.pass(1)
    assert.deepStrictEqual(wire.controls, [{ type: "heartbeat", sentAtMs: scene.nowMs, seq: 3, ingestLagMs: 640 }])
  })

  it("reports late chain data once, and once that it is on time again", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    scene.health = { ingestLagMs: 5001, heardAtMs: scene.nowMs }
    scene.pass(1000)
    scene.pass(1000)
    scene.health = { ingestLagMs: 100, heardAtMs: scene.nowMs }
    scene.pass(1000)
    scene.pass(1000)
    assert.deepStrictEqual(codes(wire), ["source_delayed", "source_restored"])
  })

  it("sends only the five data frames without a request for control frames", () => {
    const scene = new HubScene()
    const { connection, wire } = scene.reader([A], { control: false })
    scene.say(connection, { op: "ping", id: "x" })
    connection.message("nonsense", scene.nowMs)
    scene.hub.announceDrain(scene.nowMs)
    scene.pass(20_000)
    assert.deepStrictEqual(wire.controls, [])
  })

  it("replaces the oldest connection of its key when a sixth opens; other keys keep theirs", () => {
    const scene = new HubScene()
    const other = scene.reader([A], { keyId: "key_b" })
    const mine = Array.from({ length: 7 }, () => scene.reader([A]))
    assert.deepStrictEqual(
      mine.map(({ wire }) => wire.closedWith),
      [4409, 4409, null, null, null, null, null]
    )
    assert.isNull(other.wire.closedWith)
  })

  it("closes with its key, whose streams cannot be resumed", () => {
    const scene = new HubScene()
    const [mine, other] = [scene.reader([A]), scene.reader([A], { keyId: "key_b" })]
    scene.hub.revoke(({ keyId }) => keyId === "key_a", scene.nowMs)
    assert.strictEqual(mine.wire.closedWith, 4403)
    assert.isNull(other.wire.closedWith)
    scene.block(blockOf(1, [{ wallet: A }]))
    assert.lengthOf(mine.wire.frames, 1)
    const again = scene.reader([A])
    scene.say(again.connection, { op: "resume", streamId: mine.streamId, seq: 0 })
    assert.deepInclude(again.wire.frames[1], { resumed: false })
  })

  it("is not opened at the limit of the process", () => {
    const scene = new HubScene({ sockets: 1 })
    scene.reader([A])
    assert.isNull(scene.connect([A], { keyId: "key_b" }).connection)
  })
})
