import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { AlertFired } from "../../../src/api/schemas/Alert.ts"
import { DataFrame } from "../../../src/api/schemas/LiveFrame.ts"
import { MAIN_GROUP } from "../../../src/api/schemas/Tracker.ts"
import { alertOf } from "../../alerts/alerts.ts"
import { HubScene } from "./hubScene.ts"
import { blockOf, START, walletOf } from "./liveScene.ts"

const A = walletOf(1)
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(DataFrame), { onExcessProperty: "error" })

const firing = (n: number, accountId = "a"): AlertFired => {
  const { condition, id: alertId } = alertOf(`al_${n}`)
  const event = {
    eventId: `evt_${n}_1`,
    alertId,
    mint: A,
    condition,
    value: "10.5",
    observedAtMs: START,
    firedAtMs: START,
    trade: null
  }
  return { accountId, event }
}
const everyone = () => true
const idsOf = (frames: ReadonlyArray<{ readonly type: string }>) =>
  frames.flatMap((frame) => ("eventId" in frame && frame.type === "alert_fired" ? [frame.eventId] : []))

describe("firings of alerts on a live stream", () => {
  it.effect("come as frames of their account, numbered with the others, with the fields of the list", () =>
    Effect.gen(function* () {
      const scene = new HubScene()
      const [mine, group] = [scene.reader([A]), scene.reader([A], { group: MAIN_GROUP, keyId: "key_b" })]
      const other = scene.reader([A], { accountId: "b", keyId: "key_c" })
      scene.block(blockOf(1, [{ wallet: A }]))
      scene.hub.fired([firing(1), firing(2, "b"), firing(3), firing(4, "absent")], everyone, scene.nowMs)
      assert.deepStrictEqual(idsOf(mine.wire.frames), ["evt_1_1", "evt_3_1"])
      assert.deepStrictEqual(idsOf(group.wire.frames), ["evt_1_1", "evt_3_1"])
      assert.deepStrictEqual(idsOf(other.wire.frames), ["evt_2_1"])
      assert.deepStrictEqual(
        mine.wire.frames.map(({ seq }) => seq),
        Array.from(mine.wire.frames, (_, seq) => seq)
      )
      const { type: _type, ...frame } = mine.wire.frames.at(-1) ?? { type: "none" }
      const { seq: _seq, sentAtMs: _sentAtMs, ...fields } = frame as Record<string, unknown>
      assert.deepStrictEqual(fields, { ...firing(3).event, delivery: ["app"] })
      yield* Effect.forEach(mine.wire.texts, (text) => decode(text))
    })
  )

  it("go to no stream that may not read alerts", () => {
    const scene = new HubScene()
    const [able, unable] = [scene.reader([A]), scene.reader([A], { keyId: "key_b" })]
    scene.hub.fired([firing(1)], ({ keyId }) => keyId === "key_a", scene.nowMs)
    assert.deepStrictEqual(
      [able, unable].map(({ wire }) => idsOf(wire.frames)),
      [["evt_1_1"], []]
    )
  })

  it("are sent again to a client that resumes, and to no stream that is forgotten", () => {
    const scene = new HubScene()
    const first = scene.reader([A])
    scene.hub.closed(first.connection, scene.nowMs)
    scene.hub.fired([firing(1)], everyone, scene.nowMs)
    const again = scene.reader([A])
    scene.say(again.connection, { op: "resume", streamId: first.streamId, seq: 0 })
    scene.hub.fired([firing(2)], everyone, scene.nowMs)
    assert.deepStrictEqual(idsOf(again.wire.frames), ["evt_1_1", "evt_2_1"])
    assert.deepInclude(again.wire.frames.at(-1), { seq: 2 })
    scene.hub.closed(again.connection, scene.nowMs)
    scene.pass(10 * 60_000)
    assert.deepStrictEqual([...scene.hub.accounts], [])
  })

  it("make a gap of the next snapshot when some may be missing, from the beginning of the stream at the earliest", () => {
    const scene = new HubScene()
    const mine = scene.reader([A])
    const other = scene.reader([A], { accountId: "b", keyId: "key_b" })
    scene.pass(1000)
    const gapOf = ({ wire }: typeof mine) => wire.frames.at(-1)?.["gap"]
    const resync = () => {
      while (scene.hub.resyncOne(scene.nowMs)) {
        // One stream after the other.
      }
    }
    scene.hub.missedFirings(START - 5, scene.nowMs, new Set(["a"]))
    resync()
    assert.deepStrictEqual(gapOf(mine), { fromMs: START, toMs: START + 1000, reason: "alerts_missed" })
    assert.isNull(gapOf(other))
    scene.hub.missedFirings(null, scene.nowMs)
    resync()
    assert.deepStrictEqual(gapOf(other), { fromMs: START, toMs: START + 1000, reason: "alerts_missed" })
    scene.hub.lost({ fromMs: START + 500, toMs: START + 900, reason: "source_gap" })
    scene.hub.missedFirings(START + 600, scene.nowMs)
    resync()
    assert.deepStrictEqual(gapOf(mine), { fromMs: START + 500, toMs: START + 1000, reason: "source_gap" })
  })
})
