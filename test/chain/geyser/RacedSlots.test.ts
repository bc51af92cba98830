import { assert, describe, it } from "@effect/vitest"
import { RacedSlots } from "../../../src/chain/geyser/RacedSlots.ts"

/** Two endpoints whose streams have every slot from 10 on. */
const race = (isHeard: (place: number) => boolean = () => true) => {
  const slots = new RacedSlots<string>(2, isHeard)
  slots.buffers.forEach((buffer) => buffer.begin(10))
  return {
    slots,
    head: (place: number, slot: number, hash = `hash ${slot}`) => {
      slots.buffers[place]?.link(slot, slot - 1, hash)
      slots.compare(slot)
    },
    put: (place: number, slot: number) => slots.buffers[place]?.put(slot, `${slot} of ${place}`)
  }
}

describe("RacedSlots", () => {
  it("takes a slot once, from the endpoint that had it whole first", () => {
    const { head, put, slots } = race()
    head(0, 10)
    assert.strictEqual(slots.stateOf(10), "coming")
    put(1, 10)
    put(0, 10)
    assert.strictEqual(slots.take(10), "10 of 1")
    put(0, 10)
    assert.isUndefined(slots.take(10))
    put(0, 11)
    assert.strictEqual(slots.take(11), "11 of 0")
    assert.deepStrictEqual(slots.won, [1, 1])
    assert.strictEqual(slots.winner, 0)
  })

  it("does not wait for an endpoint without a stream, unless no endpoint has one", () => {
    const heard = new Set([0, 1])
    const { slots } = race((place) => heard.has(place))
    slots.buffers[1]?.fail(10)
    assert.strictEqual(slots.stateOf(10), "coming")
    heard.delete(0)
    assert.strictEqual(slots.stateOf(10), "absent")
    heard.delete(1)
    assert.strictEqual(slots.stateOf(10), "coming")
  })

  it("gives no slot of which endpoints have different blocks, and then only slots that two agree on", () => {
    const { head, put, slots } = race()
    head(0, 10)
    put(0, 10)
    head(1, 10, "other")
    assert.deepStrictEqual(slots.dispute, { slot: 10, hashes: ["hash 10", "other"] })
    assert.strictEqual(slots.stateOf(10), "absent")
    assert.isUndefined(slots.take(10))
    head(1, 11)
    put(1, 11)
    assert.strictEqual(slots.stateOf(11), "coming")
    head(0, 11)
    assert.strictEqual(slots.stateOf(11), "block")
  })

  it("sets the endpoint aside that the node contradicts, until it agrees again on eight slots", () => {
    const { head, put, slots } = race()
    head(0, 10, "other")
    head(1, 10)
    put(0, 11)
    assert.deepStrictEqual(slots.settle(10, "hash 10"), [0])
    assert.isTrue(slots.isAside(0))
    // What it streamed counts no more, and does not keep out what the other one streams.
    assert.isUndefined(slots.take(11))
    put(1, 11)
    assert.strictEqual(slots.take(11), "11 of 1")
    for (let slot = 11; slot < 18; slot++) {
      head(0, slot)
      head(1, slot)
    }
    slots.forgetBefore(11)
    assert.isTrue(slots.isAside(0))
    head(1, 18)
    head(0, 18)
    assert.isFalse(slots.isAside(0))
    put(0, 19)
    assert.strictEqual(slots.take(19), "19 of 0")
  })

  it("follows an endpoint again once its wrong slots are forgotten, also when nothing arrives afterwards", () => {
    const { head, slots } = race()
    head(0, 10, "other")
    head(1, 10)
    slots.settle(10, "hash 10")
    for (let slot = 11; slot < 19; slot++) {
      head(0, slot)
      head(1, slot)
    }
    assert.isTrue(slots.isAside(0))
    slots.forgetBefore(11)
    assert.isFalse(slots.isAside(0))
  })

  it("returns the slots that were taken from an endpoint before it was set aside, and only those", () => {
    const { head, put, slots } = race()
    head(0, 10)
    put(0, 10)
    slots.take(10)
    head(1, 10)
    for (const slot of [11, 12]) {
      head(0, slot, `fork ${slot}`)
      put(0, slot)
      slots.take(slot)
    }
    head(1, 11)
    slots.compare(11)
    assert.isNull(slots.takeForked())
    assert.deepStrictEqual(slots.settle(11, "hash 11"), [0])
    assert.deepStrictEqual(slots.takeForked(), { from: 11, to: 12 })
    assert.isNull(slots.takeForked())
  })

  it("returns no slot of the endpoint that the node agrees with", () => {
    const { head, put, slots } = race()
    head(0, 10)
    put(0, 10)
    slots.take(10)
    head(1, 10, "other")
    assert.deepStrictEqual(slots.settle(10, "hash 10"), [1])
    assert.isNull(slots.takeForked())
  })

  it("returns a slot that was taken although the right endpoint skipped it", () => {
    const { head, put, slots } = race()
    for (const slot of [10, 11]) {
      head(0, slot, `fork ${slot}`)
      put(0, slot)
      slots.take(slot)
    }
    slots.buffers[1]?.link(11, 9, "hash 11")
    slots.compare(11)
    slots.settle(11, "hash 11")
    assert.deepStrictEqual(slots.takeForked(), { from: 10, to: 11 })
  })

  it("settles a dispute whose slot is no longer wanted, because the node answered late", () => {
    const { head, put, slots } = race()
    head(0, 10, "other")
    put(0, 10)
    slots.take(10)
    head(1, 10)
    slots.forgetBefore(100)
    assert.deepStrictEqual(slots.settle(10, "hash 10"), [0])
    assert.deepStrictEqual(slots.takeForked(), { from: 10, to: 10 })
  })

  it("does not believe one endpoint that a slot was skipped, once endpoints differ", () => {
    const { head, slots } = race()
    slots.buffers[0]?.link(12, 10)
    assert.strictEqual(slots.stateOf(11), "skipped")
    head(0, 10, "other")
    head(1, 10)
    assert.strictEqual(slots.stateOf(11), "absent")
    slots.buffers[1]?.link(12, 10)
    assert.strictEqual(slots.stateOf(11), "skipped")
  })

  it("sets both aside when the node has a third block", () => {
    const { head, put, slots } = race()
    head(0, 10, "one")
    head(1, 10, "two")
    assert.deepStrictEqual(slots.settle(10, "three"), [0, 1])
    put(0, 11)
    assert.strictEqual(slots.stateOf(11), "absent")
    assert.strictEqual(slots.head, -1)
  })

  it("follows an endpoint again that was set aside with all others, once the node agrees with it on a newer slot", () => {
    const { head, put, slots } = race()
    head(0, 10, "one")
    head(1, 10, "two")
    slots.settle(10, "")
    head(0, 11)
    head(1, 11)
    // The slot that they had wrong is still wanted.
    assert.isNull(slots.dispute)
    slots.forgetBefore(11)
    head(0, 12, "other")
    head(1, 12)
    assert.deepStrictEqual(slots.dispute, { slot: 12, hashes: ["other"] })
    put(1, 13)
    assert.strictEqual(slots.stateOf(13), "absent")
    assert.deepStrictEqual(slots.settle(12, "hash 12"), [0])
    assert.isFalse(slots.isAside(1))
    assert.strictEqual(slots.take(13), "13 of 1")
    assert.isNull(slots.takeForked())
  })

  it("asks the node about an endpoint that was set aside once no other one has a stream, and follows it again", () => {
    const heard = new Set([0, 1])
    const { head, put, slots } = race((place) => heard.has(place))
    head(0, 10, "other")
    head(1, 10)
    slots.settle(10, "hash 10")
    slots.forgetBefore(11)
    head(0, 11)
    assert.isNull(slots.dispute)
    heard.delete(1)
    head(0, 12)
    assert.deepStrictEqual(slots.dispute, { slot: 12, hashes: ["hash 12"] })
    put(0, 12)
    assert.isUndefined(slots.take(12))
    assert.deepStrictEqual(slots.settle(12, "hash 12"), [])
    assert.isFalse(slots.isAside(0))
    put(0, 12)
    assert.strictEqual(slots.take(12), "12 of 0")
    assert.isNull(slots.takeForked())
    // Both have streams again, and are compared as before.
    heard.add(1)
    head(0, 13)
    head(1, 13, "other")
    assert.deepStrictEqual(slots.settle(13, "hash 13"), [1])
  })

  it("waits for no answer about an endpoint that was set aside once the followed one has a stream again", () => {
    const heard = new Set([0, 1])
    const { head, put, slots } = race((place) => heard.has(place))
    head(0, 10, "other")
    head(1, 10)
    slots.settle(10, "hash 10")
    slots.forgetBefore(11)
    heard.delete(1)
    head(0, 12)
    assert.strictEqual(slots.dispute?.slot, 12)
    heard.add(1)
    // Also before it streams the next hash.
    assert.isNull(slots.dispute)
    put(1, 11)
    assert.strictEqual(slots.take(11), "11 of 1")
    slots.buffers[1]?.link(13, 11)
    assert.strictEqual(slots.stateOf(12), "skipped")
    head(1, 13)
    put(1, 13)
    assert.strictEqual(slots.take(13), "13 of 1")
    // The answer of the node comes too late, also when the stream ends again.
    heard.delete(1)
    assert.isNull(slots.dispute)
    assert.deepStrictEqual(slots.settle(12, "hash 12"), [])
    assert.isTrue(slots.isAside(0))
  })

  it("keeps a dispute of two endpoints that count, whichever of them has a stream", () => {
    const heard = new Set([0, 1])
    const { head, put, slots } = race((place) => heard.has(place))
    head(0, 10, "other")
    head(1, 10)
    heard.delete(1)
    put(0, 11)
    assert.strictEqual(slots.stateOf(11), "coming")
    heard.add(1)
    head(0, 11)
    assert.strictEqual(slots.dispute?.slot, 10)
    assert.strictEqual(slots.stateOf(11), "coming")
    assert.deepStrictEqual(slots.settle(10, "hash 10"), [0])
  })

  it("still reports a fork of the followed endpoint when it comes to light while this one has no stream", () => {
    const heard = new Set([0, 1])
    const { head, put, slots } = race((place) => heard.has(place))
    head(0, 10, "other")
    head(1, 10)
    slots.settle(10, "hash 10")
    slots.forgetBefore(11)
    head(1, 11, "fork")
    put(1, 11)
    assert.strictEqual(slots.take(11), "11 of 1")
    heard.delete(1)
    head(0, 11)
    assert.deepStrictEqual(slots.dispute, { slot: 11, hashes: ["hash 11", "fork"] })
    assert.deepStrictEqual(slots.settle(11, "hash 11"), [1])
    assert.deepStrictEqual(slots.takeForked(), { from: 11, to: 11 })
    assert.isFalse(slots.isAside(0))
  })

  it("asks the node about every endpoint again after all were set aside, also when only one streams", () => {
    const { head, slots } = race()
    head(0, 10, "one")
    head(1, 10, "two")
    slots.settle(10, "")
    slots.forgetBefore(11)
    head(0, 12, "other")
    assert.deepStrictEqual(slots.settle(12, "hash 12"), [0])
    head(0, 13)
    assert.isNull(slots.dispute)
    head(1, 13, "third")
    assert.deepStrictEqual(slots.settle(13, "hash 13"), [1])
    slots.forgetBefore(13)
    head(0, 14)
    assert.deepStrictEqual(slots.settle(14, "hash 14"), [])
    assert.isFalse(slots.isAside(0))
    assert.isTrue(slots.isAside(1))
  })

  it("ignores the node's answer for a slot that was forgotten before another dispute began", () => {
    const { head, slots } = race()
    head(0, 10, "other")
    head(1, 10)
    slots.clear()
    head(0, 20, "other")
    head(1, 20)
    assert.deepStrictEqual(slots.settle(10, "hash 10"), [])
    assert.deepStrictEqual(slots.dispute, { slot: 20, hashes: ["other", "hash 20"] })
    assert.deepStrictEqual(slots.settle(20, "hash 20"), [0])
  })
})
