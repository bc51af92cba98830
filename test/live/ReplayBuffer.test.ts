import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { copyRest, encodeFrames, type FrameMemory, type SharedFrame } from "../../src/live/frames.ts"
import { FrameSequence, MOST_KEPT } from "../../src/live/FrameSequence.ts"
import { KEPT_MS, ReplayBuffer } from "../../src/live/ReplayBuffer.ts"

const jsonOf = (place: number, length: number) => `{"place":${place},"text":"${"x".repeat(length)}"}`

const frameOf = (json: string): SharedFrame => {
  const [frame] = encodeFrames([{ type: "trade", json }], (draft) => draft)
  assert.isDefined(frame)
  return frame
}

const encode = (places: ReadonlyArray<number>) =>
  encodeFrames(places, (place) => ({ type: "trade", json: jsonOf(place, 1000) }))

/** The body of a frame as it is sent, with its first brace restored. */
const textOf = (frame: SharedFrame): string => {
  const target = Buffer.alloc(frame.length)
  assert.strictEqual(copyRest(frame, target, 0), frame.length)
  return target.toString().replace(",", "{")
}

const Lengths = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 90_000 }))).check(
  Schema.isMaxLength(60)
)

describe("the replay buffer", () => {
  it.effect.prop("holds the newest frames within its bytes, each as it was sent", [Lengths], ([lengths]) =>
    Effect.sync(() => {
      const buffer = new ReplayBuffer(600_000)
      const sent: Array<{ readonly json: string; readonly frame: SharedFrame }> = []
      for (const [place, length] of lengths.entries()) {
        const json = jsonOf(place, length)
        const frame = frameOf(json)
        sent.push({ json, frame })
        buffer.add(frame, place)
        const held = sent.filter((each) => each.frame.memory !== null)
        assert.deepStrictEqual(held, sent.slice(sent.length - held.length))
        assert.isAtMost(buffer.bytes, 600_000)
        assert.strictEqual(
          buffer.bytes,
          held.reduce((sum, each) => sum + each.frame.length, 0)
        )
        held.forEach((each) => assert.strictEqual(textOf(each.frame), each.json))
      }
    })
  )

  it("drops frames by age, and all of them at the end", () => {
    const buffer = new ReplayBuffer(1_000_000)
    const frames = [0, 1, 2].map((place) => frameOf(jsonOf(place, 10)))
    frames.forEach((frame, place) => buffer.add(frame, place * 1000))
    buffer.expire(KEPT_MS + 1000)
    assert.deepStrictEqual(
      frames.map(({ memory }) => memory === null),
      [true, false, false]
    )
    buffer.expire(Number.POSITIVE_INFINITY)
    assert.isTrue(frames.every(({ memory }) => memory === null))
    assert.strictEqual(buffer.bytes, 0)
  })

  it("uses the memory of dropped frames again", () => {
    const buffer = new ReplayBuffer(2_000_000)
    const memory = new Set<FrameMemory | null>()
    for (let place = 0; place < 20_000; place++) {
      const frame = frameOf(jsonOf(place, 500))
      buffer.add(frame, place)
      memory.add(frame.memory)
    }
    // 10 MB passed through it.
    assert.isAtMost(memory.size, 10)
  })
})

describe("the memory of frames", () => {
  it("is used again when all of its frames have moved, and not before", () => {
    const buffer = new ReplayBuffer(1_000_000)
    const [moved, kept] = [encode([0, 1]), encode([2, 3])]
    const [memory, keptMemory] = [moved[0]?.memory, kept[1]?.memory]
    ;[...moved, ...kept.slice(0, 1)].forEach((frame) => buffer.add(frame, 0))
    const next = encode([4, 5])
    assert.isTrue(next.every((frame) => frame.memory === memory))
    assert.strictEqual(kept[1]?.memory, keptMemory)
    assert.deepStrictEqual(
      [...moved, ...kept, ...next].map(textOf),
      [0, 1, 2, 3, 4, 5].map((place) => jsonOf(place, 1000))
    )
  })
})

describe("a sequence of frames", () => {
  it("removes dropped frames, and still knows which ones it has", () => {
    const buffer = new ReplayBuffer(10 * 40)
    const sequence = new FrameSequence()
    for (let place = 0; place < 3 * MOST_KEPT; place++) {
      const frame = frameOf(jsonOf(place, 5))
      assert.strictEqual(sequence.push([frame]), place)
      buffer.add(frame, place)
    }
    const last = 3 * MOST_KEPT - 1
    assert.isBelow(sequence.since(-1).frames.length, 200)
    assert.strictEqual(sequence.since(-1).first + sequence.since(-1).frames.length, last + 1)
    assert.deepStrictEqual(sequence.after(last - 2)?.map(textOf), [jsonOf(last - 1, 5), jsonOf(last, 5)])
    assert.isNull(sequence.after(last - 100))
    assert.isNull(sequence.after(0))
  })
})
