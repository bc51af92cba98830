import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MOST_KEPT } from "../../../src/live/FrameSequence.ts"
import { type FakeWire, type ReceivedFrame, HubScene } from "./hubScene.ts"
import { blockOf, mintOf, walletOf } from "./liveScene.ts"

const [A, B] = [walletOf(1), walletOf(2)]

/** Frames without fields that differ between transmissions. */
const story = (frames: ReadonlyArray<ReceivedFrame>) => frames.map((frame) => ({ ...frame, sentAtMs: null }))

const codes = (wire: FakeWire) => wire.controls.map(({ code, type }) => code ?? type)

describe("resuming a stream", () => {
  const step = Schema.Struct({
    trades: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
    drops: Schema.Boolean,
    missed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
    // Frames that arrived and were not processed before the connection broke.
    unread: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
  })

  it.prop(
    "gives, together with the live frames, exactly the frames of an uninterrupted reader",
    { steps: Schema.Array(step).check(Schema.isMaxLength(12)) },
    ({ steps }) => {
      const scene = new HubScene()
      const steady = scene.reader([A, B])
      let reader = scene.reader([A, B], { keyId: "key_b" })
      const { streamId } = reader
      const heard = [...reader.wire.frames]
      let taken = reader.wire.frames.length
      let slot = 0
      const blocks = (count: number, trades: number) => {
        for (let n = 0; n < count; n++) {
          slot++
          const deals = Array.from({ length: trades }, (_, at) => ({
            wallet: at % 2 === 0 ? A : B,
            mint: mintOf(at % 3)
          }))
          scene.block(blockOf(slot, deals))
          scene.pass(400)
        }
      }
      const read = () => {
        heard.push(...reader.wire.frames.slice(taken))
        taken = reader.wire.frames.length
      }
      for (const { missed, drops, trades, unread } of steps) {
        blocks(1, trades)
        read()
        if (drops) {
          heard.splice(Math.max(1, heard.length - unread))
          scene.hub.closed(reader.connection, scene.nowMs)
          blocks(missed, trades)
          reader = scene.reader([A, B], { keyId: "key_b" })
          blocks(1, trades)
          const begun = reader.wire.frames.length
          scene.say(reader.connection, { op: "resume", streamId, seq: heard.at(-1)?.seq })
          const snapshot = reader.wire.frames[begun]
          assert.deepInclude(snapshot, { type: "snapshot", reason: "resume", resumed: true, gap: null, streamId })
          assert.strictEqual(snapshot?.seq, heard.at(-1)?.seq)
          taken = begun + 1
          read()
        }
      }
      blocks(1, 3)
      read()
      assert.deepStrictEqual(story(heard).slice(1), story(steady.wire.frames).slice(1))
    }
  )

  it("reports a gap when missed frames were dropped", () => {
    const scene = new HubScene()
    const first = scene.reader([A])
    scene.hub.closed(first.connection, scene.nowMs)
    for (let slot = 1; slot <= MOST_KEPT / 10; slot++) {
      scene.block(
        blockOf(
          slot,
          Array.from({ length: 10 }, () => ({ wallet: A }))
        )
      )
    }
    const again = scene.reader([A])
    scene.say(again.connection, { op: "resume", streamId: first.streamId, seq: 0 })
    const gap = { fromMs: scene.nowMs, toMs: scene.nowMs, reason: "expired" }
    assert.deepInclude(again.wire.frames[1], {
      reason: "resume",
      resumed: false,
      gap,
      seq: 1,
      streamId: again.streamId
    })
    scene.block(blockOf(9999, [{ wallet: A }]))
    assert.strictEqual(again.wire.frames[2]?.seq, 2)
  })

  it("keeps frames for two minutes", () => {
    const scene = new HubScene()
    const resumedAfter = (ms: number) => {
      const first = scene.reader([A])
      scene.block(blockOf(1, [{ wallet: A }]))
      scene.hub.closed(first.connection, scene.nowMs)
      scene.pass(ms)
      const again = scene.reader([A])
      scene.say(again.connection, { op: "resume", streamId: first.streamId, seq: 0 })
      scene.hub.closed(again.connection, scene.nowMs)
      return again.wire.frames.find(({ reason }) => reason === "resume")?.["resumed"]
    }
    assert.isTrue(resumedAfter(120_000))
    assert.isFalse(resumedAfter(120_001))
  })

  it("drops the oldest frames of all streams beyond the byte limit, and reports the gap", () => {
    const scene = new HubScene({ replayBytes: 4000 })
    const first = scene.reader([A])
    scene.hub.closed(first.connection, scene.nowMs)
    scene.block(blockOf(1, [{ wallet: A }]))
    scene.block(
      blockOf(
        2,
        Array.from({ length: 20 }, () => ({ wallet: A }))
      )
    )
    assert.isAtMost(scene.hub.replayBytes, 4000)
    const again = scene.reader([A])
    scene.say(again.connection, { op: "resume", streamId: first.streamId, seq: 0 })
    assert.deepInclude(again.wire.frames.at(-1), { reason: "resume", resumed: false })
  })

  it.each([
    ["another account's", { accountId: "b" }],
    ["another key's", { keyId: "key_z" }],
    ["another group's", { group: "grp_other" as never }]
  ])("treats %s stream like one that never existed", (_, grant) => {
    const scene = new HubScene()
    const theirs = scene.reader([A], grant)
    scene.hub.closed(theirs.connection, scene.nowMs)
    const mine = scene.reader([A])
    scene.say(mine.connection, { op: "resume", streamId: theirs.streamId, seq: 0 })
    const other = scene.reader([A])
    scene.say(other.connection, { op: "resume", streamId: "str_never", seq: 0 })
    const gap = { fromMs: null, toMs: scene.nowMs, reason: "unknown_stream" }
    for (const { wire } of [mine, other]) {
      assert.deepInclude(wire.frames[1], { resumed: false, gap })
    }
  })

  it("takes over the stream of a connection that still seems open", () => {
    const scene = new HubScene()
    const first = scene.reader([A])
    const again = scene.reader([A])
    scene.say(again.connection, { op: "resume", streamId: first.streamId, seq: 0 })
    assert.strictEqual(first.wire.closedWith, 4409)
    scene.block(blockOf(1, [{ wallet: A }]))
    assert.deepStrictEqual(
      again.wire.frames.map(({ seq }) => seq),
      [0, 0, 1, 2, 3]
    )
    assert.lengthOf(first.wire.frames, 1)
  })

  it("is possible within five seconds and once", () => {
    const scene = new HubScene()
    const first = scene.reader([A])
    scene.hub.closed(first.connection, scene.nowMs)
    const again = scene.reader([A])
    scene.pass(5001)
    scene.say(again.connection, { op: "resume", streamId: first.streamId, seq: 0 })
    assert.deepStrictEqual(codes(again.wire), ["resume_too_late"])
    assert.lengthOf(again.wire.frames, 1)
    const third = scene.reader([A])
    scene.say(third.connection, { op: "resume", streamId: first.streamId, seq: 0 })
    scene.say(third.connection, { op: "resume", streamId: first.streamId, seq: 0 })
    assert.deepStrictEqual(codes(third.wire), ["resume_too_late"])
  })
})
